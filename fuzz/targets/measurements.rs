//! Any bytes as the measurements that INC writes beside a model.

#![no_main]

use std::sync::LazyLock;

use gaudi_kv_fuzz::Folder;
use libfuzzer_sys::fuzz_target;

static FOLDER: LazyLock<Folder> = LazyLock::new(Folder::new);

fuzz_target!(|bytes: &[u8]| {
    FOLDER.write("inc_output_hooks_maxabs_0_1.json", bytes);
    FOLDER.read();
});

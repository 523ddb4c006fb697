//! Any bytes as the config of a model.

#![no_main]

use std::sync::LazyLock;

use gaudi_kv_fuzz::Folder;
use libfuzzer_sys::fuzz_target;

static FOLDER: LazyLock<Folder> = LazyLock::new(Folder::new);

fuzz_target!(|bytes: &[u8]| {
    FOLDER.write("config.json", bytes);
    FOLDER.read();
});

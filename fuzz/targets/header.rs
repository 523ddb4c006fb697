//! Any bytes as the header of a safetensors file. Its length is right, so that each input gets as far as the parser.

#![no_main]

use std::sync::LazyLock;

use gaudi_kv_fuzz::Folder;
use libfuzzer_sys::fuzz_target;

static FOLDER: LazyLock<Folder> = LazyLock::new(Folder::new);

fuzz_target!(|header: &[u8]| {
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header);
    file.extend([0; 64]);
    FOLDER.write("model.safetensors", &file);
    FOLDER.read();
});

//! The models in `tests/data`, by name.

pub const MODELS: [&str; 12] = [
    "autoround-gqa",
    "autoround-gqa-gaudi2",
    "autoround-mla",
    "autoround-mla-gaudi2",
    "autoround-mla-mislabelled",
    "llmc-gqa-head",
    "llmc-gqa-kv",
    "llmc-gqa-w8kv",
    "llmc-mla-kv",
    "modelopt-gqa",
    "tiny-gqa",
    "tiny-mla",
];

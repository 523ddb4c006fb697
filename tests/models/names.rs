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

/// Every quantized fixture that is what it says it is.
pub const QUANTIZED: [&str; 9] = [
    "llmc-gqa-kv",
    "llmc-gqa-head",
    "llmc-gqa-w8kv",
    "modelopt-gqa",
    "autoround-gqa",
    "autoround-gqa-gaudi2",
    "llmc-mla-kv",
    "autoround-mla",
    "autoround-mla-gaudi2",
];

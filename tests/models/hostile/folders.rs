//! Small valid model folders to damage, as files by name.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde_json::{Value, json};

/// A folder's files by name.
pub type Files = BTreeMap<String, Vec<u8>>;

/// One folder of each kind that the reader treats differently.
pub fn all() -> &'static [Files] {
    static ALL: OnceLock<Vec<Files>> = OnceLock::new();
    ALL.get_or_init(|| vec![gqa(), sharded_mla(), hybrid_with_table(), per_head(), inc(), modelopt()])
}

fn shard(tensors: &[(&str, &str, Vec<usize>, Vec<u8>)]) -> Vec<u8> {
    let mut header = serde_json::Map::new();
    let mut data = Vec::new();
    for (name, dtype, shape, bytes) in tensors {
        let offsets = [data.len(), data.len() + bytes.len()];
        header.insert((*name).to_owned(), json!({"dtype": dtype, "shape": shape, "data_offsets": offsets}));
        data.extend_from_slice(bytes);
    }
    let header = serde_json::to_vec(&header).unwrap();
    let mut file = (header.len() as u64).to_le_bytes().to_vec();
    file.extend(header);
    file.extend(data);
    file
}

fn f32_scale(value: f32) -> Vec<u8> {
    value.to_le_bytes().to_vec()
}

fn files(config: &Value, rest: Vec<(&str, Vec<u8>)>) -> Files {
    let mut files = Files::from([("config.json".to_owned(), serde_json::to_vec(config).unwrap())]);
    files.extend(rest.into_iter().map(|(name, content)| (name.to_owned(), content)));
    files
}

fn scheme(strategy: &str) -> Value {
    json!({"quant_method": "compressed-tensors", "provider": "auto-round", "fp8_dtype_flavor": "float8_e4m3fn",
        "kv_cache_scheme": {"num_bits": 8, "type": "float", "strategy": strategy, "symmetric": true, "dynamic": false}})
}

fn gqa() -> Files {
    let config = json!({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 2,
        "num_attention_heads": 8, "num_key_value_heads": 4, "hidden_size": 128, "sliding_window": 64,
        "quantization_config": scheme("tensor")});
    let weights = shard(&[
        ("model.layers.0.self_attn.k_proj.weight", "F8_E4M3", vec![4, 8], (0..32).collect()),
        ("model.layers.0.self_attn.k_scale", "F32", vec![1], f32_scale(0.05)),
        ("model.layers.0.self_attn.v_scale", "BF16", vec![], vec![0x4C, 0x3D]),
        ("model.layers.1.self_attn.kv_scale", "F64", vec![1, 1], 0.04f64.to_le_bytes().to_vec()),
        ("model.layers.1.self_attn.q_scale", "F16", vec![1], vec![0x66, 0x2A]),
        ("vision_tower.layers.0.self_attn.k_scale", "F32", vec![1], f32_scale(1.0)),
    ]);
    files(&config, vec![("model.safetensors", weights)])
}

fn sharded_mla() -> Files {
    let config = json!({"architectures": ["DeepseekV3ForCausalLM"], "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 4, "kv_lora_rank": 64, "qk_rope_head_dim": 16, "num_nextn_predict_layers": 1,
        "quantization_config": scheme("tensor")});
    let names = [
        "model.layers.0.self_attn.k_scale",
        "model.layers.1.self_attn.k_scale",
        "mtp.layers.0.self_attn.k_scale",
    ];
    let first = shard(&[
        (names[0], "F32", vec![1], f32_scale(0.05)),
        ("model.layers.0.self_attn.v_scale", "F32", vec![1], f32_scale(f32::NAN)),
    ]);
    let second = shard(&[
        (names[1], "F32", vec![1, 1, 1], f32_scale(0.02)),
        (names[2], "F32", vec![1], f32_scale(0.03)),
        ("model.layers.1.self_attn.k_zero_point", "I8", vec![1], vec![0]),
    ]);
    let (a, b) = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors");
    let index = json!({"metadata": {}, "weight_map": {names[0]: a, "model.layers.0.self_attn.v_scale": a, names[1]: b,
        names[2]: b, "model.layers.1.self_attn.k_zero_point": b}});
    let index = serde_json::to_vec(&index).unwrap();
    files(&config, vec![(a, first), (b, second), ("model.safetensors.index.json", index)])
}

fn hybrid_with_table() -> Files {
    let config = json!({"text_config": {"model_type": "qwen3_next", "num_hidden_layers": 4, "num_attention_heads": 4,
        "num_key_value_heads": 2, "hidden_size": 64, "num_kv_shared_layers": 1,
        "layer_types": ["linear_attention", "full_attention", "sliding_attention", "full_attention"]},
        "quantization_config": {"quant_method": "fp8", "kv_cache_scheme": "static"}});
    let table = json!({"model_type": "qwen3_next", "kv_cache": {"dtype": "float8_e4m3fn",
        "scaling_factor": {"0": {"1": 0.04, "2": [0.02, 0.03]}, "1": {"1": 0.04}}}});
    let weights = shard(&[("model.norm.weight", "BF16", vec![2], vec![0, 0, 0, 0])]);
    let table = serde_json::to_vec(&table).unwrap();
    files(&config, vec![("model.safetensors", weights), ("kv_cache_scales.json", table)])
}

fn per_head() -> Files {
    let config = json!({"num_hidden_layers": 1, "num_attention_heads": 4, "num_key_value_heads": 2,
        "quantization_config": scheme("attn_head")});
    let values: Vec<u8> = [0.01f32, 0.02].iter().flat_map(|v| v.to_le_bytes()).collect();
    let query: Vec<u8> = [0.1f32, 0.2, 0.3, 0.4].iter().flat_map(|v| v.to_le_bytes()).collect();
    let weights = shard(&[
        ("model.layers.0.self_attn.k_scale", "F32", vec![2, 1, 1], values.clone()),
        ("model.layers.0.self_attn.v_scale", "F32", vec![2], values),
        ("model.layers.0.self_attn.q_scale", "F32", vec![4, 1], query),
    ]);
    files(&config, vec![("model.safetensors", weights)])
}

fn inc() -> Files {
    let config = json!({"num_hidden_layers": 1, "num_attention_heads": 4, "hidden_size": 64,
        "quantization_config": scheme("tensor")});
    let node = |amax: f32| json!({"inputs": [[[amax]]], "outputs": [[[amax]]]});
    let measured = json!({"GlobalRank": null, "LocalRank": null, "Mode": "DynamicRange", "Nodes": {
        "model.layers.0.self_attn.attn.impl.k_cache": node(24.5), "model.layers.0.self_attn.attn.impl.v_cache": node(3.5)}});
    let weights = shard(&[("model.norm.weight", "BF16", vec![1], vec![0, 0])]);
    let measured = serde_json::to_vec(&measured).unwrap();
    files(&config, vec![("model.safetensors", weights), ("inc_hooks_maxabs_0_1.json", measured)])
}

fn modelopt() -> Files {
    let config = json!({"num_hidden_layers": 1, "num_attention_heads": 4, "num_key_value_heads": 4, "hidden_size": 64});
    let quant = json!({"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}});
    let weights = shard(&[
        ("model.layers.0.self_attn.k_proj.k_scale", "F32", vec![], f32_scale(0.5)),
        ("model.layers.0.self_attn.v_proj.v_scale", "F32", vec![], f32_scale(0.25)),
    ]);
    let quant = serde_json::to_vec(&quant).unwrap();
    files(&config, vec![("model.safetensors", weights), ("hf_quant_config.json", quant)])
}

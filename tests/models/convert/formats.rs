//! Names and types of scales in each format, and which way each goes.

use std::fs;

use safetensors::Dtype;
use serde_json::json;

use crate::convert::oracle::{is_adjusted, reranged};
use crate::convert::support::{ALL_CODES, Model, convert, names, read};

fn expected_codes() -> Vec<u8> {
    ALL_CODES.iter().map(|code| reranged(*code, 0.5, 0x77)).collect()
}

#[test]
fn every_name_of_a_scale_is_compensated() {
    for (weight, scale, activation) in [
        (
            "model.layers.0.mlp.up_proj.weight",
            "model.layers.0.mlp.up_proj.weight_scale",
            "model.layers.0.mlp.up_proj.input_scale",
        ),
        (
            "model.layers.0.mlp.up_proj.weight",
            "model.layers.0.mlp.up_proj.weight_scale_inv",
            "model.layers.0.mlp.up_proj.input_scale_inv",
        ),
        (
            "model.layers.0.mlp.up_proj.weight",
            "model.layers.0.mlp.up_proj.weight_scale_inv",
            "model.layers.0.mlp.up_proj.activation_scale",
        ),
        ("layers.0.attn.wq_a.weight", "layers.0.attn.wq_a.scale", "layers.0.attn.wq_a.act_scale"),
        (
            "layers.0.attention.wo.weight",
            "layers.0.attention.wo.qscale_weight",
            "layers.0.attention.wo.qscale_act",
        ),
        (
            "transformer.layers.0.attention.qkv.weight",
            "transformer.layers.0.attention.qkv.weights_scaling_factor",
            "transformer.layers.0.attention.qkv.activation_scaling_factor",
        ),
        (
            "model.layers.0.mlp.experts.w13_weight",
            "model.layers.0.mlp.experts.w13_weight_scale",
            "model.layers.0.mlp.experts.w13_input_scale",
        ),
        (
            "model.layers.0.mlp.experts.gate_up_proj",
            "model.layers.0.mlp.experts.gate_up_proj_scale_inv",
            "model.layers.0.mlp.experts.gate_up_proj_activation_scale",
        ),
        (
            "model.layers.0.mlp.experts.down_proj",
            "model.layers.0.mlp.experts.down_proj_scale",
            "model.layers.0.mlp.experts.down_proj_input_scale",
        ),
        (
            "model.layers.0.self_attn.o_proj.weight",
            "model.layers.0.self_attn.o_proj.weight_scale",
            "model.layers.0.self_attn.o_proj.output_scale",
        ),
        ("lm_head.weight", "lm_head.weight_scale", "lm_head.input_scale"),
    ] {
        let model =
            Model::gqa().all_codes(weight).f32(scale, &[2, 1], &[0.3, 0.7]).f32(activation, &[1], &[0.11]);
        let new = model.converted(&[]);
        assert_eq!(new[weight].bytes, expected_codes(), "{weight}");
        assert_eq!(new[scale].f32(), [0.6, 1.4], "{scale}");
        assert_eq!(new[activation].f32(), [0.22], "{activation}");
    }
}

/// Experts in three dimensions with scales for each block, and types that hold twice or half of every value.
#[test]
fn granularity_and_type_stay() {
    let codes: Vec<u8> = (0..=254u8).filter(|code| code & 0x7F != 0x7F).cycle().take(2 * 3 * 64).collect();
    let base = Model::gqa().tensor("m.experts.w2_weight", Dtype::F8_E4M3, &[2, 3, 64], &codes);
    let halves = |values: &[f32]| {
        values.iter().flat_map(|x| half::f16::from_f32(*x).to_le_bytes()).collect::<Vec<u8>>()
    };
    for (dtype, bytes, expected) in [
        (Dtype::BF16, [0x23, 0x3C].repeat(12), [0xA3, 0x3C].repeat(12)),
        (Dtype::F16, halves(&[0.01, 6e-8, 2.0].repeat(4)), halves(&[0.02, 1.2e-7, 4.0].repeat(4))),
        (Dtype::F8_E8M0, [120, 3].repeat(6), [121, 4].repeat(6)),
        (Dtype::F64, 0.1f64.to_le_bytes().repeat(12), 0.2f64.to_le_bytes().repeat(12)),
    ] {
        let model = base.clone().tensor("m.experts.w2_weight_scale_inv", dtype, &[2, 3, 2], &bytes);
        let scale = &model.converted(&[])["m.experts.w2_weight_scale_inv"];
        assert_eq!((scale.dtype, &scale.shape, &scale.bytes), (dtype, &vec![2, 3, 2], &expected));
    }
}

#[test]
fn kv_scales_of_every_spelling_are_adjusted_and_f32() {
    let names = [
        "model.layers.0.self_attn.k_scale",
        "model.layers.0.self_attn.q_proj.q_scale",
        "model.layers.0.self_attn.prob_output_scale",
        "model.layers.1.self_attn.k_proj.output_scale",
        "model.layers.2.self_attn.kv_scale",
        "model.layers.3.self_attn.v_cache.scale",
        "model.layers.3.self_attn.k_cache.scale",
        "model.layers.3.self_attn.k_proj.v_scale",
        "model.layers.3.self_attn.qkv_proj.output_scale",
    ];
    let model = names
        .iter()
        .enumerate()
        .fold(Model::gqa(), |model, (i, name)| model.bf16(name, &[1], &[0.03 + i as f32 / 64.0]));
    let new = model.converted(&[]);
    for name in names {
        let old = model.shards["model.safetensors"][name].floats()[0] as f32;
        assert!(is_adjusted(old, new[name].f32()[0]), "{name}");
    }
}

/// What belongs to no cache that is known stays as it is, and is named. The cache of cross attention is a cache like others.
#[test]
fn scales_in_other_places_do_not_stop_a_conversion() {
    let unknown = "model.branch.layers.0.self_attn.k_scale";
    let tower = "model.tower.layers.0.self_attn.k_scale";
    let latent = "model.layers.0.self_attn.kv_b_proj.output_scale";
    let cross = "model.layers.1.cross_attn.k_scale";
    let own = "model.layers.0.self_attn.k_scale";
    let names = [unknown, tower, latent, cross, own];
    let folder = names.iter().fold(Model::gqa(), |model, name| model.f32(name, &[1], &[0.75])).write();
    convert(folder.path(), &[]).assert_says(0, &[unknown, tower, latent]);
    let new = read(&folder.path().join("dst/model.safetensors"));
    for name in [unknown, tower, latent] {
        assert_eq!(new[name].f32(), [0.75], "{name}");
    }
    for name in [cross, own] {
        assert!(is_adjusted(0.75, new[name].f32()[0]), "{name}");
    }
}

#[test]
fn a_reciprocal_goes_the_other_way() {
    let name = "transformer.layers.0.attention.kv_cache_rcp_scaling_factor";
    let new = Model::gqa().f32(name, &[1], &[28.0]).converted(&[]);
    assert_eq!(new[name].f32(), [15.0]);
}

#[test]
fn an_unused_v_scale_of_mla_is_adjusted_and_per_head_ones_are() {
    let mut mla = Model::gqa().f32("model.layers.0.self_attn.k_scale", &[1], &[0.05]).f32(
        "model.layers.0.self_attn.v_scale",
        &[1],
        &[1.5],
    );
    mla.config["kv_lora_rank"] = json!(64);
    mla.config["qk_rope_head_dim"] = json!(16);
    assert_eq!(mla.converted(&[])["model.layers.0.self_attn.v_scale"].f32(), [2.8]);
    let heads = Model::gqa().bf16("model.layers.0.self_attn.k_scale", &[4, 1, 1], &[1.5, 3.0, 0.75, 0.375]);
    let new = &heads.converted(&[])["model.layers.0.self_attn.k_scale"];
    assert_eq!((new.shape.as_slice(), new.f32()), (&[4, 1, 1][..], vec![2.8, 5.6, 1.4, 0.7]));
}

/// What is not FP8, or has another FP8 type, stays with its scales, whatever they are called.
#[test]
fn other_types_keep_their_scales() {
    let model = Model::gqa()
        .tensor("model.layers.0.mlp.up_proj.weight", Dtype::I8, &[4], &[1, 2, 3, 4])
        .f32("model.layers.0.mlp.up_proj.weight_scale", &[1], &[0.5])
        .f32("model.layers.0.mlp.up_proj.input_scale", &[1], &[0.5])
        .tensor("model.layers.0.mlp.down_proj.weight", Dtype::F8_E5M2, &[4], &[0x7B, 0xFB, 1, 0])
        .f32("model.layers.0.mlp.down_proj.weight_scale", &[1], &[0.5])
        .tensor("model.layers.0.self_attn.k_zero_point", Dtype::F8_E4M3, &[1], &[0x80])
        .f32("vision_tower.layers.0.self_attn.k_scale", &[1], &[0.5])
        .f32("model.layers.0.self_attn.k_scale", &[1], &[1.5]);
    let new = model.converted(&[]);
    for (name, old) in &model.shards["model.safetensors"] {
        assert_eq!(new[name] == *old, name != "model.layers.0.self_attn.k_scale", "{name}");
    }
    let folder = model.write();
    convert(folder.path(), &[]).assert_says(0, &["1 tensors of type F8_E5M2 are carried over"]);
}

/// Scales widen from bf16, in a shard of their own too, and the index follows. The other shard keeps every byte.
#[test]
fn the_shard_index_stays_true() {
    let model = Model::gqa()
        .shard("a.safetensors")
        .all_codes("model.layers.0.mlp.up_proj.weight")
        .tensor("b", Dtype::I64, &[1], &[9; 8])
        .shard("b.safetensors")
        .bf16("model.layers.0.mlp.up_proj.weight_scale", &[1], &[0.25])
        .bf16("model.layers.0.self_attn.k_scale", &[1], &[0.05])
        .bf16("model.layers.0.self_attn.v_scale", &[4], &[0.05; 4])
        .index();
    let folder = model.write();
    convert(folder.path(), &[]).assert_code(0);
    let (src, dst) = (folder.path().join("src"), folder.path().join("dst"));
    let [old, new] =
        [&src, &dst].map(|f| fs::read_to_string(f.join("model.safetensors.index.json")).unwrap());
    let old_index: serde_json::Value = serde_json::from_str(&old).unwrap();
    let mut expected = old_index.clone();
    expected["metadata"]["total_size"] = json!(old_index["metadata"]["total_size"].as_u64().unwrap() + 10);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&new).unwrap(), expected);
    let mut total = 0;
    for file in ["model.safetensors", "a.safetensors", "b.safetensors"] {
        for (name, tensor) in read(&dst.join(file)) {
            assert_eq!(expected["weight_map"][&name], file);
            total += tensor.bytes.len();
        }
    }
    assert_eq!(expected["metadata"]["total_size"], total);
    assert_eq!(
        fs::read(src.join("model.safetensors")).unwrap(),
        fs::read(dst.join("model.safetensors")).unwrap()
    );
    assert_eq!(read(&dst.join("b.safetensors"))["model.layers.0.mlp.up_proj.weight_scale"].floats(), [0.5]);
}

/// Each tensor of a file that is laid out anew begins at a multiple of its element size, and metadata stays.
#[test]
fn a_new_layout_is_aligned() {
    let folder = Model::gqa()
        .bf16("model.layers.0.self_attn.k_scale", &[1], &[0.05])
        .tensor("a", Dtype::U8, &[3], &[1, 2, 3])
        .tensor("b", Dtype::F64, &[1], &[7; 8])
        .f32("c", &[1], &[1.0])
        .write();
    convert(folder.path(), &[]).assert_code(0);
    let bytes = fs::read(folder.path().join("dst/model.safetensors")).unwrap();
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    assert_eq!((length % 8, &header["__metadata__"]), (0, &json!({"format": "pt"})));
    for (name, size) in
        [("b", 8), ("c", 4), ("model.layers.0.self_attn.k_scale", 4), ("model.embed_tokens.weight", 2)]
    {
        assert_eq!(header[name]["data_offsets"][0].as_u64().unwrap() % size, 0, "{name}");
    }
}

/// Mistral's second copy of the weights is converted too: engines choose between them.
#[test]
fn weight_files_outside_the_index_are_converted() {
    let folder = Model::gqa()
        .f32("model.layers.0.self_attn.k_scale", &[1], &[1.5])
        .shard("consolidated.safetensors")
        .all_codes("layers.0.attention.wq.weight")
        .f32("layers.0.attention.wq.qscale_weight", &[], &[0.5])
        .f32("layers.0.attention.k_fake_quantizer.qscale_act", &[], &[1.5])
        .write();
    convert(folder.path(), &[]).assert_code(0);
    let new = read(&folder.path().join("dst/consolidated.safetensors"));
    assert_eq!(new["layers.0.attention.wq.weight"].bytes, expected_codes());
    assert_eq!(new["layers.0.attention.wq.qscale_weight"].f32(), [1.0]);
    assert_eq!(new["layers.0.attention.k_fake_quantizer.qscale_act"].f32(), [2.8]);
    assert_eq!(names(folder.path()), ["dst", "src"]);
}

/// An old flavor is replaced where it stands; every copy of the config gets the new one.
#[test]
fn every_copy_of_the_config_is_labelled() {
    let quant =
        json!({"quant_method": "fp8", "fp8_dtype_flavor": "float8_e4m3fn", "kv_cache_scheme": "static"});
    let folder = Model::gqa()
        .quant(quant)
        .f32("model.layers.0.self_attn.k_scale", &[1], &[1.5])
        .file(
            "hf_quant_config.json",
            r#"{"quantization": {"kv_cache_quant_algo": "FP8", "fp8_dtype_flavor": "float8_e4m3fn"}}"#,
        )
        .file("quantization_config.json", r#"{"quant_method":"fp8","kv_cache_scheme":"static"}"#)
        .write();
    convert(folder.path(), &[]).assert_code(0);
    let text = |name: &str| fs::read_to_string(folder.path().join("dst").join(name)).unwrap();
    let before = fs::read_to_string(folder.path().join("src/config.json")).unwrap();
    assert_eq!(text("config.json"), before.replace("float8_e4m3fn\"", "float8_e4m3fnuz\""));
    assert_eq!(
        text("hf_quant_config.json"),
        r#"{"quantization": {"kv_cache_quant_algo": "FP8", "fp8_dtype_flavor": "float8_e4m3fnuz"}}"#
    );
    assert_eq!(
        text("quantization_config.json"),
        r#"{"quant_method":"fp8","kv_cache_scheme":"static","fp8_dtype_flavor":"float8_e4m3fnuz"}"#
    );
}

#[test]
fn weights_that_may_be_240_already_are_converted_with_a_warning() {
    let codes: Vec<u8> = ALL_CODES.iter().copied().filter(|code| code & 0x7F < 0x78).collect();
    let folder = Model::gqa()
        .tensor("w.weight", Dtype::F8_E4M3, &[240], &codes)
        .f32("w.weight_scale", &[], &[1.0])
        .write();
    convert(folder.path(), &[]).assert_says(0, &["may be 240", "float8_e4m3fnuz"]);
}

/// A scale that grows moves what follows; every tensor stays where its type allows it.
#[test]
fn tensors_stay_aligned_where_a_scale_grows() {
    let scale = "model.layers.0.self_attn.k_scale";
    let model = Model::gqa().bf16("a", &[1], &[1.0]).bf16(scale, &[1], &[0.5]).tensor(
        "z",
        Dtype::U8,
        &[3],
        &[1, 2, 3],
    );
    let folder = model.write();
    convert(folder.path(), &[]).assert_code(0);
    let bytes = fs::read(folder.path().join("dst/model.safetensors")).unwrap();
    let (header_bytes, metadata) = safetensors::SafeTensors::read_metadata(&bytes).unwrap();
    assert_eq!(header_bytes % 8, 0);
    for (name, info) in metadata.tensors() {
        assert_eq!(info.data_offsets.0 % (info.dtype.bitsize() / 8), 0, "{name}");
    }
}

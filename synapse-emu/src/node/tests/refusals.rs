//! What the compiler does not take, and that nothing else happens to it.

use super::{Failure, GAUDI2, Tensor, machine, node, status, words};
use crate::node::operation::Checked;
use crate::node::registry::find;
use crate::node::spec::DataType::{self, Bf16, F32, I8, I32, I64};
use crate::node::spec::Spec;

#[test]
fn unknown_guids() {
    for guid in [
        "",
        "gem",
        "add",
        "add_fwd",
        "add_fwd_f16",
        "add_fwd_hf8",
        "cast_to_f32",
        "nonsense_f32",
        "ADD_FWD_F32",
    ] {
        assert!(find(guid, &machine(GAUDI2)).is_none(), "{guid}");
    }
}

#[test]
fn too_many_dimensions() {
    let six = Tensor::zeros(F32, &[1; 6]);
    for guid in ["add_fwd_f32", "max_fwd_f32", "less_fwd_f32", "gemm"] {
        assert_eq!(status(guid, &[&six, &six], (F32, &[1; 6]), &[]), Ok(25), "{guid}");
    }
    for guid in ["exp_fwd_f32", "cast_f32_to_bf16", "convert_to_fp8_f32"] {
        assert_eq!(status(guid, &[&six], (Bf16, &[1; 6]), &[]), Ok(25), "{guid}");
    }
    // Operations that only move bytes take up to 25.
    let params = words(&[0, 1]);
    assert_eq!(status("memcpy", &[&six], (F32, &[1; 6]), &params), Ok(26));
    assert!(super::try_one("memcpy", &[&six], (F32, &[1; 6]), &[]).is_ok());
    let many = Tensor::zeros(F32, &[1; 26]);
    assert_eq!(status("memcpy", &[&many], (F32, &[1; 26]), &[]), Ok(25));
}

/// A check alone, of sizes that no memory holds.
fn check(guid: &str, inputs: &[&Spec], outputs: &[&Spec], params: &[u8]) -> Option<u32> {
    let machine = machine(GAUDI2);
    let inputs: Vec<_> = inputs.iter().copied().map(Some).collect();
    let outputs: Vec<_> = outputs.iter().copied().map(Some).collect();
    let node = Checked { machine: &machine, inputs: &inputs, outputs: &outputs, params };
    node.check_by(&*find(guid, &machine).unwrap()).err().map(|refusal| refusal.status.0)
}

#[test]
fn sizes_of_nothing_and_of_too_much() {
    let spec = |sizes: &[usize]| Spec { dtype: F32, sizes: sizes.to_vec(), exp_bias: 0 };
    for sizes in [&[][..], &[0], &[3, 0], &[usize::MAX], &[1 << 40, 1 << 40], &[1 << 62]] {
        let spec = spec(sizes);
        assert_eq!(check("memcpy", &[&spec], &[&spec], &[]), Some(25), "{sizes:?}");
        assert_eq!(check("exp_fwd_f32", &[&spec], &[&spec], &[]), Some(25), "{sizes:?}");
    }
    // The result of two that can be counted cannot.
    let (a, b) = (spec(&[1 << 40, 1]), spec(&[1, 1 << 40]));
    assert_eq!(check("add_fwd_f32", &[&a, &b], &[&spec(&[1 << 40, 1 << 40])], &[]), Some(25));
}

#[test]
fn missing_and_superfluous_operands() {
    let x = Tensor::f32(&[2], &[1.0, 2.0]);
    assert_eq!(status("add_fwd_f32", &[&x], (F32, &[2]), &[]), Ok(26));
    assert_eq!(status("add_fwd_f32", &[&x, &x, &x], (F32, &[2]), &[]), Ok(26));
    let refused = node(&machine(GAUDI2), "add_fwd_f32", &[Some(&x), None], vec![Some(x.clone())], &[]);
    assert!(matches!(refused, Err(Failure::Refused(26, _))));
    let refused = node(&machine(GAUDI2), "exp_fwd_f32", &[Some(&x)], vec![None], &[]);
    assert!(matches!(refused, Err(Failure::Refused(26, _))));
    // One that is left out at the end is as good as none.
    assert!(node(&machine(GAUDI2), "exp_fwd_f32", &[Some(&x), None], vec![Some(x.clone())], &[]).is_ok());
}

#[test]
fn parameters_of_an_unknown_size() {
    let x = Tensor::zeros(F32, &[2, 2]);
    let index = Tensor::zeros(I32, &[2]);
    let all: &[(&str, &[&Tensor], &[usize])] = &[
        ("add_fwd_f32", &[&x, &x], &[]),
        ("reshape", &[&x], &[]),
        ("transpose", &[&x], &[24, 104]),
        ("slice", &[&x], &[80, 400, 704]),
        ("slice_axis", &[&x], &[12, 24]),
        ("concat", &[&x, &x], &[4]),
        ("reduce_sum_fwd_f32", &[&x], &[4, 8]),
        ("softmax_fwd_f32", &[&x], &[4, 8, 12, 16, 20, 24]),
        ("gather_fwd_f32", &[&x, &index], &[4, 8]),
        ("index_copy_fwd_f32", &[&x, &index, &x], &[4]),
        ("cast_f32_to_bf16", &[&x], &[4, 8, 12, 16]),
        ("gemm", &[&x, &x], &[2]),
        ("constant_f32", &[], &[4, 8]),
    ];
    for (guid, inputs, sizes) in all {
        for len in (1..130).chain([208, 399, 703, 705]).filter(|len| !sizes.contains(len)) {
            let out = if *guid == "cast_f32_to_bf16" { Bf16 } else { F32 };
            assert_eq!(status(guid, inputs, (out, &[2, 2]), &vec![0; len]), Ok(26), "{guid} {len}");
        }
    }
}

#[test]
fn sizes_and_types_that_do_not_fit() {
    let x = Tensor::zeros(F32, &[3, 2]);
    let y = Tensor::zeros(Bf16, &[3, 2]);
    let out: (DataType, &[usize]) = (F32, &[3, 2]);
    assert_eq!(status("add_fwd_f32", &[&x, &y], out, &[]), Ok(26));
    assert_eq!(status("add_fwd_bf16", &[&x, &x], out, &[]), Ok(26));
    assert_eq!(status("add_fwd_f32", &[&x, &x], (Bf16, &[3, 2]), &[]), Ok(26));
    assert_eq!(status("add_fwd_f32", &[&x, &x], (F32, &[2, 3]), &[]), Ok(26));
    assert_eq!(status("add_fwd_f32", &[&x, &Tensor::zeros(F32, &[2, 2])], out, &[]), Ok(26));
    assert_eq!(status("less_fwd_f32", &[&x, &x], out, &[]), Ok(26));
    assert_eq!(status("where_fwd_f32", &[&x, &x, &x], out, &[]), Ok(26));
    assert_eq!(status("exp_fwd_f32", &[&x], (F32, &[6]), &[]), Ok(26));
    assert_eq!(status("memcpy", &[&x], (F32, &[6]), &[]), Ok(26));
    assert_eq!(status("memcpy", &[&x], (I32, &[3, 2]), &[]), Ok(26));
    assert_eq!(status("reshape", &[&x], (F32, &[5]), &[]), Ok(26));
    assert_eq!(status("reinterpret_cast", &[&x], (I8, &[3, 2]), &[]), Ok(26));
    assert_eq!(status("reinterpret_cast", &[&x], (I64, &[1, 2]), &[]), Ok(26));
    assert_eq!(status("broadcast", &[&x], (F32, &[3, 4]), &[]), Ok(26));
    assert_eq!(status("squeeze", &[&x], (F32, &[3]), &words(&[1])), Ok(26));
    assert_eq!(status("expand_dims", &[&x], (F32, &[3, 2, 1]), &words(&[3])), Ok(26));
    assert_eq!(status("flatten", &[&x], (F32, &[3, 2]), &words(&[2])), Ok(26));
    // Axes and permutations that are none.
    assert_eq!(status("transpose", &[&x], (F32, &[3, 3]), &words(&[0, 0, 0, 0, 0, 2])), Ok(26));
    assert_eq!(status("transpose", &[&x], (F32, &[2, 3]), &words(&[1, 0, 2, 0, 0, 3])), Ok(26));
    assert_eq!(status("concat", &[&x, &x], (F32, &[3, 4]), &words(&[2])), Ok(26));
    assert_eq!(status("concat", &[&x, &x], (F32, &[3, 5]), &words(&[1])), Ok(26));
    assert_eq!(status("concat", &[], (F32, &[3, 5]), &words(&[1])), Ok(26));
    assert_eq!(status("reduce_sum_fwd_f32", &[&x], (F32, &[3, 1]), &words(&[2])), Ok(26));
    assert_eq!(status("reduce_sum_fwd_f32", &[&x], (F32, &[3]), &words(&[1])), Ok(26));
    assert_eq!(status("reduce_sum_multi_dim_fwd_f32", &[&x], (F32, &[3]), &words(&[0b110, 0])), Ok(26));
    assert_eq!(status("softmax_fwd_f32", &[&x], out, &words(&[2])), Ok(26));
    assert_eq!(status("softmax_fwd_f32", &[&x], out, &words(&[0, 0, 0, 1])), Ok(26));
    for (start, end) in [(1, 1), (2, 1), (0, 4), (u32::MAX, 2)] {
        let size = end.max(start).saturating_sub(start.min(end)).clamp(1, 9) as usize;
        assert_eq!(status("slice_axis", &[&x], (F32, &[size, 2]), &words(&[0, start, end])), Ok(26));
    }
    let index = Tensor::zeros(I32, &[2]);
    assert_eq!(status("gather_fwd_f32", &[&x, &index], (F32, &[2, 2]), &words(&[2])), Ok(26));
    assert_eq!(status("gather_fwd_f32", &[&x, &index], (F32, &[2, 2]), &words(&[0, 1])), Ok(26));
    assert_eq!(status("index_copy_fwd_f32", &[&x, &index, &x], out, &words(&[u32::MAX])), Ok(26));
    assert_eq!(status("index_copy_fwd_f32", &[&x, &index, &x], out, &words(&[1])), Ok(26));
    let tuples = Tensor::zeros(I32, &[3, 1]);
    assert_eq!(status("scatter_nd_onnx_fwd_f32", &[&x, &tuples, &x], out, &[]), Ok(26));
    let tuple = Tensor::zeros(I32, &[1, 1]);
    let row = Tensor::zeros(F32, &[3, 1]);
    assert_eq!(status("scatter_nd_update_fwd_f32", &[&x, &tuple, &row], out, &words(&[2])), Ok(26));
    let gamma = Tensor::zeros(F32, &[2]);
    assert_eq!(status("rms_norm_fwd_f32", &[&x, &gamma], out, &words(&[0; 6])), Ok(26));
}

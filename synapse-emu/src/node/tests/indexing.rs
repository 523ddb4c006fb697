//! Reading and writing by index.

use super::{Failure, GAUDI2, Tensor, counted, machine, node, one, status, try_one, words};
use crate::node::operation::{Input, Output, Running};
use crate::node::registry::find;
use crate::node::spec::DataType::{F32, Fp8_143, I8, I32};

/// Rows of two, three of them, twice.
fn data() -> Tensor {
    Tensor::i32(&[2, 3, 2], &[0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121])
}

#[test]
fn gather_along_each_dimension() {
    let gather = |indices: &Tensor, sizes: &[usize], axis: u32| {
        one("gather_fwd_i32", &[&data(), indices], (I32, sizes), &words(&[axis])).elements::<i32>()
    };
    let three = Tensor::i32(&[3], &[1, 0, 1]);
    assert_eq!(gather(&three, &[3, 3, 2], 0)[..6], [1, 0, 1, 11, 10, 11]);
    let four = Tensor::i32(&[4], &[2, 0, 2, 1]);
    let rows = gather(&four, &[2, 4, 2], 1);
    assert_eq!(rows, [20, 21, 0, 1, 20, 21, 10, 11, 120, 121, 100, 101, 120, 121, 110, 111]);
    let one = Tensor::i32(&[1], &[1]);
    assert_eq!(gather(&one, &[2, 3, 1], 2), [100, 101, 110, 111, 120, 121]);
    // Indices of two dimensions take the place of the one.
    let square = Tensor::i32(&[1, 2], &[2, 1]);
    assert_eq!(gather(&square, &[2, 1, 2, 2], 1), [20, 21, 10, 11, 120, 121, 110, 111]);
}

#[test]
fn an_index_out_of_range_fails_the_launch() {
    for index in [3, -1, i32::MIN] {
        let indices = Tensor::i32(&[2], &[0, index]);
        let gather = try_one("gather_fwd_i32", &[&data(), &indices], (I32, &[2, 2, 2]), &words(&[1]));
        let source = Tensor::zeros(I32, &[2, 2, 2]);
        let copy =
            try_one("index_copy_fwd_i32", &[&data(), &indices, &source], (I32, &[2, 3, 2]), &words(&[1]));
        let tuple = Tensor::i32(&[2, 1], &[1, index]);
        let update = Tensor::zeros(I32, &[2, 1]);
        let scatter = try_one("scatter_nd_onnx_fwd_i32", &[&data(), &tuple, &update], (I32, &[2, 3, 2]), &[]);
        for result in [gather, copy, scatter] {
            assert_eq!(result.unwrap_err(), Failure::Launch(format!("index {index} of a dimension of 3")));
        }
    }
}

#[test]
fn index_copy_counts_its_axis_from_the_slowest_dimension() {
    let indices = Tensor::i32(&[3], &[2, 0, 2]);
    let source = Tensor::i32(&[2, 3, 2], &[-1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12]);
    let copied = one("index_copy_fwd_i32", &[&data(), &indices, &source], (I32, &[2, 3, 2]), &words(&[1]));
    // Slice 2 is named twice: the last one stays.
    assert_eq!(copied.elements::<i32>(), [-3, -4, 10, 11, -5, -6, -9, -10, 110, 111, -11, -12]);
    let one_plane = Tensor::i32(&[2, 3, 1], &[-1, -2, -3, -4, -5, -6]);
    let index = Tensor::i32(&[1], &[0]);
    let copied = one("index_copy_fwd_i32", &[&data(), &index, &one_plane], (I32, &[2, 3, 2]), &words(&[0]));
    assert_eq!(copied.elements::<i32>(), [-1, -2, -3, -4, -5, -6, 100, 101, 110, 111, 120, 121]);
}

#[test]
fn tuples_name_places_from_the_slowest_dimension_on() {
    let scatter = |indices: &Tensor, updates: &Tensor| {
        let inputs = [&data(), indices, updates];
        let updated = one("scatter_nd_update_fwd_i32", &inputs, (I32, &[2, 3, 2]), &words(&[1]));
        let onnx = one("scatter_nd_onnx_fwd_i32", &inputs, (I32, &[2, 3, 2]), &[]);
        assert_eq!(updated.bytes(), onnx.bytes());
        updated.elements::<i32>()
    };
    // Plane 1, row 2; then plane 0, row 1.
    let rows = scatter(&Tensor::i32(&[2, 2], &[1, 2, 0, 1]), &Tensor::i32(&[2, 2], &[-1, -2, -3, -4]));
    assert_eq!(rows, [0, 1, -3, -4, 20, 21, 100, 101, 110, 111, -1, -2]);
    // Four planes of three rows: plane 3, row 1 is the eleventh row; plane 0, row 2 the third.
    let data = counted(I32, &[2, 3, 4]);
    let (tuples, updates) = (Tensor::i32(&[2, 2], &[3, 1, 0, 2]), Tensor::i32(&[2, 2], &[-1, -2, -3, -4]));
    let mut expected: Vec<i32> = (0..24).collect();
    expected[20..22].copy_from_slice(&[-1, -2]);
    expected[4..6].copy_from_slice(&[-3, -4]);
    let rows = one("scatter_nd_onnx_fwd_i32", &[&data, &tuples, &updates], (I32, &[2, 3, 4]), &[]);
    assert_eq!(rows.elements::<i32>(), expected);
    // One plane, with one more dimension of indices.
    let plane = scatter(&Tensor::i32(&[1, 1], &[1]), &Tensor::i32(&[2, 3, 1], &[-1, -2, -3, -4, -5, -6]));
    assert_eq!(plane, [0, 1, 10, 11, 20, 21, -1, -2, -3, -4, -5, -6]);
    // Single elements; the last one stays.
    let elements = scatter(&Tensor::i32(&[3, 2], &[1, 0, 1, 1, 0, 1]), &Tensor::i32(&[2], &[-1, -2]));
    assert_eq!(elements, [0, 1, 10, 11, 20, 21, 100, -2, 110, 111, 120, 121]);
}

#[test]
fn a_tensor_is_changed_in_place() {
    let indices = Tensor::i32(&[1], &[1]);
    let rows = Tensor::i8(&[2, 1], &[-1, -2]);
    let tuple = Tensor::i32(&[1, 1], &[1]);
    for (guid, indices, params) in
        [("index_copy_fwd_i8", &indices, words(&[0])), ("scatter_nd_update_fwd_i8", &tuple, words(&[0]))]
    {
        let machine = machine(GAUDI2);
        let operation = find(guid, &machine).unwrap();
        assert_eq!(operation.in_place(), Some(0));
        let mut cache = Tensor::i8(&[2, 3], &[1, 2, 3, 4, 5, 6]);
        let spec = cache.spec.clone();
        let inputs = [
            Some(Input { spec: &spec, data: &[] }),
            Some(Input { spec: &indices.spec, data: indices.bytes() }),
            Some(Input { spec: &rows.spec, data: rows.bytes() }),
        ];
        let mut outputs = [Some(Output { spec: &spec, data: cache.bytes_mut(), aliases: Some(0) })];
        let (machine, params) = (&machine, &params);
        operation.run(Running { machine, inputs: &inputs, outputs: &mut outputs, params }).unwrap();
        assert_eq!(cache.elements::<i8>(), [1, 2, -1, -2, 5, 6], "{guid}");
    }
    assert_eq!(find("scatter_nd_onnx_fwd_i8", &machine(GAUDI2)).unwrap().in_place(), None);
    assert_eq!(find("add_fwd_f32", &machine(GAUDI2)).unwrap().in_place(), None);
}

#[test]
fn nothing_is_written_where_an_index_is_wrong() {
    let machine = machine(GAUDI2);
    let indices = Tensor::i32(&[2], &[0, 9]);
    let rows = Tensor::i8(&[1, 2], &[-1, -2]);
    let mut cache = Tensor::i8(&[1, 3], &[1, 2, 3]);
    let spec = cache.spec.clone();
    let inputs = [
        Some(Input { spec: &spec, data: &[] }),
        Some(Input { spec: &indices.spec, data: indices.bytes() }),
        Some(Input { spec: &rows.spec, data: rows.bytes() }),
    ];
    let mut outputs = [Some(Output { spec: &spec, data: cache.bytes_mut(), aliases: Some(0) })];
    let operation = find("index_copy_fwd_i8", &machine).unwrap();
    let (machine, params) = (&machine, &words(&[0]));
    assert!(operation.run(Running { machine, inputs: &inputs, outputs: &mut outputs, params }).is_err());
    assert_eq!(cache.elements::<i8>(), [1, 2, 3]);
}

#[test]
fn e4m3_kernels_exist_where_they_are_asked_for() {
    let data = Tensor::hf8(&[2, 2], &[1, 2, 3, 4]);
    let index = Tensor::i32(&[1], &[1]);
    let params = words(&[1]);
    assert_eq!(status("gather_fwd_hf8", &[&data, &index], (Fp8_143, &[2, 1]), &params), Ok(26));
    for guid in ["index_copy_fwd_hf8", "scatter_nd_update_fwd_hf8", "scatter_nd_onnx_fwd_hf8"] {
        assert!(find(guid, &machine(GAUDI2)).is_none(), "{guid}");
    }
    let mut machine = machine(GAUDI2);
    machine.has_hf8_kernels = true;
    let outputs = vec![Some(Tensor::zeros(Fp8_143, &[2, 1]))];
    let out = node(&machine, "gather_fwd_hf8", &[Some(&data), Some(&index)], outputs, &params).unwrap();
    assert_eq!(out[0].as_ref().unwrap().bytes(), [3, 4]);
    for guid in ["index_copy_fwd_hf8", "scatter_nd_update_fwd_hf8", "scatter_nd_onnx_fwd_hf8"] {
        assert!(find(guid, &machine).is_some(), "{guid}");
    }
}

#[test]
fn types_must_be_those_of_the_guid() {
    let data = Tensor::i8(&[2, 2], &[1, 2, 3, 4]);
    let index = Tensor::i32(&[1], &[1]);
    assert_eq!(status("gather_fwd_f32", &[&data, &index], (I8, &[2, 1]), &words(&[1])), Ok(26));
    assert_eq!(status("gather_fwd_i8", &[&data, &index], (F32, &[2, 1]), &words(&[1])), Ok(26));
    assert_eq!(status("gather_fwd_i8", &[&data, &data], (I8, &[2, 1]), &words(&[1])), Ok(26));
}

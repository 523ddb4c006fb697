//! Operations that move elements.

use proptest::prelude::*;

use super::{GAUDI2, Tensor, counted, machine, node, one, words};
use crate::node::spec::DataType::{self, Bf16, F32, Fp8_143, I8, I16, I32, I64, U8};

/// The element at an index, of a tensor from [`counted`] or one that moved its elements.
fn at(tensor: &Tensor, index: &[usize]) -> u64 {
    let place =
        index.iter().zip(&tensor.spec.sizes).rev().fold(0, |place, (index, size)| place * size + index);
    let bytes = tensor.spec.dtype.bytes();
    let mut element = [0; 8];
    element[..bytes].copy_from_slice(&tensor.bytes()[place * bytes..][..bytes]);
    u64::from_le_bytes(element)
}

/// Every index of some sizes.
fn indices(sizes: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    (0..sizes.iter().product::<usize>()).map(move |mut number| {
        sizes
            .iter()
            .map(|size| {
                let index = number % size;
                number /= size;
                index
            })
            .collect()
    })
}

#[test]
fn copies_and_views_keep_the_bytes() {
    let x = counted(I16, &[2, 3, 4]);
    for (guid, sizes, params) in [
        ("memcpy", &[2, 3, 4][..], vec![]),
        ("identity", &[2, 3, 4], vec![]),
        ("reshape", &[8, 3], vec![]),
        ("flatten", &[6, 4], words(&[1])),
        ("expand_dims", &[2, 1, 3, 4], words(&[1])),
        ("expand_dims", &[2, 3, 4, 1], words(&[3])),
    ] {
        assert_eq!(one(guid, &[&x], (I16, sizes), &params).bytes(), x.bytes(), "{guid}");
    }
    assert_eq!(
        one("squeeze", &[&x.clone().shaped(&[6, 1, 4])], (I16, &[6, 4]), &words(&[1])).bytes(),
        x.bytes()
    );
    assert_eq!(one("squeeze", &[&x.clone().shaped(&[1, 6, 1, 4])], (I16, &[6, 4]), &[]).bytes(), x.bytes());
    assert_eq!(one("reinterpret_cast", &[&x], (Bf16, &[2, 3, 4]), &[]).bytes(), x.bytes());
    assert_eq!(one("reinterpret_cast", &[&x], (F32, &[1, 3, 4]), &[]).bytes(), x.bytes());
    assert_eq!(one("reinterpret_cast", &[&x], (Fp8_143, &[4, 3, 4]), &[]).bytes(), x.bytes());
}

#[test]
fn a_matrix_is_transposed() {
    // Two rows of three.
    let x = Tensor::i32(&[3, 2], &[0, 1, 2, 10, 11, 12]);
    let params = words(&[1, 0, 0, 0, 0, 2]);
    assert_eq!(one("transpose", &[&x], (I32, &[2, 3]), &params).elements::<i32>(), [0, 10, 1, 11, 2, 12]);
}

#[test]
fn sizes_of_one_are_repeated() {
    let x = Tensor::i8(&[1, 3], &[7, 8, 9]);
    assert_eq!(one("broadcast", &[&x], (I8, &[2, 3]), &[]).elements::<i8>(), [7, 7, 8, 8, 9, 9]);
    let x = Tensor::i8(&[2], &[7, 8]);
    assert_eq!(one("broadcast", &[&x], (I8, &[2, 3]), &[]).elements::<i8>(), [7, 8, 7, 8, 7, 8]);
}

#[test]
fn one_axis_is_sliced() {
    let x = Tensor::i8(&[3, 2], &[0, 1, 2, 10, 11, 12]);
    let params = words(&[0, 1, 3]);
    assert_eq!(one("slice_axis", &[&x], (I8, &[2, 2]), &params).elements::<i8>(), [1, 2, 11, 12]);
    let mut params = words(&[1, 0]);
    params.extend([1u64, 2].iter().flat_map(|word| word.to_le_bytes()));
    assert_eq!(one("slice_axis", &[&x], (I8, &[3, 1]), &params).elements::<i8>(), [10, 11, 12]);
}

#[test]
fn constants_fill() {
    let filled = |guid, dtype, params: &[u8]| one(guid, &[], (dtype, &[2, 2]), params);
    assert_eq!(filled("constant_f32", F32, &1.5f32.to_le_bytes()).floats(), [1.5; 4]);
    assert_eq!(filled("constant_bf16", Bf16, &1.5f32.to_le_bytes()).floats(), [1.5; 4]);
    assert_eq!(filled("constant_i32", I32, &(-3i32).to_le_bytes()).elements::<i32>(), [-3; 4]);
    assert_eq!(filled("constant_i8", I8, &(-3i32).to_le_bytes()).elements::<i8>(), [-3; 4]);
    assert_eq!(filled("constant_u8", U8, &words(&[200, 0])).elements::<u8>(), [200; 4]);
    let outputs = vec![Some(counted(I16, &[5]))];
    let zeros = node(&machine(GAUDI2), "memset", &[], outputs, &[]).unwrap();
    assert_eq!(zeros[0].as_ref().unwrap().elements::<i16>(), [0; 5]);
}

fn dtypes() -> impl Strategy<Value = DataType> {
    prop_oneof![Just(U8), Just(Fp8_143), Just(Bf16), Just(I32), Just(I64)]
}

/// Sizes, a permutation of them, and for each a start, an end and a step.
type Case = (Vec<usize>, Vec<usize>, Vec<(usize, usize, usize)>);

fn cases() -> impl Strategy<Value = Case> {
    proptest::collection::vec(1usize..5, 1..=5).prop_flat_map(|sizes| {
        let taken: Vec<_> = sizes
            .iter()
            .map(|size| {
                (0..*size, 1usize..4).prop_flat_map({
                    let size = *size;
                    move |(start, step)| (Just(start), start + 1..=size, Just(step))
                })
            })
            .collect();
        let order: Vec<usize> = (0..sizes.len()).collect();
        (Just(sizes), Just(order).prop_shuffle(), taken)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn elements_are_where_the_index_says(dtype in dtypes(), (sizes, order, taken) in cases(), wide: bool) {
        let x = counted(dtype, &sizes);
        let rank = sizes.len();

        let to: Vec<usize> = order.iter().map(|dim| sizes[*dim]).collect();
        let list: Vec<u32> = order.iter().map(|dim| *dim as u32).collect();
        let params = if wide {
            let mut params = vec![0; 26];
            params[0] = rank as u32;
            params[1..=rank].copy_from_slice(&list);
            words(&params)
        } else {
            let mut params = vec![0; 6];
            params[..rank].copy_from_slice(&list);
            params[5] = rank as u32;
            words(&params)
        };
        let turned = one("transpose", &[&x], (dtype, &to), &params);
        for index in indices(&to) {
            let mut from = vec![0; rank];
            order.iter().zip(&index).for_each(|(dim, index)| from[*dim] = *index);
            prop_assert_eq!(at(&turned, &index), at(&x, &from));
        }

        // The entries of a slice come in any order; one that is not needed is all zeros.
        let to: Vec<usize> = taken.iter().map(|(start, end, step)| (end - start).div_ceil(*step)).collect();
        let width = if wide { 25 } else { 5 };
        let mut lists = [vec![0u64; width], vec![0; width], vec![0; width], vec![0; width]];
        for (entry, dim) in order.iter().enumerate() {
            let (start, end, step) = taken[*dim];
            for (list, value) in lists.iter_mut().zip([*dim, start, end, step]) {
                list[entry] = value as u64;
            }
        }
        let mut params: Vec<u8> = lists[0].iter().flat_map(|axis| (*axis as u32).to_le_bytes()).collect();
        if wide {
            params.extend([0; 4]);
        }
        for value in lists[1..].iter().flatten() {
            params.extend(&value.to_le_bytes()[..if wide { 8 } else { 4 }]);
        }
        let part = one("slice", &[&x], (dtype, &to), &params);
        for index in indices(&to) {
            let from: Vec<usize> =
                index.iter().zip(&taken).map(|(index, (start, _, step))| start + index * step).collect();
            prop_assert_eq!(at(&part, &index), at(&x, &from));
        }
    }

    #[test]
    fn parts_are_put_together_and_taken_apart(
        dtype in dtypes(),
        sizes in proptest::collection::vec(1usize..4, 1..=5),
        along in proptest::collection::vec(1usize..4, 1..4),
        axis in 0usize..5,
    ) {
        let axis = axis % sizes.len();
        let mut whole_sizes = sizes.clone();
        whole_sizes[axis] = along.iter().sum();
        let whole = counted(dtype, &whole_sizes);
        let parts = along.iter().map(|along| {
            let mut sizes = sizes.clone();
            sizes[axis] = *along;
            Some(Tensor::zeros(dtype, &sizes))
        });
        let params = words(&[axis as u32]);
        let parts = node(&machine(GAUDI2), "split", &[Some(&whole)], parts.collect(), &params).unwrap();
        let parts: Vec<Tensor> = parts.into_iter().flatten().collect();
        let mut first = 0;
        for part in &parts {
            for index in indices(&part.spec.sizes) {
                let mut from = index.clone();
                from[axis] += first;
                prop_assert_eq!(at(part, &index), at(&whole, &from));
            }
            first += part.spec.sizes[axis];
        }
        let inputs: Vec<&Tensor> = parts.iter().collect();
        let joined = one("concat", &inputs, (dtype, &whole_sizes), &params);
        prop_assert_eq!(joined.bytes(), whole.bytes());
    }
}

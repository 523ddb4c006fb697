//! The vendor's dot products, bit for bit, by the scalar reference and by every kernel this machine can run.
//!
//! `GAUDI_KV_GOLDEN` names the folder with the vectors; without it, `tests/data/golden` of the repository.
#![allow(clippy::unwrap_used, reason = "setup that fails should stop the run")]

use std::collections::BTreeSet;
use std::path::PathBuf;

use gaudi_numerics::Generation;
use gaudi_numerics::fp8::{Format, InfNan, Isa, Layout};
use gaudi_numerics::mme::{Elements, Gemm, Matrix, MatrixMut, Right, dot, scaled_bf16};
use half::bf16;
use safetensors::{Dtype, SafeTensors};

/// One `dot.*` group of a file.
struct Group {
    name: String,
    format: Option<Format>,
    /// Where each dot product starts, and its length.
    at: Vec<(usize, usize)>,
    fp8: [Vec<u8>; 2],
    bf16: [Vec<bf16>; 2],
    out: Vec<u32>,
}

impl Group {
    /// Operand A or B of one dot product.
    fn operand(&self, side: usize, from: usize, len: usize) -> Elements<'_> {
        match self.format {
            Some(format) => Elements::Fp8(&self.fp8[side][from..from + len], format),
            None => Elements::Bf16(&self.bf16[side][from..from + len]),
        }
    }

    /// Operands A or B of some dot products, all `len` long.
    fn rows(&self, side: usize, which: &[usize], len: usize) -> Rows {
        let ranges = which.iter().map(|i| self.at[*i].0..self.at[*i].0 + len);
        match self.format {
            Some(_) => Rows::Fp8(ranges.flat_map(|range| &self.fp8[side][range]).copied().collect()),
            None => Rows::Bf16(ranges.flat_map(|range| &self.bf16[side][range]).copied().collect()),
        }
    }
}

/// Copies of operands, one after the other.
enum Rows {
    Fp8(Vec<u8>),
    Bf16(Vec<bf16>),
}

impl Rows {
    fn elements(&self, format: Option<Format>) -> Elements<'_> {
        match self {
            Self::Fp8(codes) => Elements::Fp8(codes, format.unwrap()),
            Self::Bf16(values) => Elements::Bf16(values),
        }
    }
}

fn folder() -> PathBuf {
    std::env::var_os("GAUDI_KV_GOLDEN")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/data/golden"), PathBuf::from)
}

fn read(file: &str) -> Vec<u8> {
    let path = folder().join(file);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn u32s(tensors: &SafeTensors<'_>, name: &str) -> Vec<u32> {
    let tensor = tensors.tensor(name).unwrap();
    assert_eq!(tensor.dtype(), Dtype::U32, "{name}");
    tensor.data().as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

fn u16s(tensors: &SafeTensors<'_>, name: &str) -> Vec<u16> {
    let tensor = tensors.tensor(name).unwrap();
    assert_eq!(tensor.dtype(), Dtype::U16, "{name}");
    tensor.data().as_chunks().0.iter().map(|bytes| u16::from_le_bytes(*bytes)).collect()
}

/// `e4m3.mode0.bias7` and the like, or `bf16`.
fn parse(name: &str) -> Option<Format> {
    if name == "bf16" {
        return None;
    }
    let parts: Vec<_> = name.split('.').collect();
    let &[layout, mode, bias] = &parts[..] else { panic!("unknown kind of dot product: {name}") };
    Some(Format {
        layout: match layout {
            "e4m3" => Layout::E4M3,
            "e5m2" => Layout::E5M2,
            _ => panic!("unknown layout: {name}"),
        },
        inf_nan: match mode {
            "mode0" => InfNan::Full,
            "mode1" => InfNan::None,
            "mode2" => InfNan::Minimal,
            _ => panic!("unknown mode: {name}"),
        },
        bias: bias.strip_prefix("bias").and_then(|bias| bias.parse().ok()).expect(name),
    })
}

fn groups(file: &str) -> Vec<Group> {
    let data = read(file);
    let tensors = SafeTensors::deserialize(&data).unwrap();
    let names: BTreeSet<String> = tensors
        .names()
        .iter()
        .filter_map(|name| name.strip_prefix("dot."))
        .map(|name| {
            let (group, field) = name.rsplit_once('.').unwrap();
            assert!(["off", "len", "a", "b", "out"].contains(&field), "unknown tensor dot.{name}");
            group.to_owned()
        })
        .collect();
    let read = |name: String| {
        let field = |field: &str| format!("dot.{name}.{field}");
        let format = parse(&name);
        let (mut fp8, mut words) = ([vec![], vec![]], [vec![], vec![]]);
        for (side, operand) in ["a", "b"].into_iter().enumerate() {
            if format.is_some() {
                let tensor = tensors.tensor(&field(operand)).unwrap();
                assert_eq!(tensor.dtype(), Dtype::U8);
                fp8[side] = tensor.data().to_vec();
            } else {
                words[side] = u16s(&tensors, &field(operand)).into_iter().map(bf16::from_bits).collect();
            }
        }
        let starts = u32s(&tensors, &field("off")).into_iter().map(|at| at as usize);
        let at = starts.zip(u32s(&tensors, &field("len")).into_iter().map(|len| len as usize)).collect();
        Group { format, at, fp8, bf16: words, out: u32s(&tensors, &field("out")), name }
    };
    names.into_iter().map(read).collect()
}

fn both() -> Vec<(Generation, Group)> {
    let of = |generation, file| groups(file).into_iter().map(move |group| (generation, group));
    let all: Vec<_> = of(Generation::Gaudi2, "gaudi2.safetensors")
        .chain(of(Generation::Gaudi3, "gaudi3.safetensors"))
        .collect();
    assert!(all.len() >= 2, "no dot products in {}", folder().display());
    all
}

/// Compares and counts.
#[derive(Default)]
struct Compared {
    values: usize,
    wrong: usize,
}

impl Compared {
    fn check(&mut self, got: f32, want: u32, what: impl Fn() -> String) {
        self.values += 1;
        if got.to_bits() != want {
            self.wrong += 1;
            if self.wrong <= 10 {
                println!("{}: {:08x}, not {want:08x}", what(), got.to_bits());
            }
        }
    }
}

impl Drop for Compared {
    fn drop(&mut self) {
        println!("compared {} values", self.values);
        if !std::thread::panicking() {
            assert_eq!(self.wrong, 0, "differing values");
        }
    }
}

#[test]
fn golden_reference() {
    let mut compared = Compared::default();
    for (generation, group) in both() {
        for (i, &(from, len)) in group.at.iter().enumerate() {
            let got = dot(generation, group.operand(0, from, len), group.operand(1, from, len)).unwrap();
            compared.check(got, group.out[i], || format!("{generation} {} {i}", group.name));
        }
    }
}

/// Each dot product as a product of one row by one column, stored either way.
#[test]
fn golden_kernels_one_by_one() {
    let mut compared = Compared::default();
    let groups = both();
    for isa in Isa::available() {
        for (generation, group) in &groups {
            let gemm = Gemm::with_isa(*generation, isa).unwrap();
            for (i, &(from, len)) in group.at.iter().enumerate() {
                let a = Matrix::new(group.operand(0, from, len), 1, len).unwrap();
                let b = group.operand(1, from, len);
                let column = [Matrix::new(b, len, 1).unwrap()];
                let row = [Matrix::new(b, 1, len).unwrap()];
                for b in [Right::KByN(&column), Right::NByK(&row)] {
                    let mut out = [0.0];
                    gemm.exact(a, b, MatrixMut::new(&mut out, 1, 1).unwrap()).unwrap();
                    compared.check(out[0], group.out[i], || format!("{isa} {generation} {} {i}", group.name));
                }
            }
        }
    }
}

/// All dot products of one length as one product, whose diagonal they are: every lane and row of a kernel meets them.
/// Blocks of at most 80 keep the rest of the product small.
#[test]
fn golden_kernels_diagonal() {
    let mut compared = Compared::default();
    let groups = both();
    for isa in Isa::available() {
        for (generation, group) in &groups {
            let gemm = Gemm::with_isa(*generation, isa).unwrap();
            let lengths: BTreeSet<usize> = group.at.iter().map(|(_, len)| *len).collect();
            for len in lengths {
                let of_length: Vec<usize> = (0..group.at.len()).filter(|i| group.at[*i].1 == len).collect();
                for of_length in of_length.chunks(80) {
                    let count = of_length.len();
                    let rows = group.rows(0, of_length, len);
                    let a = Matrix::new(rows.elements(group.format), count, len).unwrap();
                    let b: Vec<_> = of_length
                        .iter()
                        .map(|i| Matrix::new(group.operand(1, group.at[*i].0, len), 1, len).unwrap())
                        .collect();
                    let mut out = vec![0.0; count * count];
                    gemm.exact(a, Right::NByK(&b), MatrixMut::new(&mut out, count, count).unwrap()).unwrap();
                    for (n, i) in of_length.iter().enumerate() {
                        compared.check(out[n * count + n], group.out[*i], || {
                            format!("{isa} {generation} {} {i} diagonal", group.name)
                        });
                    }
                }
            }
        }
    }
}

#[test]
fn golden_f32_to_bf16() {
    let mut compared = Compared::default();
    let data = read("gaudi3.safetensors");
    let tensors = SafeTensors::deserialize(&data).unwrap();
    let (from, to) = (u32s(&tensors, "f32_to_bf16.in"), u16s(&tensors, "f32_to_bf16.out"));
    assert_eq!(from.len(), to.len());
    let accumulators: Vec<f32> = from.iter().copied().map(f32::from_bits).collect();
    let mut got = vec![bf16::ZERO; from.len()];
    scaled_bf16(&accumulators, [1, from.len()], &[1.0], &[1.0], &mut got).unwrap();
    for ((from, to), got) in from.iter().zip(&to).zip(&got) {
        compared.check(f32::from_bits(u32::from(got.to_bits())), u32::from(*to), || format!("{from:08x}"));
    }
    assert!(compared.values > 0);
}

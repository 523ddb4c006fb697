//! Bindings from C and C++ headers, by bindgen.

use std::path::PathBuf;

use bindgen::callbacks::{IntKind, ItemInfo, ParseCallbacks};
use bindgen::{Builder, EnumVariation, Formatter};

/// The header that the declarations come from.
pub(crate) enum Source {
    /// The C header of this crate, in that folder.
    Own(PathBuf),
    /// The vendor's C++ headers, in that folder.
    Sdk(PathBuf),
}

/// The constants to take: the vendor's headers have many that belong to other things.
const CONSTANTS: [&str; 7] = [
    "HABANA_DIM_MAX",
    "ENQUEUE_TENSOR_NAME_MAX_SIZE",
    "STATUS_DESCRIPTION_MAX_SIZE",
    "MAX_USER_PARAMS_SIZE",
    "SYN_MAX_TENSOR_DIM",
    "SYN_FLAGS_TENSOR_NAME",
    "TENSOR_INVALID_ID",
];
/// The types to take, as patterns. Types that functions and other types need come along.
const TYPES: &[&str] = &[
    "syn[A-Z].*",
    "T(Size|Stride|Offset)",
    "tensor_size_t",
    "internalMemcopyParamEntry",
    "eventCreateFlags",
    "Tensor(MetadataInfo(Ext)?|ExUserContext)",
    "TransposePermutationDim",
    "(CastF32RoundMode|CastSatMode|ScatterNdUpdateMode|ScatterIndicesSizeControl)_t",
    "(SdpaSoftmaxMode|SdpaFlags|DataTypeSize|SoftmaxMode)_t",
    "ScaledMasked(SoftmaxExp|TriangularSoftmax)Mode",
    "ns_(CastKernel|ConstantKernel|DropoutKernel|GatherElementsKernel|GatherKernel)(_|::)Params.*",
    "ns_(IndexCopy|RangeKernel|Reduction|ReluKernel|RmsNorm|RoPESt2|Sdpa|Softmax|TopkNodeV2)(_|::)Params.*",
    "ns_(ScatterKernel|ScatterNDKernel|ScatterNdUpdateKernel)(_|::)Params.*",
    "ns_LayerNormKernel(_|::)ParamsRmsNorm",
];

/// Answers to what bindgen cannot tell by itself.
#[derive(Debug)]
struct Hints;

impl ParseCallbacks for Hints {
    /// Gives the type of a macro whose value does not show it.
    fn int_macro(&self, name: &str, _value: i64) -> Option<IntKind> {
        (name == "TENSOR_INVALID_ID").then_some(IntKind::U64)
    }

    /// Names a type whose tag has an underscore in front, as in `typedef union _fint_t {..} fint_t`. With one
    /// name for both, there is no alias, through which the values of an enum could not be made.
    fn item_name(&self, item: ItemInfo<'_>) -> Option<String> {
        let name = item.name.strip_prefix('_')?;
        name.starts_with(|first: char| first.is_ascii_alphabetic()).then(|| name.to_owned())
    }

    /// Puts a comment in one line, without the mark of one that stands behind what it explains.
    fn process_comment(&self, comment: &str) -> Option<String> {
        let lines: Vec<_> = comment.trim_start_matches('<').lines().map(str::trim).collect();
        Some(format!(" {}", lines.join(" ")))
    }
}

/// Makes Rust declarations of a header.
pub(crate) fn bindings(source: &Source) -> Result<syn::File, String> {
    let builder = match source {
        Source::Own(folder) => Builder::default()
            .header(folder.join("synapse.h").display().to_string())
            .clang_args(["-x", "c", "-std=c11"]),
        // The vendor's comments stay where they are.
        Source::Sdk(folder) => Builder::default()
            .header_contents("sdk.hpp", "#include \"synapse_api.h\"\n#include \"perf_lib_layer_params.h\"\n")
            .clang_args(["-x", "c++", "-std=c++17"])
            .clang_arg(format!("-I{}", folder.display()))
            .generate_comments(false),
    };
    let mut builder = builder
        .formatter(Formatter::None)
        .disable_header_comment()
        .default_enum_style(EnumVariation::NewType { is_bitfield: false, is_global: false })
        .derive_default(true)
        .use_core()
        .parse_callbacks(Box::new(Hints))
        .allowlist_function("syn[A-Z].*");
    for pattern in CONSTANTS {
        builder = builder.allowlist_var(pattern);
    }
    for pattern in TYPES {
        builder = builder.allowlist_type(pattern);
    }
    let made = builder.generate().map_err(|error| format!("bindgen: {error}"))?.to_string();
    syn::parse_file(&made).map_err(|error| format!("bindgen's output: {error}"))
}

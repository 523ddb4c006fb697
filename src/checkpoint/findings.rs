//! What is worth saying about a model: notes, warnings and errors, each with a code that stays the same.

use std::fmt;

use serde::{Serialize, Serializer};

macro_rules! finding_codes {
    ($($(#[$doc:meta])* $variant:ident = $code:literal, $meaning:literal, $remedy:literal;)*) => {
        /// What a finding is about. The string form is a contract.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum FindingCode {
            $(#[doc = $meaning] $variant,)*
        }

        impl FindingCode {
            /// Every code.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The code in JSON.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }

            /// What it means, in a sentence or two.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)* }
            }

            /// What to do about it.
            #[must_use]
            pub const fn remedy(self) -> &'static str {
                match self { $(Self::$variant => $remedy,)* }
            }
        }
    };
}

finding_codes! {
    MlaVScaleIgnored = "mla-v-scale-ignored",
        "An MLA layer keeps one latent for keys and values, so one scale serves: k_scale. The v_scale changes nothing.",
        "Nothing. If the checkpoint was made for the older rule, --mla-scale max-kv takes the larger of the two.";
    ScaleDuplicated = "scale-duplicated",
        "Only one of k_scale and v_scale is there (or one kv_scale for both), so it serves both.",
        "Nothing, if the exporter meant it so. Separate scales cost nothing and lose less.";
    ScalesNotUsed = "scales-not-used",
        "The cache is not FP8, so no KV scale is applied to it.",
        "Nothing, or ask for an FP8 cache with --kv-cache-dtype fp8.";
    LayerSkipped = "layer-skipped",
        "This layer was asked to keep a bf16 cache, so its scales are not used.",
        "Nothing.";
    OtherRoleIgnored = "other-role-ignored",
        "Tensors whose names end like KV scales belong to something without a text KV cache: a vision or audio tower, an indexer, or state that a quantizer left behind.",
        "Nothing.";
    CrossAttentionIgnored = "cross-attention-ignored",
        "Tensors scale the cache of a decoder's cross attention, which holds the encoder's keys and values. Only caches of self-attention are inspected.",
        "Nothing. convert treats these scales as those of other caches.";
    TensorNotInIndex = "tensor-not-in-index",
        "A shard holds tensors that the shard index does not list. Engines read whole shards and load them anyway.",
        "Write the index anew if a tool depends on it.";
    ScaleMissing = "scale-missing",
        "The cache is FP8 and the checkpoint has neither k_scale nor v_scale for this layer, so 1.0 is used: values beyond the device's FP8 range saturate and small ones lose precision.",
        "Calibrate the layer, or keep its cache in bf16 with --kv-cache-dtype-skip-layers.";
    ScaleZero = "scale-zero",
        "A scale of zero was never calibrated: exporters write it when no token reached the layer. It is treated as missing.",
        "Calibrate again with data that reaches this layer.";
    ScaleImplausible = "scale-implausible",
        "A scale lies outside 2^-24 to 2^10, which no calibration of real activations gives. It may be uninitialized memory.",
        "Compare it with the neighbouring layers and calibrate again.";
    ScaleByConvention = "scale-by-convention",
        "Every KV scale is 1.0, or none is there: ModelOpt casts keys and values to FP8 without calibration unless it is asked to, and until 2026 it raised smaller scales to 1.0. Either way it is a convention and no measurement.",
        "Nothing, if keys and values stay well below 448. Calibrate to know it, and to have their small values kept.";
    ScaleClamped = "scale-clamped",
        "Some KV scales are 1.0 and none is smaller: until 2026 ModelOpt raised smaller ones to 1.0 when it exported a model, so what was measured for these is lost.",
        "Export the model again with a newer ModelOpt, or calibrate.";
    ScaleUnused = "scale-unused",
        "A KV-scale tensor is in the checkpoint and no layer takes it.",
        "Check the tensor's name and layer number. A scale that nobody reads usually means that the model runs with another one.";
    FlavorUnknown = "flavor-unknown",
        "fp8_dtype_flavor has a value that names no FP8 range, so the range is assumed to be 448.",
        "Write float8_e4m3fn (448) or float8_e4m3fnuz (240), without anything around it.";
    FlavorMisplaced = "flavor-misplaced",
        "fp8_dtype_flavor is nested inside the quantization config; every reader looks for it at the top level.",
        "Move it to the top level of the quantization config.";
    FlavorMissing = "flavor-missing",
        "No FP8 weight lies above 240 and no flavor says which range was used. The checkpoint may have been made for Gaudi2, in which case adjusting its scales costs less than a bit; it is treated as 448.",
        "If it was made on a Gaudi2, add \"fp8_dtype_flavor\": \"float8_e4m3fnuz\" at the top level of the quantization config.";
    FlavorContradictsWeights = "flavor-contradicts-weights",
        "The flavor says that values reach 240, but FP8 weights hold codes above 0x77. A Gaudi2 reads those as Inf or NaN.",
        "The label is wrong: remove fp8_dtype_flavor, or set it to float8_e4m3fn.";
    WeightsNan = "weights-nan",
        "FP8 weights hold NaN codes. One is enough to turn every output that it touches into NaN.",
        "The checkpoint is damaged or was quantized without saturation; make it again.";
    ConfigsDisagree = "configs-disagree",
        "Two files of the folder describe the quantization differently. config.json counts before hf_quant_config.json, and that before quantization_config.json.",
        "Delete or correct the file that is out of date; engines do not agree on which one they read.";
    Int8Scheme = "int8-scheme",
        "The folder describes an int8 KV cache of another backend, which declares no FP8 cache.",
        "Nothing, or quantize the KV cache to FP8.";
    KvSchemeUnsupported = "kv-scheme-unsupported",
        "The checkpoint declares a KV cache that this backend does not have; its scales mean something else in an FP8 cache.",
        "Serve it with --kv-cache-dtype bf16, or quantize its KV cache to FP8 e4m3 with static, symmetric scales.";
    KvSchemeContradiction = "kv-scheme-contradiction",
        "The quantization config declares two different KV caches. Which one is used depends on the engine that reads it.",
        "Keep the one that the scales were made for.";
    KvSchemeIncomplete = "kv-scheme-incomplete",
        "Quark's kv_cache_group says that there is a quantized KV cache, and nothing says how it is quantized. Its own reader refuses such a model; here no KV cache is declared.",
        "Export the model again, or ask for the cache that its scales were made for with --kv-cache-dtype.";
    RotatedCache = "rotated-cache",
        "The quantization config rotates keys and queries before the cache, while the model runs. The scales are those of rotated keys, which have other magnitudes than plain ones.",
        "Serve the model with an engine that applies this transform to the cache; for any other, calibrate without it.";
    AdjustmentDisabled = "adjustment-disabled",
        "VLLM_SCALE_ADJUSTMENT turns scale adjustment off where the device's FP8 range is smaller than the checkpoint's, so large values saturate.",
        "Unset VLLM_SCALE_ADJUSTMENT: the decision is made from the checkpoint.";
    AdjustmentRefused = "adjustment-refused",
        "VLLM_SCALE_ADJUSTMENT asks for adjustment, but the checkpoint says it was quantized to 240 already. Adjusting it again would lose precision.",
        "Unset VLLM_SCALE_ADJUSTMENT.";
    PerHeadRange = "per-head-range",
        "AutoRound divides per-head scales by 448 even where it labels the checkpoint with the 240 range, so such scales may be 448/240 too small for it.",
        "Compare the saturated share with and without the label, or use per-tensor scales.";
    SidecarModelType = "sidecar-model-type",
        "The scale file was made for another model type.",
        "Make sure that the file belongs to this model.";
    IncScalesDependOnDevice = "inc-scales-depend-on-device",
        "INC rounds its scales to what one generation's hardware folds, and the file does not name the generation.",
        "Use the measurement file (Mode DynamicRange), which serves any device.";
    IncRanksIncomplete = "inc-ranks-incomplete",
        "INC wrote one file for each tensor-parallel rank, some of them are missing, and what the others saw is not in the rest.",
        "Copy the files of all ranks into the folder, or measure with the number of ranks that will serve.";
    SidecarNotRead = "sidecar-not-read",
        "INC's measurements are there as .npz only, which is not read.",
        "Copy the .json file that INC writes beside it.";
    SidecarOtherCache = "sidecar-other-cache",
        "A JSON file holds scales of another kind of cache, such as the outer scales of a 4-bit latent. They mean nothing in an FP8 cache and are not read.",
        "Nothing.";
    RanksDisagree = "ranks-disagree",
        "Scales of several tensor-parallel ranks differ for one layer, and a per-tensor scale must be the same on every rank.",
        "Take the largest, or export per-head scales.";
    ShardNotInIndex = "shard-not-in-index",
        "A weight file holds KV scales, but the shard index does not name the file.",
        "Add the file to model.safetensors.index.json.";
    SkipLayerUnknown = "skip-layer-unknown",
        "--kv-cache-dtype-skip-layers names a layer that has no KV cache of its own, or a kind of layer that the model has not.",
        "Correct the list.";
    MlaPerHeadReduced = "mla-per-head-reduced",
        "An MLA layer has one latent, so its per-head scales are reduced to the largest.",
        "Calibrate the latent itself.";
    ProbPerHeadReduced = "prob-per-head-reduced",
        "Probabilities have one scale for all heads of a layer, so a per-head one is reduced to the largest.",
        "Nothing, or calibrate one scale for the layer.";
    ScaleNotFinite = "scale-not-finite",
        "A scale is NaN or infinite.",
        "The checkpoint is damaged or calibration saw such values; calibrate again.";
    ScaleNegative = "scale-negative",
        "A scale is negative. Scales are magnitudes.",
        "The checkpoint is damaged or the tensor is not a scale; calibrate again.";
    ScaleRange = "scale-range",
        "The scale is so small or so large that the value derived from it is zero or infinite in float32.",
        "Calibrate again; no activation of a working model needs such a scale.";
    ScaleConflict = "scale-conflict",
        "Two sources give different values for one scale.",
        "Remove the one that is out of date.";
    ZeroPointNotZero = "zero-point-not-zero",
        "The KV cache has a zero point other than zero, which FP8 caches on Gaudi do not have.",
        "Quantize the KV cache symmetrically.";
    ArchitectureUnknown = "architecture-unknown",
        "The config leaves out a number, and its model_type names no class whose default could stand for it, so something was assumed.",
        "Write the number into config.json.";
    WindowUnknown = "window-unknown",
        "The config gives a sliding window, or a pattern of layers with one, in a form that is not known. Scales do not depend on it; what check computes does.",
        "Write sliding_window as a number of tokens and name the layers in layer_types.";
    SharedCacheWithoutOwner = "shared-cache-without-owner",
        "The config says that this layer reads another layer's cache, but no layer before it has a cache of that kind.",
        "Correct num_kv_shared_layers or layer_types in config.json.";
}

impl fmt::Display for FindingCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for FindingCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// One thing worth saying.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is about.
    pub code: FindingCode,
    /// The layer, where it concerns one.
    pub layer: Option<usize>,
    /// What was found, with names and values.
    pub message: String,
}

/// Everything that came up, by weight.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// Worth knowing; nothing to do.
    pub notes: Vec<Finding>,
    /// The model runs, and probably not as it should.
    pub warnings: Vec<Finding>,
    /// The model cannot be run as asked.
    pub errors: Vec<Finding>,
}

impl Findings {
    /// Adds a note.
    pub fn note(&mut self, code: FindingCode, layer: Option<usize>, message: impl Into<String>) {
        self.notes.push(Finding { code, layer, message: message.into() });
    }

    /// Adds a warning.
    pub fn warn(&mut self, code: FindingCode, layer: Option<usize>, message: impl Into<String>) {
        self.warnings.push(Finding { code, layer, message: message.into() });
    }

    /// Adds an error.
    pub fn error(&mut self, code: FindingCode, layer: Option<usize>, message: impl Into<String>) {
        self.errors.push(Finding { code, layer, message: message.into() });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::FindingCode;

    #[test]
    fn codes_are_unique_and_explained() {
        let codes: HashSet<_> = FindingCode::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(codes.len(), FindingCode::ALL.len());
        for code in FindingCode::ALL {
            assert!(code.meaning().ends_with('.') && code.remedy().ends_with('.'), "{code}");
        }
    }

    #[test]
    fn docs_have_every_code() {
        let docs = include_str!("../../docs/inspect.md");
        for code in FindingCode::ALL {
            let row = format!("| `{code}` | {} | {} |\n", code.meaning(), code.remedy());
            assert!(docs.contains(&row), "docs/inspect.md lacks: {row}");
        }
    }
}

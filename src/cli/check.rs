//! `gaudi-kv check`.

use std::path::Path;

use gaudi_kv::check::{LayerOutputs, ModelJson, check};
use gaudi_kv::checkpoint::ModelFolder;
use gaudi_kv::device::emulated::Mode;
use safetensors::tensor::{Dtype, TensorView};

use super::args::CheckArguments;
use super::inspect::{inspect_with_bar, options};
use super::outcome::{CommandError, Outcome};
use super::output::{to_json, write_result};
use super::progress::layer_bar;
use super::{check_table, report};

/// Inspects a model, runs its caches, and prints how far attention is from float64.
pub(super) fn run(arguments: &CheckArguments, is_quiet: bool) -> Result<Outcome, CommandError> {
    let (options, chosen) = options(&arguments.inspect.options, is_quiet)?;
    let device = chosen.device.open(arguments.mode.map(Mode::from))?;
    let folder = ModelFolder::open(&arguments.inspect.model)?;
    let inspection = inspect_with_bar(&folder, &options, is_quiet)?;
    let bar = layer_bar("running caches", inspection.layers.len(), is_quiet);
    bar.tick();
    let mut outputs = Vec::new();
    let mut observer = |layer: Option<LayerOutputs>| {
        bar.inc(1);
        outputs.extend(layer.filter(|_| arguments.outputs.is_some()));
    };
    let activations = arguments.activations.as_deref();
    let checked = check(&folder, &inspection, &device, activations, &mut observer)?;
    bar.finish_and_clear();
    if let Some(path) = &arguments.outputs {
        write_outputs(path, &outputs)?;
    }
    if arguments.inspect.json {
        let report = ModelJson::new(&inspection, chosen.device.backend_name()).with_check(&checked);
        write_result(&to_json(&report)?)?;
    } else {
        write_result(&check_table::render(&inspection, &checked))?;
    }
    if let Some(path) = &arguments.inspect.report {
        let run = report::Run::of_this_process(options.device, options.strict);
        std::fs::write(path, report::render_check(&inspection, &checked, &run))
            .map_err(|source| CommandError::Write { what: path.display().to_string(), source })?;
    }
    Ok(if inspection.is_fine(options.strict) { Outcome::Fine } else { Outcome::ModelHasErrors })
}

/// Writes `layers.N.prefill` and `layers.N.decode`, `[tokens, heads * v_head_dim]` float32.
fn write_outputs(path: &Path, outputs: &[LayerOutputs]) -> Result<(), CommandError> {
    let fail = |source: std::io::Error| CommandError::Write { what: path.display().to_string(), source };
    let tensors: Vec<(String, [usize; 2], Vec<u8>)> = outputs
        .iter()
        .flat_map(|layer| [("prefill", layer, &layer.prefill), ("decode", layer, &layer.decode)])
        .map(|(name, layer, values)| {
            let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            (
                format!("layers.{}.{name}", layer.layer),
                [layer.tokens, values.len() / layer.tokens.max(1)],
                bytes,
            )
        })
        .collect();
    let views: Vec<(&str, TensorView<'_>)> = tensors
        .iter()
        .map(|(name, shape, bytes)| Ok((name.as_str(), TensorView::new(Dtype::F32, shape.to_vec(), bytes)?)))
        .collect::<Result<_, safetensors::SafeTensorError>>()
        .map_err(|error| fail(std::io::Error::other(error)))?;
    let bytes = safetensors::serialize(views, None).map_err(|error| fail(std::io::Error::other(error)))?;
    std::fs::write(path, bytes).map_err(fail)
}

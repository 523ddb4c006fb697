//! Compares the names that the grammar accepts with vLLM's own name handling.
//!
//! Both get every spelling of every producer in every place of a model. Where they differ, they differ on purpose:
//! [`DIFFERENCES`] says where and why, and nothing else may differ.
//!
//! The comparison needs a Python with vLLM: `python3`, or the interpreter that `GAUDI_KV_PYTHON` names. Without one it
//! is reported as ignored. The tables of `docs/names.md` are checked in any case.

use std::{
    collections::BTreeSet,
    env, fs,
    io::Write as _,
    path::Path,
    process::{Command, ExitCode, Stdio},
};

use gaudi_kv::Generation;
use gaudi_kv::calibrate::{Carry, Method, Request, Settings, Source, WriteOptions, calibrate, write};
use gaudi_kv::checkpoint::{LayerIndex, ModelFolder, NameClass, Refusal, Strategy, classify};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use serde::Deserialize;
mod cases;
mod differences;

use cases::*;
use differences::*;

/// What vLLM said to a case.
#[derive(Deserialize)]
struct Answer {
    mapped: Option<String>,
    outcome: Outcome,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Loaded,
    Dropped,
    Fails,
}

#[derive(Deserialize)]
struct Answers {
    version: String,
    results: Vec<Answer>,
}

/// Whether an answer names a parameter.
fn is_parameter(answer: &str) -> bool {
    ![NOT_LOADED, REFUSED, ZERO_POINT, NOT_TAKEN].contains(&answer)
}

impl Answer {
    /// The parameter, as if vLLM's model called its modules as the checkpoint does.
    fn describe(&self, case: &Case) -> String {
        match (self.outcome, &self.mapped, case.attention) {
            (Outcome::Loaded, Some(mapped), Some(attention)) => {
                let below = mapped.strip_prefix(attention).unwrap_or(mapped);
                format!("{}{below}", case.in_checkpoint)
            }
            (Outcome::Loaded, ..) => panic!("{} is loaded into no parameter", case.name),
            (Outcome::Dropped | Outcome::Fails, ..) => NOT_LOADED.to_owned(),
        }
    }
}

/// Where the grammar puts a name.
fn ours(name: &str, is_mla: bool) -> String {
    match classify(name) {
        NameClass::Scale(scale) => scale.runtime(is_mla),
        NameClass::ZeroPoint(_) => ZERO_POINT.to_owned(),
        NameClass::Refused(_) => REFUSED.to_owned(),
        NameClass::OtherRole | NameClass::CrossAttention(_) | NameClass::Other => NOT_TAKEN.to_owned(),
    }
}

fn main() -> ExitCode {
    let args = Arguments::from_args();
    // A runner that lists the tests before it runs them learns here that this one cannot run.
    let is_ignored = args.list && python_with_vllm().is_err();
    let comparison = Trial::ignorable_test("names_compared_with_vllm", || match python_with_vllm() {
        Ok(python) => compare(&python),
        Err(reason) => Ok(Completion::ignored_with(reason)),
    });
    let written = Trial::ignorable_test("names_that_calibrate_writes_in_vllm", || {
        python_with_vllm()
            .map_or_else(|reason| Ok(Completion::ignored_with(reason)), |python| written(&python))
    });
    let tests = vec![
        comparison.with_ignored_flag(is_ignored),
        written.with_ignored_flag(is_ignored),
        Trial::test("parameters_are_read_as_themselves", parameters_are_read_as_themselves),
        Trial::test("docs_have_the_differences", docs_have_the_differences),
        Trial::test("docs_have_what_the_grammar_reads", docs_have_what_the_grammar_reads),
    ];
    libtest_mimic::run(&args, tests).exit_code()
}

/// The interpreter, or why the comparison cannot run.
fn python_with_vllm() -> Result<String, String> {
    let python = env::var("GAUDI_KV_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let output = Command::new(&python)
        .args(["-c", "import vllm; print(vllm.__version__)"])
        .output()
        .map_err(|e| format!("{python} does not run: {e}"))?;
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        let last = error.lines().last().unwrap_or("no message");
        return Err(format!("{python} cannot import vllm: {last}"));
    }
    let printed = String::from_utf8_lossy(&output.stdout);
    let version = printed.lines().last().unwrap_or_default();
    if version == VLLM_VERSION {
        Ok(python)
    } else {
        Err(format!("{python} has vLLM {version}, the differences are those of {VLLM_VERSION}"))
    }
}

fn ask_vllm(python: &str, cases: &[Case]) -> Result<Answers, Failed> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/vllm_names.py");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()?;
    let mut stdin = child.stdin.take().ok_or("no stdin")?;
    // The script reads all of it before it writes anything.
    stdin.write_all(&serde_json::to_vec(cases)?)?;
    drop(stdin);
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("the script ended with {}", output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn compare(python: &str) -> Result<Completion, Failed> {
    let cases = cases();
    let answers = ask_vllm(python, &cases)?;
    if answers.version != VLLM_VERSION || answers.results.len() != cases.len() {
        return Err(format!("{} answers from vLLM {}", answers.results.len(), answers.version).into());
    }
    let mut uses = vec![0_usize; DIFFERENCES.len()];
    let mut faults = BTreeSet::new();
    let (mut same, mut neither) = (0_usize, 0_usize);
    for (case, answer) in cases.iter().zip(&answers.results) {
        let (in_vllm, ours) = (answer.describe(case), ours(&case.name, case.is_mla));
        let differs = in_vllm != ours && (is_parameter(&in_vllm) || is_parameter(&ours));
        let rows: Vec<_> = DIFFERENCES
            .iter()
            .enumerate()
            .filter_map(|(i, row)| Some((i, row.expected(case)?)))
            .inspect(|(i, _)| uses[*i] += 1)
            .collect();
        let fault = match rows.as_slice() {
            [] if !differs => {
                *(if is_parameter(&ours) { &mut same } else { &mut neither }) += 1;
                continue;
            }
            [(_, expected)] if differs && *expected == (in_vllm.clone(), ours.clone()) => continue,
            [] => "in no row",
            [_] if !differs => "no difference, but in a row",
            [_] => "not as its row says",
            _ => "in several rows",
        };
        let kind = if case.is_mla { "MLA" } else { "MHA" };
        let example = format!(
            "{fault}: {} ({kind}, {}, {}, {}): vLLM {in_vllm}, gaudi-kv {ours}",
            case.name,
            case.quant_method,
            case.route.name(),
            case.model.unwrap_or("any model"),
        );
        faults.insert(example);
    }
    let stale = print_rows(&uses);
    let names: BTreeSet<_> = cases.iter().map(|case| &case.name).collect();
    let explained = uses.iter().sum::<usize>();
    println!(
        "{} names, {} comparisons: {same} go to the same parameter, {neither} to none, {explained} differ on purpose",
        names.len(),
        cases.len()
    );
    let count = stale.len() + faults.len();
    if count == 0 {
        return Ok(Completion::Completed);
    }
    let shown: Vec<_> = stale.into_iter().chain(faults).take(40).collect();
    Err(format!("{count} faults, among them:\n{}", shown.join("\n")).into())
}

/// Prints how often each row of the table was needed, and returns a fault for each that no name needs.
fn print_rows(uses: &[usize]) -> Vec<String> {
    println!("differences from vLLM {VLLM_VERSION}:");
    let mut stale = Vec::new();
    for (row, uses) in DIFFERENCES.iter().zip(uses) {
        println!("{uses:>6} {}", row.markdown());
        if *uses == 0 {
            stale.push(format!("row of no name: {}", row.markdown()));
        }
    }
    stale
}

/// Calibrates both models and asks where their new tensors go: those of a GQA model into its parameters. Of an MLA layer
/// vLLM loads no spelling where a model uses its loader, as `docs/names.md` has it; if that changes, this test says so.
fn written(python: &str) -> Result<Completion, Failed> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut cases = Vec::new();
    for (model, is_mla) in [("tiny-gqa", false), ("tiny-mla", true)] {
        let (folder, out) = (ModelFolder::open(&data.join(model))?, tempfile::tempdir()?);
        let activations = data.join(format!("activations-{model}.safetensors"));
        let request = Request {
            device: Generation::Gaudi2,
            strategy: Strategy::Tensor,
            settings: Settings { method: Method::Amax, percentile: 99.99, margin: 1.0 },
        };
        let calibration = calibrate(&folder, Source::Activations(&activations), &request, &|_| ())?;
        let destination = &out.path().join("out");
        let options =
            WriteOptions { destination, carry: Carry::Copy, replace: false, force: false, sync: false };
        write(&folder, &calibration, &options, &|_| ())?;
        let bytes = fs::read(destination.join("model-kv-scales.safetensors"))?;
        for name in safetensors::SafeTensors::deserialize(&bytes)?.names() {
            let place = PLACES.iter().find(|place| name.starts_with(&format!("{}.", place.attention)));
            // Layers are alike; those after the first are not among the places.
            let Some(place) = place else { continue };
            cases.extend(Route::ALL.map(|route| Case {
                name: name.to_owned(),
                quant_method: "compressed-tensors",
                route,
                is_mla,
                attention: place.in_vllm,
                model: None,
                times: 1,
                in_checkpoint: place.attention,
            }));
        }
    }
    if cases.len() != 12 {
        return Err(format!("{} cases, not 2 names of 2 models by 3 routes", cases.len()).into());
    }
    for (case, answer) in cases.iter().zip(ask_vllm(python, &cases)?.results) {
        let role = &case.name[case.in_checkpoint.len()..];
        let expected = if case.is_mla {
            NOT_LOADED.to_owned()
        } else {
            format!("{}.{}{role}", case.in_checkpoint, inner(false))
        };
        let in_vllm = answer.describe(case);
        if in_vllm != expected {
            return Err(format!("{} ({}): {in_vllm}, not {expected}", case.name, case.route.name()).into());
        }
    }
    Ok(Completion::Completed)
}

/// A parameter's own name gives that parameter, so reading twice changes nothing.
fn parameters_are_read_as_themselves() -> Result<(), Failed> {
    for case in cases() {
        if let NameClass::Scale(scale) = classify(&case.name) {
            let runtime = scale.runtime(case.is_mla);
            let again = ours(&runtime, case.is_mla);
            if again != runtime {
                return Err(format!("{} gives {runtime}, and that gives {again}", case.name).into());
            }
        }
    }
    Ok(())
}

/// The rows of the table below a heading of `docs/names.md`, as lines.
fn docs_table(heading: &str) -> Result<Vec<String>, Failed> {
    let docs = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/names.md"))?;
    let mut lines = docs.lines().skip_while(|line| line.trim_start_matches('#').trim() != heading);
    lines.next().ok_or_else(|| format!("no heading '{heading}'"))?;
    let rows = lines.take_while(|line| !line.starts_with('#')).filter(|line| line.starts_with("| `"));
    Ok(rows.map(str::to_owned).collect())
}

fn docs_have_the_differences() -> Result<(), Failed> {
    let docs = docs_table(&format!("Where gaudi-kv differs from vLLM {VLLM_VERSION}, and why"))?;
    let expected: Vec<_> = DIFFERENCES.iter().map(Difference::markdown).collect();
    if docs == expected {
        return Ok(());
    }
    Err(format!("docs/names.md should have these rows:\n{}", expected.join("\n")).into())
}

/// The cells of a table's row, without the marks of code.
fn cells(row: &str) -> Vec<String> {
    row.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect()
}

fn docs_have_what_the_grammar_reads() -> Result<(), Failed> {
    let attention = "model.layers.7.self_attn";
    let mut faults = Vec::new();
    let mut check = |name: String, found: String, expected: String| {
        if found != expected {
            faults.push(format!("{name}: {found}, not {expected}"));
        }
    };
    let accepted = docs_table("Accepted spellings")?;
    let refused = docs_table("Refused spellings")?;
    let places = docs_table("Places")?;
    if [&accepted, &refused, &places].iter().any(|rows| rows.is_empty()) {
        return Err("a table of docs/names.md is empty".into());
    }
    for row in accepted {
        let cells = cells(&row);
        for (letter, name) in expand(&cells[0].replace("<attention>", attention)) {
            for is_mla in [false, true] {
                let parameter = with_letter(&cells[2], letter)
                    .replace("<attention>", attention)
                    .replace("<inner>", inner(is_mla));
                check(name.clone(), ours(&name, is_mla), parameter);
            }
        }
    }
    for row in refused {
        let cells = cells(&row);
        for (_, name) in expand(&cells[0].replace("<attention>", attention)) {
            let found = match classify(&name) {
                NameClass::Refused(Refusal::CrossedLetters) => "crossed letters",
                NameClass::Refused(Refusal::Ambiguous) => "ambiguous",
                NameClass::Refused(Refusal::Int8) => "int8",
                NameClass::Refused(Refusal::Nvfp4) => "NVFP4",
                NameClass::Refused(Refusal::Projection) => "projection",
                NameClass::Refused(Refusal::Amax) => "amax",
                NameClass::Refused(Refusal::UnknownPlace) => "unknown place",
                NameClass::ZeroPoint(_) => "zero point",
                NameClass::OtherRole => "another role",
                NameClass::CrossAttention(_) => "cross attention",
                NameClass::Other => "no KV scale",
                NameClass::Scale(_) => "accepted",
            };
            check(name, found.to_owned(), cells[1].clone());
        }
    }
    for row in places {
        let cells = cells(&row);
        let name = format!("{}.k_scale", cells[0]);
        let found = match classify(&name) {
            NameClass::Scale(scale) => match scale.layer {
                LayerIndex::Model(number) => format!("layer {number}"),
                LayerIndex::Draft(number) => format!("draft layer {number}"),
            },
            NameClass::Refused(_) => "refused".to_owned(),
            _ => "no KV cache".to_owned(),
        };
        check(name, found, cells[2].clone());
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n").into()) }
}

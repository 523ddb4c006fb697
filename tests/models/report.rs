//! The HTML page of `gaudi-kv inspect --report`, and the text that the command prints beside it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use gaudi_kv::checkpoint::FindingCode;
use safetensors::tensor::{Dtype, TensorView};
use serde_json::Value;

use crate::names::MODELS;

struct Report {
    page: String,
    json: Value,
    text: String,
    exit_code: Option<i32>,
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn inspect(model: &Path, options: &[&str]) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    let run = |more: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_gaudi-kv"))
            .args(["inspect", "--device", "gaudi2"])
            .arg(model)
            .args(options)
            .args(more)
            .env_remove("VLLM_SCALE_ADJUSTMENT")
            .output()
            .unwrap()
    };
    let output = run(&["--json", "--report", file.to_str().unwrap()]);
    Report {
        page: std::fs::read_to_string(&file).unwrap(),
        json: serde_json::from_slice(&output.stdout).unwrap(),
        text: String::from_utf8(run(&[]).stdout).unwrap(),
        exit_code: output.status.code(),
    }
}

/// Every model of `tests/data`, with what it is inspected with.
fn reports() -> impl Iterator<Item = (String, Report)> {
    MODELS.into_iter().map(|name| (name.to_owned(), inspect(&data(name), &["--verify-weights"])))
}

/// A model of three layers with what goes wrong in it, in a folder and with tensors whose names are markup.
fn hostile_model(root: &Path) -> PathBuf {
    let folder = root.join("<script>&\"x");
    std::fs::create_dir(&folder).unwrap();
    std::fs::copy(data("llmc-gqa-kv").join("config.json"), folder.join("config.json")).unwrap();
    let [good, nan] = [0.02_f32, f32::NAN].map(|x| x.to_le_bytes());
    let tensors: Vec<(String, &[u8])> = vec![
        ("model.layers.0.self_attn.k_scale".into(), &good),
        ("model.layers.1.self_attn.k_scale".into(), &nan),
        ("model.<script>alert(1)&\"</script>\u{1b}[2J.layers.2.self_attn.k_scale".into(), &good),
    ];
    let views =
        tensors.iter().map(|(name, bytes)| (name, TensorView::new(Dtype::F32, vec![1], bytes).unwrap()));
    std::fs::write(folder.join("model.safetensors"), safetensors::serialize(views, None).unwrap()).unwrap();
    folder
}

#[derive(Debug, Clone)]
struct Element {
    name: String,
    attributes: Vec<(String, String)>,
    /// The classes of the elements around it and its own.
    classes: Vec<String>,
}

impl Element {
    fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    fn has_class(&self, class: &str) -> bool {
        self.classes.iter().any(|other| other == class)
    }
}

/// Reads a page strictly: every tag that opens is closed in order, every attribute is quoted, every `&` is an entity.
fn elements(page: &str) -> Vec<Element> {
    let mut rest = page.strip_prefix("<!DOCTYPE html>").expect("no doctype");
    let mut open: Vec<Element> = Vec::new();
    let mut all = Vec::new();
    while let Some(start) = rest.find('<') {
        let is_style = open.last().is_some_and(|element| element.name == "style");
        assert!(is_style || !rest[..start].contains('>'), "stray > in {}", &rest[..start]);
        check_entities(&rest[..start]);
        rest = &rest[start + 1..];
        if let Some(closing) = rest.strip_prefix('/') {
            let (name, after) = closing.split_once('>').unwrap();
            assert_eq!(open.pop().expect("closes nothing").name, name);
            rest = after;
            continue;
        }
        let end = rest.find([' ', '>']).unwrap();
        let name = &rest[..end];
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric()), "{name:?}");
        rest = &rest[end..];
        let mut attributes = Vec::new();
        while let Some(attribute) = rest.strip_prefix(' ') {
            let (key, value) = attribute.split_once("=\"").unwrap();
            assert!(key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "{key:?}");
            let (value, after) = value.split_once('"').unwrap();
            check_entities(value);
            attributes.push((key.to_owned(), value.to_owned()));
            rest = after;
        }
        rest = rest.strip_prefix('>').expect("a tag that does not end");
        let mut classes = open.last().map(|parent| parent.classes.clone()).unwrap_or_default();
        for (_, value) in attributes.iter().filter(|(key, _)| key == "class") {
            classes.extend(value.split_whitespace().map(ToOwned::to_owned));
        }
        let element = Element { name: name.to_owned(), attributes, classes };
        if name != "meta" {
            open.push(element.clone());
        }
        all.push(element);
    }
    assert!(open.is_empty(), "left open: {open:?}");
    all
}

fn check_entities(text: &str) {
    for (at, _) in text.match_indices('&') {
        assert!(["&amp;", "&lt;", "&gt;", "&quot;"].iter().any(|e| text[at..].starts_with(e)), "{text}");
    }
}

fn unescaped(page: &str) -> String {
    page.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

fn assert_self_contained(page: &str) {
    assert!(page.contains("content=\"default-src 'none'; style-src 'unsafe-inline'\""));
    assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("url("));
    assert!(!page.contains("@import") && !page.contains("@font-face"));
    for element in elements(page) {
        assert!(
            !["script", "link", "img", "image", "iframe", "object", "use", "a", "base"]
                .contains(&element.name.as_str()),
            "{element:?}"
        );
        for (key, _) in &element.attributes {
            let is_allowed = !key.starts_with("on")
                && !["src", "href", "style", "action", "srcdoc"].contains(&key.as_str());
            assert!(is_allowed, "{element:?}");
        }
    }
}

/// The values of one scale in the order in which they are plotted: all checkpoint values, then all dequants.
fn plotted<'a>(json: &'a Value, scale: &str) -> Vec<&'a Value> {
    let layers = json["layers"].as_array().unwrap();
    ["checkpoint", "dequant"]
        .into_iter()
        .flat_map(|kind| layers.iter().map(move |layer| &layer[scale][kind]))
        .filter(|value| !value.is_null())
        .collect()
}

#[test]
fn pages_are_well_formed_and_self_contained() {
    for (name, report) in reports() {
        assert_self_contained(&report.page);
        let elements = elements(&report.page);
        let count = |name: &str| elements.iter().filter(|element| element.name == name).count();
        assert_eq!(
            (count("html"), count("h1"), count("main"), count("title")),
            (1, 1, 1, 1 + plot_titles(&report))
        );
        assert_eq!(elements[0].attribute("lang"), Some("en"), "{name}");
        assert!(elements.iter().filter(|e| e.name == "th").all(|e| e.attribute("scope").is_some()));
        for svg in elements.iter().filter(|element| element.name == "svg") {
            assert!(svg.attribute("role") == Some("img") || svg.attribute("aria-hidden") == Some("true"));
        }
    }
}

/// The titles inside the plot: one of its own, one a point, one a letter.
fn plot_titles(report: &Report) -> usize {
    let elements = elements(&report.page);
    let points = elements.iter().filter(|e| e.name == "g" && own_class(e, "point")).count();
    let letters = elements.iter().filter(|e| e.name == "text" && own_class(e, "letter")).count();
    let plots = elements.iter().filter(|e| e.attribute("role") == Some("img")).count();
    points + letters + plots
}

fn own_class(element: &Element, class: &str) -> bool {
    element.attribute("class").is_some_and(|classes| classes.split(' ').any(|own| own == class))
}

#[test]
fn every_scale_is_plotted_once() {
    for (name, report) in reports() {
        let elements = elements(&report.page);
        for scale in ["k", "v", "q"] {
            let points = elements
                .iter()
                .filter(|e| own_class(e, "point") && e.has_class("panel") && e.has_class(scale));
            assert_eq!(points.count(), plotted(&report.json, scale).len(), "{name} {scale}");
        }
        let ranges = elements.iter().filter(|e| own_class(e, "range") && e.has_class("point")).count();
        let per_head = ["k", "v", "q"]
            .into_iter()
            .flat_map(|scale| plotted(&report.json, scale))
            .filter(|value| value.is_array())
            .count();
        assert_eq!(ranges, per_head, "{name}");
    }
}

#[test]
fn points_lie_on_a_logarithmic_axis_in_the_order_of_the_layers() {
    let report = inspect(&data("autoround-gqa"), &[]);
    let circles: Vec<(f64, f64)> = elements(&report.page)
        .iter()
        .filter(|e| e.name == "circle" && e.has_class("point") && e.has_class("k"))
        .map(|e| ["cx", "cy"].map(|key| e.attribute(key).unwrap().parse().unwrap()))
        .map(|[x, y]| (x, y))
        .collect();
    let logs: Vec<f64> =
        plotted(&report.json, "k").iter().map(|value| value.as_f64().unwrap().log10()).collect();
    assert_eq!((circles.len(), logs.len()), (6, 6));
    // Layers 0 and 1 fix the axis; larger is higher.
    let slope = (circles[1].1 - circles[0].1) / (logs[1] - logs[0]);
    assert!(slope < 0.0);
    for ((_, y), log) in circles.iter().zip(&logs) {
        assert!((y - (circles[0].1 + slope * (log - logs[0]))).abs() < 1.0, "{circles:?} {logs:?}");
    }
    let across: Vec<f64> = circles.iter().map(|(x, _)| *x).collect();
    assert!(across[0] < across[1] && across[1] < across[2] && across[..3] == across[3..]);
}

#[test]
fn findings_are_explained() {
    let root = tempfile::tempdir().unwrap();
    let hostile = ("hostile".to_owned(), inspect(&hostile_model(root.path()), &[]));
    for (name, report) in reports().chain([hostile]) {
        let text = unescaped(&report.page);
        let findings = ["errors", "warnings", "notes"].map(|kind| report.json[kind].as_array().unwrap());
        let codes: BTreeSet<&str> =
            findings.into_iter().flatten().map(|finding| finding["code"].as_str().unwrap()).collect();
        for code in codes {
            let code = FindingCode::ALL.iter().find(|other| other.as_str() == code).unwrap();
            assert!(text.contains(code.meaning()) && text.contains(code.remedy()), "{name} {code}");
        }
        for finding in findings.into_iter().flatten() {
            let message = finding["message"].as_str().unwrap().replace('\u{1b}', "\\u{1b}");
            assert!(text.contains(&message), "{name}: {message}");
        }
        let verdict = match findings.map(Vec::len) {
            [0, 0, _] => "Fine: nothing to do".to_owned(),
            [0, 1, _] => "1 warning: the model runs".to_owned(),
            [0, warnings, _] => format!("{warnings} warnings: the model runs"),
            [1, ..] => "1 error: the model cannot be run as asked".to_owned(),
            [errors, ..] => format!("{errors} errors: the model cannot be run as asked"),
        };
        assert!(text.contains(&verdict), "{name}: {verdict}");
        assert!(text.contains(&format!("Exit code {}.", report.exit_code.unwrap())), "{name}");
    }
}

#[test]
fn the_decision_is_stated_with_its_numbers() {
    let adjusted = inspect(&data("autoround-mla"), &[]).page;
    assert!(adjusted.contains("448 → 240") && adjusted.contains("448/240 = 1.867"));
    let labelled = inspect(&data("autoround-mla-gaudi2"), &[]).page;
    assert!(labelled.contains("240 → 240") && labelled.contains("applied as stored"));
    let wrong = inspect(&data("autoround-mla-mislabelled"), &["--verify-weights"]);
    assert!(wrong.page.contains("flavor-contradicts-weights"));
    for tensor in wrong.json["weights"]["offending"].as_array().unwrap() {
        assert!(wrong.page.contains(tensor["tensor"].as_str().unwrap()));
    }
    for (name, report) in reports() {
        let reason = report.json["scale_adjustment"]["reason"].as_str().unwrap();
        assert!(report.page.contains(reason), "{name}");
    }
}

#[test]
fn every_layer_is_in_the_table() {
    for (name, report) in reports() {
        let bodies =
            elements(&report.page).iter().filter(|e| e.attribute("scope") == Some("rowgroup")).count();
        let is_fp8 = report.json["kv_cache_dtype"] == "fp8";
        let expected = if is_fp8 { report.json["layers"].as_array().unwrap().len() } else { 0 };
        assert_eq!(bodies, expected, "{name}");
        for scale in ["k", "v", "q"] {
            for value in plotted(&report.json, scale).into_iter().filter(|value| value.is_number()) {
                let number = value.as_f64().unwrap() as f32;
                assert!(
                    report.page.contains(&format!("<td class=\"number\">{number}</td>")),
                    "{name} {number}"
                );
            }
        }
    }
}

#[test]
fn a_bf16_cache_has_no_plot_and_nothing_to_adjust() {
    let report = inspect(&data("tiny-gqa"), &[]);
    assert!(report.page.contains("there is nothing to plot") && !report.page.contains("<svg"));
    assert!(report.page.contains("Nothing to adjust: the cache is bf16"));
    assert!(report.text.contains("nothing to apply it to: the cache is bf16"), "{}", report.text);
    assert!(!report.text.contains("k checkpoint"), "{}", report.text);
}

#[test]
fn names_from_a_checkpoint_stay_text() {
    let root = tempfile::tempdir().unwrap();
    let report = inspect(&hostile_model(root.path()), &[]);
    assert_self_contained(&report.page);
    assert!(report.page.contains("<h1>&lt;script&gt;&amp;&quot;x</h1>"));
    assert!(
        report.page.contains("model.&lt;script&gt;alert(1)&amp;&quot;&lt;/script&gt;\\u{1b}[2J.layers.2")
    );
    assert!(!report.page.contains('\u{1b}') && !report.text.contains('\u{1b}'));
    // An unusable scale and a missing one are marked below their layers, and the default is plotted.
    let elements = elements(&report.page);
    let letters = |class: &str| {
        elements.iter().filter(|e| e.name == "text" && own_class(e, "letter") && own_class(e, class)).count()
    };
    assert_eq!((letters("error"), letters("warn")), (2, 2), "k and v of layer 1, k and v of layer 2");
}

#[test]
fn the_command_can_be_run_again() {
    let page = unescaped(&inspect(&data("llmc-gqa-kv"), &["--q-missing", "one"]).page);
    let (_, command) = page.split_once("<code>gaudi-kv inspect ").unwrap();
    let (command, _) = command.split_once("</code>").unwrap();
    assert!(command.contains("--device gaudi2") && command.contains("--q-missing one"), "{command}");
    assert!(page.contains(&format!("Written by gaudi-kv {}", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn piped_text_is_aligned_plain_and_short() {
    let text = inspect(&data("llmc-gqa-head"), &[]).text;
    assert!(text.is_ascii(), "{text}");
    let rows: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.starts_with("layer"))
        .take_while(|line| !line.is_empty())
        .collect();
    assert_eq!(rows.len(), 4);
    let column = rows[0].find("v checkpoint").unwrap();
    for row in &rows[1..] {
        assert_eq!(row.split_whitespace().count(), 12, "{row}");
        assert!(row.as_bytes()[column - 1] == b' ' && row.as_bytes()[column].is_ascii_digit(), "{row}");
    }
    assert!(rows.iter().all(|row| row.len() <= 170), "{text}");
}

//! What is printed: JSON, page, text.

use serde_json::Value;

use crate::check::support::{self, GQA, activations, check, data, run};
use crate::check::{VARIANTS, layers};

#[test]
fn the_json_is_the_inspection_with_one_more_key() {
    let model = data("llmc-gqa-kv");
    let (found, mut json) = check("llmc-gqa-kv", &["--device", "gaudi2"]);
    json.as_object_mut().unwrap().remove("check");
    let inspected = run("inspect", &model, &["--device", "gaudi2", "--json"]);
    assert_eq!(json, serde_json::from_slice::<Value>(&inspected.stdout).unwrap());
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let sorted = |names: &[&str]| {
        let mut names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        names.sort();
        names
    };
    let object = ["activations", "mode", "layers", "skipped", "warnings", "notes", "verdict"];
    assert_eq!(keys(&found), sorted(&object));
    assert_eq!((found["activations"].as_str(), found["mode"].as_str()), (Some("file"), Some("exact")));
    for layer in layers(&found) {
        assert_eq!(keys(layer), sorted(&["layer", "kv_cache_dtype", "tokens", "prefill", "decode", "cache"]));
        assert_eq!(layer["tokens"], 256);
        for stage in ["prefill", "decode"] {
            assert_eq!(keys(&layer[stage]), sorted(&VARIANTS));
            for variant in VARIANTS {
                let errors = &layer[stage][variant];
                assert_eq!(keys(errors), sorted(&["max_abs_error", "rel_l2_error", "cosine", "digest"]));
                assert_eq!(errors["digest"].as_str().unwrap().len(), 16);
            }
        }
        let cache = ["saturated", "flushed_to_zero", "elements", "digest", "parts"];
        assert_eq!(keys(&layer["cache"]), sorted(&cache));
        assert_eq!(layer["cache"]["elements"], 2 * 256 * 64);
    }
    // No path of this machine, wherever the model lies.
    assert!(!found.to_string().contains(model.to_str().unwrap()));
}

#[test]
fn the_page_has_every_error_and_needs_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    for (model, parts) in [("llmc-gqa-head", 2), ("llmc-mla-kv", 2), ("tiny-gqa", 0)] {
        let (found, _) = check(model, &["--device", "gaudi2", "--report", page.to_str().unwrap()]);
        let page = std::fs::read_to_string(&page).unwrap();
        for forbidden in
            ["<script", "http://", "https://", "<img", "<link", "url(", " href", " src", " style=\""]
        {
            assert!(!page.contains(forbidden), "{model} {forbidden}");
        }
        assert!(page.contains("default-src 'none'; style-src 'unsafe-inline'"));
        // A mark for each layer, variant and stage; a digest for each layer and variant; a panel for each part.
        assert_eq!(page.matches("class=\"point dequant\"").count(), 3 * 4 * 2, "{model}");
        assert_eq!(page.matches("class=\"panel codes\"").count(), parts, "{model}");
        for layer in layers(&found) {
            for variant in VARIANTS {
                assert!(page.contains(layer["decode"][variant]["digest"].as_str().unwrap()));
            }
        }
        let verdict = found["verdict"].as_str().unwrap();
        assert!(page.contains(&format!("<p class=\"words\">{verdict}</p>")), "{model}");
        support::assert_well_formed(&page);
    }
}

#[test]
fn the_text_has_a_row_for_each_layer_and_the_verdict() {
    let file = activations(GQA);
    let options = ["--device", "gaudi2", "--activations", file.to_str().unwrap()];
    let text = String::from_utf8(run("check", &data("llmc-gqa-kv"), &options).stdout).unwrap();
    let rows: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.starts_with("layer"))
        .take_while(|line| !line.is_empty())
        .collect();
    assert_eq!(rows.len(), 4, "{text}");
    assert!(rows[1..].iter().all(|row| row.split_whitespace().count() == 9), "{text}");
    assert!(text.is_ascii() && text.lines().last().unwrap().starts_with("verdict fine: "), "{text}");
    assert!(text.contains("activations    from the file given, 256 tokens"), "{text}");
    let text = String::from_utf8(run("check", &data("llmc-gqa-kv"), &["--mode", "fast"]).stdout).unwrap();
    assert!(text.contains("activations    synthetic, 160 tokens; fast arithmetic"), "{text}");
}

//! How a report came about, so that it can be made again.

use gaudi_kv::Generation;
use gaudi_kv::scales::SCALE_ADJUSTMENT_ENV;

/// A run of the program.
#[derive(Debug, Clone)]
pub(in crate::cli) struct Run {
    /// A shell command that does the same anywhere.
    pub(super) command: String,
    /// Whether warnings count as errors.
    pub(super) is_strict: bool,
}

impl Run {
    /// This process. The device is named even where it was left to the program, which asks the machine.
    pub(in crate::cli) fn of_this_process(device: Generation, is_strict: bool) -> Self {
        let mut arguments: Vec<String> =
            std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
        let names_device = |argument: &String| argument == "--device" || argument.starts_with("--device=");
        if !arguments.iter().any(names_device) {
            arguments.extend(["--device".to_owned(), device.to_string()]);
        }
        let mut words = vec!["gaudi-kv".to_owned()];
        words.extend(arguments.iter().map(|argument| quoted(argument)));
        if let Some(value) = std::env::var_os(SCALE_ADJUSTMENT_ENV) {
            words.insert(0, format!("{SCALE_ADJUSTMENT_ENV}={}", quoted(&value.to_string_lossy())));
        }
        Self { command: words.join(" "), is_strict }
    }
}

/// A word as a POSIX shell reads it back.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_survive_a_shell() {
        for word in ["plain/path-1.html", "", "a b", "it's", "$HOME; rm *", "a\"b"] {
            let script = format!("printf %s {}", quoted(word));
            let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), word);
        }
    }
}

//! The command lines of the examples: flags that each take a value, and `--help`.

use std::{collections::HashMap, fmt::Write, process::exit};

/// A flag: its name, what it takes, what it is for.
pub(crate) type Flag = (&'static str, &'static str, &'static str);

/// The flag that all examples have.
pub(crate) const CLI: Flag = ("--cli", "PATH", "have this agent do it, such as bowline or claude");

/// Reads the command line: the value of each flag. Anything but these flags ends the program.
#[expect(clippy::print_stderr, reason = "an invalid command line is reported")]
pub(crate) fn read(about: &str, flags: &[Flag]) -> HashMap<&'static str, String> {
    match values(flags, std::env::args().skip(1)) {
        Ok(Some(values)) => values,
        Ok(None) => {
            println!("{}", help(about, flags));
            exit(0)
        }
        Err(problem) => {
            eprintln!("{problem}\n\n{}", help(about, flags));
            exit(2)
        }
    }
}

/// The value of each flag; `None` if help is wanted.
fn values(
    flags: &[Flag],
    mut words: impl Iterator<Item = String>,
) -> Result<Option<HashMap<&'static str, String>>, String> {
    let mut values = HashMap::new();
    while let Some(word) = words.next() {
        if matches!(word.as_str(), "-h" | "--help") {
            return Ok(None);
        }
        let Some((name, takes, _)) = flags.iter().find(|(name, ..)| *name == word) else {
            return Err(format!("`{word}` is nothing this example knows"));
        };
        let value = words.next().ok_or_else(|| format!("`{name}` needs a value: {takes}"))?;
        values.insert(*name, value);
    }
    Ok(Some(values))
}

fn help(about: &str, flags: &[Flag]) -> String {
    let mut help = format!("{about}\n\nWithout flags it runs offline, with a scripted model.\n");
    for (name, takes, what) in flags {
        let flag = format!("{name} {takes}");
        write!(help, "\n  {flag:<18} {what}").expect("a text can grow");
    }
    help
}

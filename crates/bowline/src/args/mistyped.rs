//! Detection of mistyped commands: a single word that is nearly a command is not a prompt.

use clap::CommandFactory;

use super::{Args, UsageError, error::unknown_command};

/// The most letters in which a mistyped command differs from the one that was meant.
const MOST_MISTAKES: usize = 2;

/// Refuses a single word that is nearly a command. `-p` makes it a prompt.
pub(super) fn check(word: &str) -> Result<(), UsageError> {
    let mut program = Args::command();
    if word == "help" {
        return Err(UsageError::Help(program.render_long_help().to_string()));
    }
    let commands = program.get_subcommands().map(|command| command.get_name());
    let near = commands.map(|name| (distance(word, name), name)).min();
    match near {
        Some((1..=MOST_MISTAKES, name)) if word.len() > MOST_MISTAKES + 1 => {
            let unknown = unknown_command(word, Some(name));
            Err(UsageError::Bad(format!("{unknown}\n(As a prompt: bowline -p {word})")))
        }
        _ => Ok(()),
    }
}

/// Edit distance: letters that must be inserted, removed or replaced.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, letter) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, same) in other.iter().map(|&it| it == letter).enumerate() {
            let replaced = diagonal + usize::from(!same);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_distance_counts_insertions_removals_and_replacements() {
        for (one, other, expected) in [
            ("doctor", "doctor", 0),
            ("doctr", "doctor", 1),
            ("docter", "doctor", 1),
            ("dotcor", "doctor", 2),
            ("", "rpc", 3),
            ("hello", "man", 5),
        ] {
            assert_eq!(distance(one, other), expected, "{one} {other}");
            assert_eq!(distance(other, one), expected, "{other} {one}");
        }
    }

    #[test]
    fn near_miss_of_a_command_is_refused() {
        let Err(UsageError::Bad(text)) = Args::read(["bowline", "doctr"]).map(drop) else {
            panic!("a mistyped command is refused");
        };
        let expected = "error: unknown command 'doctr'\n(Did you mean doctor?)\n\
                        (As a prompt: bowline -p doctr)";
        assert_eq!(text, expected);
        assert!(matches!(Args::read(["bowline", "help"]), Err(UsageError::Help(_))));
        for line in [&["bowline", "-p", "doctr"][..], &["bowline", "hello"], &["bowline", "mad"]] {
            assert!(Args::read(line).is_ok(), "{line:?}");
        }
    }
}

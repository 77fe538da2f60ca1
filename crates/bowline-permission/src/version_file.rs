//! Files by which a project chooses the program that a version manager runs.
//!
//! `cargo --version` is a shim of rustup's, and a `rust-toolchain.toml` may name a program of the project's;
//! `yarn` runs what `.yarnrc.yml` names.

use bowline_shell::Command;

use super::shell_state::ShellState;

/// The files that decide about a program, and the word in them that names another one.
fn files(program: &str) -> &'static [(&'static str, &'static str)] {
    match program {
        "cargo" | "rustc" | "rustup" => {
            &[("rust-toolchain.toml", "path"), ("rust-toolchain", "path")]
        }
        "yarn" => &[
            (".yarnrc.yml", "yarnPath"),
            (".yarnrc", "yarn-path"),
            ("package.json", "packageManager"),
        ],
        "pnpm" => &[("package.json", "packageManager")],
        _ => &[],
    }
}

/// Whether a version request (`--version`) would run a program that the project names, in some directory where
/// the command may run or above.
pub(super) fn decides(command: &Command, shell: &ShellState<'_>) -> bool {
    if !command.asks_version() {
        return false;
    }
    let innermost = command.unwrapped().pop();
    let files = innermost.as_ref().and_then(Command::name).map_or(&[][..], files);
    if files.is_empty() {
        return false;
    }
    let Some(directories) = shell.directories() else { return true };
    directories.iter().flat_map(|directory| directory.ancestors()).any(|folder| {
        files.iter().any(|(name, word)| {
            let file = folder.join(name);
            match bowline_private::read_regular(&file) {
                Ok(text) => text.contains(word),
                // A file that is there and cannot be read may say anything.
                Err(_) => file.symlink_metadata().is_ok(),
            }
        })
    })
}

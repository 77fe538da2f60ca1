//! Confinement of a command, completed with what every command reads besides its arguments: its
//! programs, what their shell needs, and the user's own settings of `git`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use bowline_sandbox::{Confinement, Readable};
use bowline_shell::Script;

use super::ShellCommand;

/// Look-up of a variable that the command would see.
type Variables<'a> = &'a dyn Fn(&str) -> Option<String>;

/// How deep settings files may include each other; deeper ones stay unreadable.
const MAX_DEPTH: usize = 4;
/// Larger than any real settings file.
const MAX_BYTES: u64 = 1024 * 1024;

/// The confinement of a command that was judged to need no more than `judged`.
pub(crate) fn complete_confinement(
    judged: &Confinement,
    command: &ShellCommand,
    variable: Variables<'_>,
) -> Confinement {
    let mut confinement = judged.clone();
    if command.scripts.iter().any(|script| !only_sets_variables(script)) {
        // They set up the user's tools, from wherever those are.
        confinement.readable = Readable::Everything;
    }
    let home = variable("HOME").map(PathBuf::from);
    let path = variable("PATH").unwrap_or_default();
    confinement.run_from(&path, home.as_deref());
    let script = bowline_shell::parse(&command.command);
    let programs = named_programs(&script);
    confinement.executable.extend(programs.iter().filter_map(|name| real_program(name, &path)));
    for file in command.scripts.iter().chain(&command.profile) {
        confinement.read(file);
    }
    if let Some(file) = variable("BASH_ENV").filter(|file| !file.is_empty()) {
        confinement.read(file);
    }
    for path in own_settings(&programs, variable, home.as_deref()) {
        confinement.read(path);
    }
    confinement
}

fn named_programs(script: &Script) -> Vec<String> {
    let layers = script.commands.iter().flat_map(|command| command.layers().0);
    let mut names: Vec<_> =
        layers.filter_map(|command| command.name().map(str::to_owned)).collect();
    names.sort();
    names.dedup();
    names
}

/// The resolved path of a program: folders of programs are often full of links.
fn real_program(name: &str, path: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return None;
    }
    let mut folders = path.split(':').map(Path::new).filter(|folder| folder.is_absolute());
    let found = folders.find_map(|folder| fs::canonicalize(folder.join(name)).ok());
    found.filter(|program| program.is_file())
}

/// Whether a file does nothing but `export NAME=VALUE`, as those that hooks write mostly do. Another `PATH`
/// has programs that are not known here.
fn only_sets_variables(script: &Path) -> bool {
    let Ok(text) = fs::read_to_string(script) else { return true };
    let sets = |line: &str| {
        let line = line.strip_prefix("export ").unwrap_or(line);
        let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let name = line.split_once('=').map_or(line, |(name, _)| name);
        let is_plain = !line.contains("$(") && !line.contains(['`', ';', '&', '|', '<', '>']);
        name.chars().all(is_name) && name != "PATH" && is_plain
    };
    text.lines().map(str::trim).filter(|line| !line.starts_with('#')).all(sets)
}

/// The user's own settings of the programs that have some.
fn own_settings(programs: &[String], variable: Variables<'_>, home: Option<&Path>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let below_home = |path: &str| home.map(|home| home.join(path));
    for program in programs {
        match program.as_str() {
            "jq" => found.extend(below_home(".jq")),
            "fd" => found.extend(below_home(".config/fd")),
            "rg" => found.extend(variable("RIPGREP_CONFIG_PATH").map(PathBuf::from)),
            _ => {}
        }
        // Searches leave out what `git` ignores everywhere.
        if matches!(program.as_str(), "git" | "rg" | "fd") {
            found.extend(git_settings(variable, home));
        }
    }
    found.retain(|path| path.is_absolute());
    found
}

/// The user's own settings of `git`, with the files that they name.
fn git_settings(variable: Variables<'_>, home: Option<&Path>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let global = variable("GIT_CONFIG_GLOBAL").map(PathBuf::from);
    let folder = match variable("XDG_CONFIG_HOME").filter(|folder| !folder.is_empty()) {
        Some(folder) => Some(PathBuf::from(folder)),
        None => home.map(|home| home.join(".config")),
    };
    let folder = folder.map(|folder| folder.join("git"));
    let files = [global, home.map(|home| home.join(".gitconfig"))].into_iter().flatten();
    let config = folder.as_ref().map(|folder| folder.join("config"));
    for file in files.chain(config) {
        follow(&file, home, 0, &mut found);
    }
    found.extend(folder);
    found
}

/// Adds a settings file and those that it names.
fn follow(file: &Path, home: Option<&Path>, depth: usize, found: &mut Vec<PathBuf>) {
    let is_file = fs::metadata(file).is_ok_and(|it| it.is_file() && it.len() <= MAX_BYTES);
    if !is_file || depth > MAX_DEPTH || found.iter().any(|known| known == file) {
        return;
    }
    found.push(file.to_owned());
    for line in fs::read_to_string(file).unwrap_or_default().lines() {
        let Some((name, value)) = line.split_once('=') else { continue };
        let names_file = matches!(
            name.trim().to_ascii_lowercase().as_str(),
            "path" | "excludesfile" | "attributesfile" | "file"
        );
        let value = value.trim().trim_matches('"');
        if names_file && !value.is_empty() {
            let named = match (value.strip_prefix("~/"), home) {
                (Some(rest), Some(home)) => home.join(rest),
                _ => file.parent().unwrap_or(file).join(value),
            };
            follow(&named, home, depth + 1, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_only_set_variables_are_recognized() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("script");
        for (text, expected) in [
            ("export A=b\nB='c d'\n# . x\n\nexport C=$HOME/d", true),
            (". ~/.nvm/nvm.sh\n", false),
            ("nvm use 20\n", false),
            ("export A=$(date)\n", false),
            ("export PATH=\"/x:$PATH\"\n", false),
        ] {
            fs::write(&file, text).unwrap();
            assert_eq!(only_sets_variables(&file), expected, "{text}");
        }
    }

    #[test]
    fn git_settings_are_followed_to_included_files() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path();
        fs::create_dir(home.join("dots")).unwrap();
        fs::write(home.join(".gitconfig"), "[include]\n\tpath = ~/dots/git\n[x]\npath = dots\n")
            .unwrap();
        fs::write(
            home.join("dots/git"),
            "[core]\n excludesFile = \"ignored\"\n[include] path = git",
        )
        .unwrap();
        fs::write(home.join("dots/ignored"), "*.o").unwrap();
        let mut found = Vec::new();
        follow(&home.join(".gitconfig"), Some(home), 0, &mut found);
        assert_eq!(found, [".gitconfig", "dots/git", "dots/ignored"].map(|name| home.join(name)));
    }
}

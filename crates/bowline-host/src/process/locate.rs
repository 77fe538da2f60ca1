//! Search for the agent's program.

use std::{
    env,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use crate::Error;

/// Our own program, and then the official one.
const NAMES: [&str; 2] = ["bowline", "claude"];

/// Where installers put the official program, beside `PATH`; `~` is the user's folder.
const INSTALLED: [&str; 6] = [
    "~/.npm-global/bin/claude",
    "/usr/local/bin/claude",
    "~/.local/bin/claude",
    "~/node_modules/.bin/claude",
    "~/.yarn/bin/claude",
    "~/.claude/local/claude",
];

/// What the search depends on.
struct Surroundings {
    beside: Option<PathBuf>,
    path: Vec<PathBuf>,
    home: Option<PathBuf>,
}

/// Finds the program.
#[expect(
    clippy::disallowed_methods,
    reason = "the SDK reads the environment of the program it is part of, where its options leave it open"
)]
pub(super) fn locate(chosen: Option<&Path>) -> Result<PathBuf, Error> {
    let path = env::var_os("PATH").unwrap_or_default();
    let surroundings = Surroundings {
        beside: env::current_exe().ok().and_then(|exe| Some(exe.parent()?.to_owned())),
        path: env::split_paths(&path).filter(|folder| folder.is_absolute()).collect(),
        home: env::home_dir(),
    };
    let candidates = match chosen {
        // A bare name is looked for as a shell would.
        Some(name) if name.components().count() == 1 && !name.exists() => {
            surroundings.path.iter().map(|folder| folder.join(name)).collect()
        }
        Some(path) => vec![path.to_owned()],
        None => surroundings.candidates(),
    };
    match candidates.iter().find(|path| is_program(path)) {
        Some(path) => Ok(path.clone()),
        None => Err(Error::NotFound { searched: candidates }),
    }
}

impl Surroundings {
    fn candidates(&self) -> Vec<PathBuf> {
        let beside = self.beside.iter().map(|folder| folder.join(NAMES[0]));
        let in_path =
            NAMES.iter().flat_map(|name| self.path.iter().map(move |folder| folder.join(name)));
        let installed = INSTALLED.iter().filter_map(|path| match path.strip_prefix("~/") {
            Some(rest) => Some(self.home.as_ref()?.join(rest)),
            None => Some(PathBuf::from(path)),
        });
        beside.chain(in_path).chain(installed).collect()
    }
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_comes_before_the_official_one() {
        let surroundings = Surroundings {
            beside: Some("/app".into()),
            path: vec!["/a".into(), "/b".into()],
            home: Some("/home/u".into()),
        };
        let places: Vec<_> =
            surroundings.candidates().iter().map(|path| path.display().to_string()).collect();
        assert_eq!(
            places[..5],
            ["/app/bowline", "/a/bowline", "/b/bowline", "/a/claude", "/b/claude"]
        );
        assert_eq!(places[5], "/home/u/.npm-global/bin/claude");
        assert_eq!(places.last().unwrap(), "/home/u/.claude/local/claude");
    }

    #[test]
    fn missing_program_error_lists_the_searched_paths() {
        let error = locate(Some(Path::new("/no/such/agent"))).unwrap_err();
        assert_eq!(error.code(), "cli_not_found");
        let words = "looked for /no/such/agent; set `Options::cli_path` to where it is";
        assert!(error.to_string().ends_with(words), "{error}");
    }
}

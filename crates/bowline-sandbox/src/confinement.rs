//! Confinement of a process: what it may read and run.

use std::path::{Path, PathBuf};

use crate::system;

/// Rights of a process. It may change nothing but `/dev/null`, opens no sockets and gains no
/// privileges; descriptors that it inherits stay as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confinement {
    /// What it may read besides the system's own files.
    pub readable: Readable,
    /// Files, and folders of files, that it may run besides the system's own programs.
    pub executable: Vec<PathBuf>,
}

/// What a process may read besides the system's own files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Readable {
    /// These files, and all that these folders hold.
    Only(Vec<PathBuf>),
    /// Every file that the user may read, and programs among them may run: for programs that look for
    /// their own parts below the home folder.
    Everything,
}

impl Default for Confinement {
    /// The system's own files and programs.
    fn default() -> Self {
        Self { readable: Readable::Only(Vec::new()), executable: Vec::new() }
    }
}

impl Confinement {
    /// Lets it read a file, or all that a folder holds.
    pub fn read(&mut self, path: impl Into<PathBuf>) {
        if let Readable::Only(paths) = &mut self.readable {
            let path = path.into();
            if !paths.iter().any(|known| path.starts_with(known)) {
                paths.push(path);
            }
        }
    }

    /// Lets it run the programs that a list of folders in the form of `PATH` holds. Folders that hold
    /// more than programs, as `home` does, are left out.
    pub fn run_from(&mut self, path: &str, home: Option<&Path>) {
        for folder in path.split(':').map(Path::new).filter(|folder| folder.is_absolute()) {
            let holds_home = home.is_some_and(|home| home.starts_with(folder));
            let is_known = system::PROGRAMS.iter().any(|known| folder.starts_with(known))
                || self.executable.iter().any(|known| known == folder);
            if !holds_home && !is_known {
                self.executable.push(folder.to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_folders_never_expose_the_home_folder() {
        let mut confinement = Confinement::default();
        let path =
            "/usr/bin:/home/u/.cargo/bin::.:bin:/home/u:/home:/:/home/u/.cargo/bin:/home/us/bin";
        confinement.run_from(path, Some(Path::new("/home/u")));
        assert_eq!(
            confinement.executable,
            [Path::new("/home/u/.cargo/bin"), Path::new("/home/us/bin")]
        );
    }

    #[test]
    fn paths_below_a_readable_folder_are_not_repeated() {
        let mut confinement = Confinement::default();
        for path in ["/a", "/a/b", "/ab"] {
            confinement.read(path);
        }
        let expected = ["/a", "/ab"].map(PathBuf::from).to_vec();
        assert_eq!(confinement.readable, Readable::Only(expected));
    }
}

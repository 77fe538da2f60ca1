//! The folders that the user trusts, as recorded on disk: by `bowline trust`, and by the official
//! CLI when its user accepts its dialog.

use std::{
    collections::{BTreeMap, HashMap},
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{super::SettingsPaths, worktree};

/// What is recorded about folders. What `bowline trust` has recorded for a folder wins over what the
/// official CLI has.
#[derive(Debug, Clone, Default)]
pub struct TrustRecords {
    places: Option<SettingsPaths>,
    own: BTreeMap<String, bool>,
    official: BTreeMap<String, PathBuf>,
}

/// A folder that is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedFolder {
    /// The folder.
    pub folder: PathBuf,
    /// Whether it is trusted; one that is not lies in one that is.
    pub trusted: bool,
    /// The file that says so.
    pub file: PathBuf,
}

/// Why a record was not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// There is no such folder.
    #[error("{} is not a folder that can be trusted: {source}", folder.display())]
    NoFolder {
        /// What was named.
        folder: PathBuf,
        /// Why it is not.
        source: io::Error,
    },
    /// The name of the folder is not text.
    #[error("{} cannot be recorded: its name is not UTF-8", folder.display())]
    NotText {
        /// The folder.
        folder: PathBuf,
    },
    /// The file of records cannot be used.
    #[error("cannot use {}: {source}", file.display())]
    Unusable {
        /// The file.
        file: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// The file that `bowline trust` writes.
#[derive(Debug, Default, Serialize, Deserialize)]
struct OwnFile {
    #[serde(default)]
    folders: BTreeMap<String, bool>,
}

impl TrustRecords {
    /// Reads the records. No file trusts nothing, and neither does one that is broken: it may hold a
    /// revocation, so what the official CLI has recorded does not count beside it.
    pub fn read(places: &SettingsPaths) -> Self {
        let Ok(own) = read_own(&places.trust_file()) else {
            tracing::warn!(file = %places.trust_file().display(), "the records of trust cannot be read");
            return Self { places: Some(places.clone()), ..Self::default() };
        };
        let mut official = BTreeMap::new();
        for file in places.official_states() {
            let accepted = accepted_in(&file);
            official.extend(accepted.into_iter().map(|folder| (folder, file.clone())));
        }
        let mut records = Self { places: Some(places.clone()), own, official };
        records.forget_those_of_the_project(places);
        records
    }

    /// The recorded folder because of which `folder` is trusted, if it is.
    ///
    /// The nearest record decides. A worktree is trusted as its repository is. Trust in the home
    /// folder, or one above it, covers nothing below: everything lies there, downloads too.
    pub fn reason(&self, folder: &Path) -> Option<PathBuf> {
        let real = fs::canonicalize(folder).ok()?;
        match self.nearest(&real) {
            Some((folder, true)) => Some(folder),
            Some((_, false)) => None,
            None => {
                let main = worktree::main_folder(&real)?;
                self.nearest(&main).filter(|(_, trusted)| *trusted).map(|(folder, _)| folder)
            }
        }
    }

    /// All that is recorded.
    pub fn list(&self) -> Vec<TrustedFolder> {
        let file = self.places.as_ref().map(SettingsPaths::trust_file).unwrap_or_default();
        let own = self.own.iter().map(|(folder, trusted)| TrustedFolder {
            folder: folder.into(),
            trusted: *trusted,
            file: file.clone(),
        });
        let official = self.official.iter().filter(|(folder, _)| !self.own.contains_key(*folder));
        let official = official.map(|(folder, file)| TrustedFolder {
            folder: folder.into(),
            trusted: true,
            file: file.clone(),
        });
        own.chain(official).collect()
    }

    /// Trusts a folder from now on; returns its real path.
    pub fn trust(places: &SettingsPaths, folder: &Path) -> Result<PathBuf, TrustError> {
        let (real, name) = named(folder)?;
        change(places, |folders| {
            folders.insert(name, true);
        })?;
        Ok(real)
    }

    /// Revokes trust in a folder, in records of either program; returns its real path.
    pub fn revoke(places: &SettingsPaths, folder: &Path) -> Result<PathBuf, TrustError> {
        let (real, name) = named(folder)?;
        change(places, |folders| {
            folders.remove(&name);
        })?;
        // A folder above, its repository or the official CLI may still vouch for it.
        if Self::read(places).reason(&real).is_some() {
            change(places, |folders| {
                folders.insert(name, false);
            })?;
        }
        Ok(real)
    }

    /// The record that is nearest to a real path.
    fn nearest(&self, real: &Path) -> Option<(PathBuf, bool)> {
        let covers = |above: &Path| {
            above == real || !self.places.as_ref().is_some_and(|it| it.is_above_home(above))
        };
        real.ancestors().filter(|above| covers(above)).find_map(|above| {
            let name = above.to_str()?;
            let official = || self.official.contains_key(name).then_some(true);
            let trusted = self.own.get(name).copied().or_else(official)?;
            Some((above.to_path_buf(), trusted))
        })
    }

    /// A project cannot vouch for itself: records that lie in it do not apply, unless it is the
    /// user's home.
    fn forget_those_of_the_project(&mut self, places: &SettingsPaths) {
        let Ok(project) = fs::canonicalize(&places.project) else { return };
        if places.is_above_home(&project) {
            return;
        }
        let is_projects =
            |file: &Path| fs::canonicalize(file).is_ok_and(|file| file.starts_with(&project));
        if is_projects(&places.trust_file()) {
            // A revocation only takes away.
            self.own.retain(|_, trusted| !*trusted);
        }
        self.official.retain(|_, file| !is_projects(file));
    }
}

/// The real path of a folder, and how it is recorded.
fn named(folder: &Path) -> Result<(PathBuf, String), TrustError> {
    let no_folder = |source| TrustError::NoFolder { folder: folder.to_owned(), source };
    let real = fs::canonicalize(folder).map_err(no_folder)?;
    if !real.is_dir() {
        return Err(no_folder(io::ErrorKind::NotADirectory.into()));
    }
    match real.to_str().map(str::to_owned) {
        Some(name) => Ok((real, name)),
        None => Err(TrustError::NotText { folder: real }),
    }
}

/// The folders that the official CLI has recorded in a file.
fn accepted_in(file: &Path) -> Vec<String> {
    #[derive(Deserialize)]
    struct State {
        #[serde(default)]
        projects: HashMap<String, Project>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Project {
        #[serde(default)]
        has_trust_dialog_accepted: bool,
    }

    let Ok(text) = bowline_private::read_regular(file) else { return Vec::new() };
    let Ok(state) = serde_json::from_str::<State>(&text) else { return Vec::new() };
    let accepted = state.projects.into_iter().filter(|(_, it)| it.has_trust_dialog_accepted);
    accepted.map(|(folder, _)| folder).collect()
}

fn read_own(file: &Path) -> io::Result<BTreeMap<String, bool>> {
    let text = match bowline_private::read_regular(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(error),
    };
    let file: OwnFile = serde_json::from_str(&text)?;
    Ok(file.folders)
}

/// Changes the file of records. One that cannot be read is not replaced.
fn change(
    places: &SettingsPaths,
    change: impl FnOnce(&mut BTreeMap<String, bool>),
) -> Result<(), TrustError> {
    let file = places.trust_file();
    let unusable = |source| TrustError::Unusable { file: file.clone(), source };
    let mut folders = read_own(&file).map_err(unusable)?;
    change(&mut folders);
    write(&file, &OwnFile { folders }).map_err(unusable)
}

/// Puts the records into their file, which only the user may read or write.
fn write(file: &Path, records: &OwnFile) -> io::Result<()> {
    bowline_private::folder_as_it_is(file.parent().unwrap_or(Path::new(".")))?;
    let mut text = serde_json::to_string_pretty(records)?;
    text.push('\n');
    bowline_private::replace(file, text)
}

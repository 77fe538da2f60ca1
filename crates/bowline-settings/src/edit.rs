//! Changes of settings files, each replaced in one step.

use std::{
    fs::{self, Permissions},
    io::{self, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use bowline_protocol::{Effort, KeyOrder, UpdateSettings};
use serde_json::{Map, Value};

use super::{
    Layer, Settings, SettingsError, SettingsPaths, Source, change::Changes, layer::read_object,
};

impl Settings {
    /// Writes a change that a host persists, and applies it here (`update_settings`).
    ///
    /// For each file there is one key that a host may write, and its value is a text.
    pub fn update(
        &mut self,
        places: &SettingsPaths,
        update: &UpdateSettings,
    ) -> Result<(), SettingsError> {
        let (source, path, allowed) = match update.source.as_str() {
            "localSettings" => (Source::Local, places.local_file(), "outputStyle"),
            "userSettings" => (Source::User, places.user_file(), "effortLevel"),
            other => return Err(SettingsError::SourceNotAllowed { name: other.to_owned() }),
        };
        let Changes { given, cleared } = Changes::read_unchecked(source, &update.settings)?;
        let keys = given.keys().chain(&cleared);
        let refused: Vec<_> = keys.clone().filter(|key| *key != allowed).cloned().collect();
        if !refused.is_empty() {
            return Err(SettingsError::KeysNotAllowed { keys: refused });
        }
        match given.get(allowed).map(Value::as_str) {
            None if cleared.is_empty() => return Err(SettingsError::NothingToUpdate),
            None | Some(None) => return Err(SettingsError::NotText { key: allowed.to_owned() }),
            Some(Some(level)) if allowed == "effortLevel" => drop(level.parse::<Effort>()?),
            Some(Some(_)) => {}
        }
        self.edit(source, path, |file| file.extend(given))
    }

    /// Changes a settings file and applies the change here.
    pub fn edit(
        &mut self,
        source: Source,
        path: PathBuf,
        change: impl FnOnce(&mut Map<String, Value>),
    ) -> Result<(), SettingsError> {
        if !self.untrusted.admits_new(source, &path) {
            let why = io::Error::other("it is a link out of a project that is not trusted");
            return Err(SettingsError::Unusable { path, source: why });
        }
        let value = edit_file(source, &path, change)?;
        let layer = Layer::new(source, Some(path), value, &mut Vec::new());
        self.put(layer.reduced_if_untrusted(&self.untrusted));
        Ok(())
    }

    /// Reads a file again that was changed or removed.
    pub fn reread(&mut self, source: Source, path: &Path) -> Result<(), SettingsError> {
        match Layer::read(source, path.to_owned(), &self.untrusted, &mut Vec::new())? {
            Some(layer) => self.put(layer),
            None => {
                self.layers.retain(|layer| layer.path.as_deref() != Some(path));
                self.merge();
            }
        }
        Ok(())
    }

    /// Replaces the layer of a file.
    fn put(&mut self, layer: Layer) {
        match self.layers.iter_mut().find(|found| found.path == layer.path) {
            Some(found) => *found = layer,
            None => {
                let at = self.layers.partition_point(|found| found.source < layer.source);
                self.layers.insert(at, layer);
            }
        }
        self.merge();
    }
}

/// Changes a settings file, which need not exist, and returns its new contents.
///
/// Keys that `change` leaves alone stay where they are. A file that is not JSON is not touched.
pub fn edit_file(
    source: Source,
    path: &Path,
    change: impl FnOnce(&mut Map<String, Value>),
) -> Result<Map<String, Value>, SettingsError> {
    let mut value = read_object(source, path)?.unwrap_or_default();
    // People edit settings files: what is written back keeps their order.
    let before = fs::read_to_string(path).unwrap_or_default();
    let order = KeyOrder::of(before.trim_start_matches('\u{feff}')).unwrap_or_default();
    change(&mut value);
    let edited = Value::Object(value.clone());
    let mut text =
        serde_json::to_string_pretty(&order.apply(&edited)).expect("a JSON tree always serializes");
    text.push('\n');
    replace(source, path, &text)
        .map_err(|error| SettingsError::Unusable { path: path.to_owned(), source: error })?;
    Ok(value)
}

/// Replaces a file as a whole. A link stays a link to the file it names.
///
/// A new one is for its owner only, and so is the user's folder. Folders of a project are made as the
/// umask allows: others may work in it.
fn replace(source: Source, path: &Path, text: &str) -> io::Result<()> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().unwrap_or(Path::new("."));
    match source {
        Source::Project | Source::Local => fs::create_dir_all(folder)?,
        _ => bowline_private::folder_as_it_is(folder)?,
    }
    let mode = if source == Source::Project { 0o666 } else { 0o600 };
    let mode = Permissions::from_mode(mode);
    let mut draft =
        tempfile::Builder::new().prefix(".settings-").permissions(mode).tempfile_in(folder)?;
    draft.write_all(text.as_bytes())?;
    if let Ok(existing) = fs::metadata(&path) {
        draft.as_file().set_permissions(existing.permissions())?;
    }
    draft.persist(&path)?;
    Ok(())
}

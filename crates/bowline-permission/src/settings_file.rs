//! Writes permission updates into settings files and leaves all else in them as it is.

use std::{
    fmt, fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use bowline_protocol::{PermissionUpdate, UpdateDestination};
use parking_lot::Mutex;
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::{RawValue, to_raw_value};

/// Why a settings file could not be changed. It is then as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// It is not the JSON that settings are made of.
    #[error("{path} is not a settings file: {error}")]
    NotSettings {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: serde_json::Error,
    },
    /// It could not be read or written.
    #[error("cannot change {path}: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What happened.
        error: io::Error,
    },
}

/// Makes a change in a settings file, which is created if need be. The file is replaced in one
/// step, so that no reader sees half of it.
pub fn write_settings(path: &Path, update: &PermissionUpdate) -> Result<(), SettingsError> {
    // Sessions of one process share the files; no other session may write between reading and writing.
    static WRITING: Mutex<()> = Mutex::new(());
    let _writing = WRITING.lock();
    let failed = |error| SettingsError::Io { path: path.to_owned(), error };

    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed(error)),
    };
    let changed = edit_settings(&text, update)
        .map_err(|error| SettingsError::NotSettings { path: path.to_owned(), error })?;
    if changed == text {
        return Ok(());
    }
    let users = update.destination() == Some(&UpdateDestination::UserSettings);
    replace(path, &changed, users).map_err(failed)
}

/// Only the user's own folder is closed to others; in a project the umask decides what they may see.
fn replace(path: &Path, text: &str, users: bool) -> io::Result<()> {
    // A link to a file elsewhere stays a link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    match users {
        true => bowline_private::folder_as_it_is(directory)?,
        false => fs::create_dir_all(directory)?,
    }
    let mut file = tempfile::Builder::new().prefix(".settings-").tempfile_in(directory)?;
    file.write_all(text.as_bytes())?;
    if let Ok(known) = fs::metadata(&path) {
        file.as_file().set_permissions(known.permissions())?;
    }
    file.as_file().sync_all()?;
    file.persist(&path)?;
    Ok(())
}

/// The text of a settings file with a change made in it. Keys that the change does not concern
/// keep their position and their formatting.
pub fn edit_settings(text: &str, update: &PermissionUpdate) -> serde_json::Result<String> {
    let text = text.trim_start_matches('\u{feff}');
    let mut settings: Object =
        if text.trim().is_empty() { Object::default() } else { serde_json::from_str(text)? };
    let mut permissions: Object = match settings.get("permissions") {
        Some(raw) => serde_json::from_str(raw.get())?,
        None => Object::default(),
    };
    change(&mut permissions, update)?;
    settings.set("permissions", RawValue::from_string(permissions.print(1))?);
    let mut printed = settings.print(0);
    printed.push('\n');
    Ok(printed)
}

fn change(permissions: &mut Object, update: &PermissionUpdate) -> serde_json::Result<()> {
    match update {
        PermissionUpdate::AddRules(change) => {
            let rules = change.rules.iter().map(ToString::to_string);
            permissions.edit_list(change.behavior.as_str(), |list| add(list, rules))
        }
        PermissionUpdate::ReplaceRules(change) => {
            let rules = change.rules.iter().map(ToString::to_string);
            permissions.edit_list(change.behavior.as_str(), |list| {
                list.clear();
                add(list, rules);
            })
        }
        PermissionUpdate::RemoveRules(change) => {
            let rules: Vec<String> = change.rules.iter().map(ToString::to_string).collect();
            permissions.edit_list(change.behavior.as_str(), |list| {
                list.retain(|known| !rules.iter().any(|rule| is_same_rule(known, rule)));
            })
        }
        PermissionUpdate::SetMode(change) => {
            permissions.set("defaultMode", to_raw_value(&change.mode)?);
            Ok(())
        }
        PermissionUpdate::AddDirectories(change) => {
            let directories = change.directories.iter().cloned();
            permissions.edit_list("additionalDirectories", |list| add(list, directories))
        }
        PermissionUpdate::RemoveDirectories(change) => {
            permissions.edit_list("additionalDirectories", |list| {
                list.retain(|known| !change.directories.contains(known));
            })
        }
        _ => Ok(()),
    }
}

fn add(list: &mut Vec<String>, more: impl Iterator<Item = String>) {
    for text in more {
        if !list.contains(&text) {
            list.push(text);
        }
    }
}

/// Whether two spellings are one rule: `Bash()` is `Bash`.
fn is_same_rule(known: &str, rule: &str) -> bool {
    known == rule
        || known
            .parse::<bowline_protocol::PermissionRule>()
            .is_ok_and(|known| known.to_string() == rule)
}

/// A JSON object that keeps the order of its keys and the text of its values.
#[derive(Debug, Default)]
struct Object(Vec<(String, Box<RawValue>)>);

impl Object {
    fn get(&self, key: &str) -> Option<&RawValue> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, value)| &**value)
    }

    fn set(&mut self, key: &str, value: Box<RawValue>) {
        match self.0.iter_mut().find(|(known, _)| known == key) {
            Some((_, known)) => *known = value,
            None => self.0.push((key.to_owned(), value)),
        }
    }

    fn edit_list(
        &mut self,
        key: &str,
        edit: impl FnOnce(&mut Vec<String>),
    ) -> serde_json::Result<()> {
        let mut list: Vec<String> = match self.get(key) {
            Some(raw) => serde_json::from_str(raw.get())?,
            None => Vec::new(),
        };
        edit(&mut list);
        let items: Vec<String> =
            list.iter().map(serde_json::to_string).collect::<serde_json::Result<_>>()?;
        // The list stands two levels deep: settings, permissions, list.
        let printed = match items.is_empty() {
            true => "[]".to_owned(),
            false => format!("[\n      {}\n    ]", items.join(",\n      ")),
        };
        self.set(key, RawValue::from_string(printed)?);
        Ok(())
    }

    /// The object with two spaces for each level; values as they are.
    fn print(&self, level: usize) -> String {
        if self.0.is_empty() {
            return "{}".to_owned();
        }
        let indent = "  ".repeat(level + 1);
        let lines: Vec<String> = self
            .0
            .iter()
            .map(|(key, value)| {
                format!("{indent}{}: {}", serde_json::Value::from(key.as_str()), value.get())
            })
            .collect();
        format!("{{\n{}\n{}}}", lines.join(",\n"), "  ".repeat(level))
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Keys;

        impl<'de> Visitor<'de> for Keys {
            type Value = Object;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Object, M::Error> {
                let mut object = Object::default();
                while let Some((key, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    object.set(&key, value);
                }
                Ok(object)
            }
        }

        from.deserialize_map(Keys)
    }
}

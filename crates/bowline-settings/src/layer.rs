//! One layer of settings: a file or a flag, read once and checked key by key.

use std::{
    io,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value, error::Category};

use super::{
    KnownSettings, Part, Position, Problem, SettingsError, SkippedParts, Source,
    untrusted_files::UntrustedFiles, untrusted_settings::reduce_untrusted,
};

/// The settings of one file or flag.
#[derive(Debug, Clone)]
pub struct Layer {
    /// What kind of layer it is.
    pub source: Source,
    /// The file it was read from, if it was.
    pub path: Option<PathBuf>,
    /// Its values, without those that do not fit their keys.
    pub value: Map<String, Value>,
    /// The keys that Bowline knows.
    pub known: KnownSettings,
    /// Its parts that do not apply, because the project is not trusted.
    pub left_out: SkippedParts,
}

impl Layer {
    /// Checks `value` and leaves out what does not fit, which is reported in `problems`.
    pub(super) fn new(
        source: Source,
        path: Option<PathBuf>,
        mut value: Map<String, Value>,
        problems: &mut Vec<Problem>,
    ) -> Self {
        let known = KnownSettings::take_from(&mut value, |key, message| {
            problems.push(Problem {
                source,
                path: path.clone(),
                position: None,
                key: Some(key),
                message,
            });
        });
        Self { source, path, value, known, left_out: SkippedParts::default() }
    }

    /// The same, reduced if its file is untrusted.
    pub(super) fn reduced_if_untrusted(self, untrusted: &UntrustedFiles) -> Self {
        if !untrusted.concerns(self.source, self.path.as_deref()) {
            return self;
        }
        let Self { source, path, mut value, known, .. } = self;
        let file = path.as_ref().map_or_else(|| source.to_string(), |file| untrusted.shown(file));
        let left_out = reduce_untrusted(&mut value, &known, &file);
        Self { left_out, ..Self::new(source, path, value, &mut Vec::new()) }
    }

    /// A file that is not read, because its real path is outside of the project.
    fn unread(source: Source, path: PathBuf, untrusted: &UntrustedFiles) -> Self {
        let mut layer = Self::new(source, Some(path.clone()), Map::new(), &mut Vec::new());
        layer.left_out.add(Part::Link, untrusted.shown(&path));
        layer
    }

    /// Reads a file. One that is not there is no layer.
    pub(super) fn read(
        source: Source,
        path: PathBuf,
        untrusted: &UntrustedFiles,
        problems: &mut Vec<Problem>,
    ) -> Result<Option<Self>, SettingsError> {
        if untrusted.concerns(source, Some(&path)) && path.exists() && !untrusted.admits(&path) {
            return Ok(Some(Self::unread(source, path, untrusted)));
        }
        match read_object(source, &path)? {
            Some(value) => Ok(Some(
                Self::new(source, Some(path), value, problems).reduced_if_untrusted(untrusted),
            )),
            None => Ok(None),
        }
    }
}

/// Reads a file that holds one JSON object. An empty file is no layer.
pub(super) fn read_object(
    source: Source,
    path: &Path,
) -> Result<Option<Map<String, Value>>, SettingsError> {
    match bowline_private::read_regular(path) {
        Ok(text) if text.trim().is_empty() => Ok(None),
        Ok(text) => parse_object(source, Some(path), &text).map(Some),
        // A path through something that is no folder is as absent as any other.
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(None)
        }
        Err(error) => Err(SettingsError::Unusable { path: path.to_owned(), source: error }),
    }
}

/// Reads JSON text that must be an object.
pub(super) fn parse_object(
    source: Source,
    path: Option<&Path>,
    text: &str,
) -> Result<Map<String, Value>, SettingsError> {
    // Editors of some systems begin a file with a byte order mark.
    serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(|error| {
        let message = match error.classify() {
            Category::Data => "expected an object".to_owned(),
            _ => plain_message(&error),
        };
        SettingsError::Invalid(Problem {
            source,
            path: path.map(Path::to_owned),
            position: Some(Position { line: error.line(), column: error.column().max(1) }),
            key: None,
            message,
        })
    })
}

/// The message of a JSON error without the position that it ends with.
fn plain_message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&position).map_or_else(|| text.clone(), str::to_owned)
}

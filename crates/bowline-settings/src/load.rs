//! Loads all layers: which files are read, in what order, and which errors are fatal.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    Layer, Problem, Settings, SettingsError, SettingsPaths, Source, SourceSet, Trust,
    layer::{parse_object, read_object},
    untrusted_files::UntrustedFiles,
};

/// Settings of the command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SettingsRequest {
    /// Which files are read.
    pub sources: SourceSet,
    /// `--settings`: a JSON object, or the path of a file with one.
    pub flag: Option<String>,
    /// `--managed-settings`: a JSON object.
    pub managed: Option<String>,
    /// Whether the project is trusted. If it is not, its files take rights away, and nothing else.
    pub trust: Trust,
}

impl Settings {
    /// Reads every layer once.
    ///
    /// A user's, project's or local file that cannot be used is reported in
    /// [`problems`](Settings::problems) and left out. What was asked for on the
    /// command line, and what a policy demands, must be usable.
    pub fn load(places: &SettingsPaths, request: &SettingsRequest) -> Result<Self, SettingsError> {
        let mut problems = Vec::new();
        let mut layers = Vec::new();
        let untrusted = UntrustedFiles::new(places, request.trust);
        for (source, path) in optional_files(places, request.sources) {
            match Layer::read(source, path.clone(), &untrusted, &mut problems) {
                Ok(layer) => layers.extend(layer),
                Err(SettingsError::Invalid(problem)) => problems.push(problem),
                Err(error) => problems.push(Problem {
                    source,
                    path: Some(path),
                    position: None,
                    key: None,
                    message: error.to_string(),
                }),
            }
        }
        if let Some(text) = &request.flag {
            layers.push(flag_layer(text, &places.project, &mut problems)?);
        }
        layers.push(Layer::new(Source::Flag, None, serde_json::Map::new(), &mut problems));
        for path in managed_files(places)? {
            layers.extend(Layer::read(Source::Policy, path, &untrusted, &mut problems)?);
        }
        if let Some(text) = &request.managed {
            let value = parse_object(Source::Policy, None, text)?;
            layers.push(Layer::new(Source::Policy, None, value, &mut problems));
        }
        Ok(Self::from_layers(layers, problems, untrusted))
    }
}

/// The files that settings are read from, whether they are there or not.
pub fn files(places: &SettingsPaths, sources: SourceSet) -> Vec<(Source, PathBuf)> {
    let managed = managed_files(places).unwrap_or_default();
    let managed = managed.into_iter().map(|path| (Source::Policy, path));
    optional_files(places, sources).into_iter().chain(managed).collect()
}

/// The files that may be left out, lowest first. A file that has two roles has only the lower one.
fn optional_files(places: &SettingsPaths, sources: SourceSet) -> Vec<(Source, PathBuf)> {
    let mut files = Vec::new();
    if sources.user {
        files.push((Source::User, places.user_file()));
    }
    if sources.project && places.project_file() != places.user_file() {
        files.push((Source::Project, places.project_file()));
    }
    if sources.local {
        files.push((Source::Local, places.local_file()));
    }
    files
}

fn managed_files(places: &SettingsPaths) -> Result<Vec<PathBuf>, SettingsError> {
    let mut files = vec![places.managed_file()];
    let folder = places.managed_drop_ins();
    if let Ok(entries) = fs::read_dir(&folder) {
        let paths = entries
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|source| SettingsError::Unusable { path: folder, source })?;
        let mut drop_ins = Vec::from_iter(paths.into_iter().filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.ends_with(".json") && !name.starts_with('.')
        }));
        drop_ins.sort();
        files.append(&mut drop_ins);
    }
    Ok(files)
}

/// The layer of `--settings`, which is JSON if it looks like an object and a path otherwise.
fn flag_layer(
    text: &str,
    base: &Path,
    problems: &mut Vec<Problem>,
) -> Result<Layer, SettingsError> {
    let (path, value) = if text.trim_start().starts_with('{') {
        (None, parse_object(Source::Flag, None, text)?)
    } else {
        let path = base.join(text);
        if !path.exists() {
            return Err(SettingsError::NotFound { path });
        }
        let value = read_object(Source::Flag, &path)?.unwrap_or_default();
        (Some(path), value)
    };
    Ok(Layer::new(Source::Flag, path, value, problems))
}

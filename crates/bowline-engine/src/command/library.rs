//! Commands and skills that people write, as Markdown files of the project and the user.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    context::{frontmatter::Document, memory::read_text},
    plugin::Plugin,
    session::Shared,
};

/// How deep folders of commands may lie in each other.
const DEEPEST: usize = 5;
/// How many commands or skills one place may have.
const MOST_FILES: usize = 500;
/// How long a description may be that is taken from the text itself.
const DESCRIPTION_LIMIT: usize = 200;

/// What people wrote, read once.
#[derive(Debug, Default)]
pub(crate) struct LibraryCell(Mutex<Option<Arc<Library>>>);

/// What people wrote.
#[derive(Debug, Default)]
pub(crate) struct Library {
    pub(crate) commands: Vec<CustomCommand>,
    pub(crate) skills: Vec<Skill>,
}

/// A prompt that people wrote for later.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CustomCommand {
    /// Its name; the folders it lies in come first, as in `git:commit`.
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) argument_hint: String,
    /// Permission rules that hold while it is worked on.
    pub(crate) allowed_tools: Vec<String>,
    /// The model that works on it, if not the session's.
    pub(crate) model: Option<String>,
    pub(crate) path: PathBuf,
    pub(crate) source: LibrarySource,
    /// The folder of the skill that it calls up.
    pub(crate) skill_folder: Option<PathBuf>,
    /// Its name without the plugin's.
    pub(crate) alias: Option<String>,
}

/// A procedure with its material, for the model or for people to call up.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Skill {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) argument_hint: String,
    /// The file that describes it.
    pub(crate) path: PathBuf,
    /// The folder with its material.
    pub(crate) folder: PathBuf,
    /// Permission rules that hold while it is worked on.
    pub(crate) allowed_tools: Vec<String>,
    /// The model that works on it, if not the session's.
    pub(crate) model: Option<String>,
    pub(crate) source: LibrarySource,
    /// Whether the model may call it up by itself.
    pub(crate) is_for_model: bool,
    /// Whether people may, as a command.
    pub(crate) is_for_people: bool,
    /// Its name without the plugin's.
    pub(crate) alias: Option<String>,
}

/// Whose it is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum LibrarySource {
    Project,
    User,
    Plugin(Arc<Plugin>),
}

impl LibrarySource {
    /// As hooks and hosts call it.
    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
            Self::Plugin(_) => "plugin",
        }
    }

    /// The name by which something is called that is called `name` where it lies.
    fn qualify(&self, name: &str) -> String {
        match self {
            Self::Plugin(plugin) => plugin.qualify(name),
            Self::Project | Self::User => name.to_owned(),
        }
    }

    /// A description that says whose it is, if that is a plugin's.
    fn introduce(&self, description: String) -> String {
        match self {
            Self::Plugin(plugin) => format!("({}) {description}", plugin.name),
            Self::Project | Self::User => description,
        }
    }

    /// A text of a file, with the folders of the plugin it belongs to in their places.
    pub(crate) fn expand(&self, text: &str) -> String {
        match self {
            Self::Plugin(plugin) => plugin.expand(text),
            Self::Project | Self::User => text.to_owned(),
        }
    }
}

impl LibraryCell {
    /// What people wrote; read now if it was not.
    pub(crate) fn get(&self, session: &Shared) -> Arc<Library> {
        let mut library = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(library.get_or_insert_with(|| Arc::new(Library::read(session))))
    }

    /// Reads again when it is needed next.
    pub(crate) fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Library {
    fn read(session: &Shared) -> Self {
        let places = &session.config.places;
        let sources = session.config.sources;
        let project = sources.project.then(|| places.project.join(".claude"));
        let user = sources.user.then(|| places.config_dir.clone());
        let mut library = Self::default();
        let folders = [(project, LibrarySource::Project), (user, LibrarySource::User)];
        for (folder, source) in folders {
            let Some(folder) = folder else { continue };
            library.read_commands(&folder.join("commands"), &source);
            library.read_skills(&folder.join("skills"), &source);
        }
        for plugin in session.plugins().loaded() {
            let source = LibrarySource::Plugin(Arc::new(plugin.clone()));
            plugin.commands.iter().for_each(|place| library.read_commands(place, &source));
            plugin.skills.iter().for_each(|place| library.read_skills(place, &source));
        }
        library
    }

    /// Reads the commands of a folder, or a file with one.
    fn read_commands(&mut self, place: &Path, source: &LibrarySource) {
        let mut files = Vec::new();
        match place.file_stem().and_then(|stem| stem.to_str()) {
            Some(stem) if is_markdown(place) => files.push((stem.to_owned(), place.to_owned())),
            _ => markdown_files(place, "", DEEPEST, &mut files),
        }
        for (name, path) in files {
            let name = source.qualify(&name);
            let known = self.commands.iter().any(|command| command.name == name);
            if let Some(text) = read_text(&path).filter(|_| !known) {
                self.commands.push(CustomCommand::parse(name, path, source.clone(), &text));
            }
        }
    }

    /// Reads the skills of a folder, or the folder of one.
    fn read_skills(&mut self, place: &Path, source: &LibrarySource) {
        let folders = match place.join("SKILL.md").is_file() {
            true => vec![place.to_owned()],
            false => sorted_entries(place),
        };
        for folder in folders {
            let path = folder.join("SKILL.md");
            let Some(text) = read_text(&path) else { continue };
            if let Some(skill) = Skill::parse(folder, path, source.clone(), &text)
                && !self.skills.iter().any(|known| known.name == skill.name)
            {
                self.skills.push(skill);
            }
        }
    }
}

impl CustomCommand {
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.alias.as_deref() == Some(name)
    }

    fn parse(name: String, path: PathBuf, source: LibrarySource, text: &str) -> Self {
        let document = Document::parse(text);
        Self {
            name,
            description: source.introduce(description(&document)),
            argument_hint: document.text("argument-hint").unwrap_or_default().to_owned(),
            allowed_tools: allowed_tools(&document, &source),
            model: model(&document),
            path,
            source,
            skill_folder: None,
            alias: None,
        }
    }
}

impl Skill {
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.alias.as_deref() == Some(name)
    }

    fn parse(folder: PathBuf, path: PathBuf, source: LibrarySource, text: &str) -> Option<Self> {
        let document = Document::parse(text);
        let folder_name = folder.file_name()?.to_str()?;
        let own_name = document.text("name").unwrap_or(folder_name);
        let name = source.qualify(own_name);
        Some(Self {
            alias: (name != own_name).then(|| own_name.to_owned()),
            name,
            description: source.introduce(description(&document)),
            argument_hint: document.text("argument-hint").unwrap_or_default().to_owned(),
            allowed_tools: allowed_tools(&document, &source),
            model: model(&document),
            is_for_model: document.flag("disable-model-invocation") != Some(true),
            is_for_people: document.flag("user-invocable") != Some(false),
            path,
            folder,
            source,
        })
    }
}

impl From<Skill> for CustomCommand {
    fn from(skill: Skill) -> Self {
        Self {
            name: skill.name,
            description: skill.description,
            argument_hint: skill.argument_hint,
            allowed_tools: skill.allowed_tools,
            model: skill.model,
            path: skill.path,
            source: skill.source,
            skill_folder: Some(skill.folder),
            alias: skill.alias,
        }
    }
}

/// What the head says, or else the first line that says something.
fn description(document: &Document) -> String {
    if let Some(told) = document.text("description") {
        return told.to_owned();
    }
    let first = document.body.lines().map(|line| line.trim_start_matches('#').trim());
    let first = first.filter(|line| !line.is_empty()).map(str::to_owned).next();
    let mut first = first.unwrap_or_default();
    first.truncate(first.floor_char_boundary(DESCRIPTION_LIMIT));
    first
}

fn allowed_tools(document: &Document, source: &LibrarySource) -> Vec<String> {
    let rules = document.list("allowed-tools").unwrap_or_default();
    rules.iter().map(|rule| source.expand(rule)).collect()
}

fn model(document: &Document) -> Option<String> {
    document.text("model").filter(|name| *name != "inherit").map(str::to_owned)
}

/// The Markdown files of a folder and those in it, with the names that their places give them.
fn markdown_files(folder: &Path, prefix: &str, depth: usize, files: &mut Vec<(String, PathBuf)>) {
    for path in sorted_entries(folder) {
        if files.len() >= MOST_FILES {
            return;
        }
        let Some(stem) = path.file_stem().and_then(|stem| stem.to_str()) else { continue };
        let name = format!("{prefix}{stem}");
        if is_markdown(&path) {
            files.push((name, path));
        } else if depth > 1 && path.is_dir() {
            markdown_files(&path, &format!("{name}:"), depth - 1, files);
        }
    }
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

fn sorted_entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.take(MOST_FILES).filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut paths: Vec<_> = paths.collect();
    paths.sort();
    paths
}

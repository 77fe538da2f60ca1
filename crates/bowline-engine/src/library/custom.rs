//! Custom commands and skills, read from Markdown files of the project, the user and plugins.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    instructions::{frontmatter::Document, memory::read_text},
    plugin::{Plugin, Plugins},
    settings::{
        Part, ProjectTrust, SettingsPaths, SkippedParts, SourceSet, is_harmless_model, shown,
    },
};

/// The maximum depth of nested folders of commands.
const DEEPEST: usize = 5;
/// The maximum number of commands or skills in one folder.
const MOST_FILES: usize = 500;
/// The maximum length of a description that is taken from the text.
const DESCRIPTION_LIMIT: usize = 200;
/// The prefix of names of MCP prompts.
const MCP_PROMPT: &str = "mcp__";

/// Custom commands and skills.
#[derive(Debug, Default)]
pub(crate) struct Library {
    pub(crate) commands: Vec<CustomCommand>,
    pub(crate) skills: Vec<CustomCommand>,
    /// The folder that must contain the files, while those of an untrusted project are read.
    bounds: Option<Arc<ProjectTrust>>,
    /// Skipped files, which lie elsewhere.
    links: Vec<PathBuf>,
}

/// A custom command, or a skill, which has a folder of material.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CustomCommand {
    /// The name. That of a command begins with its folders, as in `git:commit`; that of a skill is
    /// its folder's.
    pub(crate) name: String,
    /// Other names: without the plugin's prefix, and the one in its head.
    pub(crate) aliases: Vec<String>,
    /// The name in its head, if it is another.
    pub(crate) told_name: Option<String>,
    pub(crate) description: String,
    /// Whether the description comes from the head, not from the first line.
    pub(crate) is_described: bool,
    pub(crate) argument_hint: String,
    /// The names of its arguments.
    pub(crate) arguments: Vec<String>,
    /// Permission rules that apply during its turn.
    pub(crate) allowed_tools: Vec<String>,
    /// The model that works on it, if not the session's.
    pub(crate) model: Option<String>,
    pub(crate) path: PathBuf,
    pub(crate) source: LibrarySource,
    /// The folder with a skill's material.
    pub(crate) folder: Option<PathBuf>,
    /// Whether the model may call it.
    pub(crate) is_for_model: bool,
    /// Whether the user may call it.
    pub(crate) is_for_people: bool,
    /// Whether its text calls programs.
    pub(crate) runs_programs: bool,
    /// Its project, if that is not trusted: then it runs no program.
    pub(crate) doubt: Option<Arc<ProjectTrust>>,
}

/// The origin of a command or skill.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum LibrarySource {
    Project,
    User,
    Plugin(Arc<Plugin>),
}

impl LibrarySource {
    /// The name in hook inputs and messages.
    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
            Self::Plugin(_) => "plugin",
        }
    }

    /// The full name of the command `name`: with the prefix of its plugin.
    fn qualify(&self, name: &str) -> String {
        match self {
            Self::Plugin(plugin) => plugin.qualify(name),
            Self::Project | Self::User => name.to_owned(),
        }
    }

    /// A description, with the plugin's name if it is a plugin's.
    fn introduce(&self, description: String) -> String {
        match self {
            Self::Plugin(plugin) => format!("({}) {description}", plugin.name),
            Self::Project | Self::User => description,
        }
    }

    /// The description as hosts show it.
    pub(crate) fn show(&self, description: &str) -> String {
        match self {
            Self::Plugin(_) => description.to_owned(),
            Self::Project | Self::User => format!("{description} ({})", self.as_str()),
        }
    }

    /// The text of a file, with the plugin's folders filled in.
    pub(crate) fn expand(&self, text: &str) -> String {
        match self {
            Self::Plugin(plugin) => plugin.expand(text),
            Self::Project | Self::User => text.to_owned(),
        }
    }
}

impl Library {
    /// Reads all commands and skills; `left_out` collects those that do not apply.
    pub(crate) fn find(
        (places, sources): (&SettingsPaths, SourceSet),
        plugins: &Plugins,
        standing: &ProjectTrust,
        left_out: &mut SkippedParts,
    ) -> Self {
        let projects = places.project_folders().into_iter().filter(|_| sources.project);
        let projects = projects.map(|folder| (folder.join(".claude"), LibrarySource::Project));
        let user = sources.user.then(|| (places.config_dir.clone(), LibrarySource::User));
        let mut library = Self::default();
        if standing.is_trusted() {
            // The nearest definition wins.
            projects.chain(user).for_each(|(folder, source)| library.read_folder(&folder, &source));
            library.read_plugins(plugins);
            return library;
        }
        user.into_iter().for_each(|(folder, source)| library.read_folder(&folder, &source));
        library.read_plugins(plugins);
        let standing = Arc::new(standing.clone());
        let mut theirs = Self { bounds: Some(Arc::clone(&standing)), ..Self::default() };
        projects.for_each(|(folder, source)| theirs.read_folder(&folder, &source));
        for path in &theirs.links {
            left_out.add(Part::Link, shown(path, &places.project));
        }
        library.add_doubted(theirs, &standing, left_out);
        library
    }

    /// Adds the commands and skills of an untrusted project. They do not replace existing names, and
    /// their permission rules do not apply.
    fn add_doubted(
        &mut self,
        theirs: Self,
        standing: &Arc<ProjectTrust>,
        left_out: &mut SkippedParts,
    ) {
        let taken: Vec<_> = self.commands.iter().chain(&self.skills).flat_map(names).collect();
        let is_taken = |command: &CustomCommand| {
            names(command).iter().any(|name| {
                taken.contains(name) || super::is_builtin(name) || name.starts_with(MCP_PROMPT)
            })
        };
        let mut restrain = |mut command: CustomCommand| {
            if is_taken(&command) {
                left_out.add(Part::Command, command.name);
                return None;
            }
            let mut add =
                |what: &str| left_out.add(Part::Command, format!("{what} of {}", command.name));
            if !std::mem::take(&mut command.allowed_tools).is_empty() {
                add("allowed-tools");
            }
            if command.model.take_if(|name| !is_harmless_model(name)).is_some() {
                add("model");
            }
            if command.runs_programs {
                add("programs");
            }
            command.doubt = Some(Arc::clone(standing));
            Some(command)
        };
        self.commands.extend(theirs.commands.into_iter().filter_map(&mut restrain));
        self.skills.extend(theirs.skills.into_iter().filter_map(&mut restrain));
    }

    /// Whether a file may be read; notes it otherwise.
    fn admits(&mut self, path: &Path) -> bool {
        let admitted = self.bounds.as_ref().is_none_or(|bounds| bounds.admits(path));
        if !admitted {
            self.links.push(path.to_owned());
        }
        admitted
    }

    fn read_folder(&mut self, folder: &Path, source: &LibrarySource) {
        self.read_commands(&folder.join("commands"), source);
        self.read_skills(&folder.join("skills"), source);
    }

    fn read_plugins(&mut self, plugins: &Plugins) {
        for plugin in plugins.loaded() {
            let source = LibrarySource::Plugin(Arc::new(plugin.clone()));
            plugin.commands.iter().for_each(|place| self.read_commands(place, &source));
            plugin.skills.iter().for_each(|place| self.read_skills(place, &source));
        }
    }

    /// Reads the commands of a folder, or of one file.
    fn read_commands(&mut self, place: &Path, source: &LibrarySource) {
        let mut files = Vec::new();
        match place.file_stem().and_then(|stem| stem.to_str()) {
            Some(stem) if is_markdown(place) => files.push((stem.to_owned(), place.to_owned())),
            _ => markdown_files(place, "", DEEPEST, &mut files),
        }
        for (name, path) in files {
            let name = source.qualify(&name);
            let known = self.commands.iter().any(|command| command.name == name);
            if known || !self.admits(&path) {
                continue;
            }
            if let Some(document) = read_document(&path) {
                self.commands.push(CustomCommand::new(name, path, source.clone(), &document));
            }
        }
    }

    /// Reads the skills of a folder, or the skill that the folder is.
    fn read_skills(&mut self, place: &Path, source: &LibrarySource) {
        let is_one = place.join("SKILL.md").is_file();
        let folders = if is_one { vec![place.to_owned()] } else { sorted_entries(place) };
        for folder in folders {
            let path = folder.join("SKILL.md");
            if !path.exists() || !self.admits(&path) {
                continue;
            }
            let Some(document) = read_document(&path) else { continue };
            let Some(folder_name) = folder.file_name().and_then(|name| name.to_str()) else {
                continue;
            };
            let told = document.text("name");
            // The name of an arbitrary folder is not the skill's name.
            let short = told.filter(|_| is_one).unwrap_or(folder_name).to_owned();
            let name = source.qualify(&short);
            if self.skills.iter().any(|known| known.name == name) {
                continue;
            }
            let told_name = told.filter(|told| *told != short).map(str::to_owned);
            let mut skill = CustomCommand::new(name, path, source.clone(), &document);
            let aliases = [Some(short), told_name.clone()].into_iter().flatten();
            skill.aliases = aliases.filter(|alias| *alias != skill.name).collect();
            skill.told_name = told_name.map(|told| source.qualify(&told));
            skill.folder = Some(folder);
            self.skills.push(skill);
        }
    }
}

/// All names of a command, normalized so that lookalikes collide.
fn names(command: &CustomCommand) -> Vec<String> {
    let names = [&command.name].into_iter().chain(&command.aliases);
    names.map(|name| name.trim().to_lowercase()).collect()
}

/// A parsed Markdown file. An empty one is a command without text.
fn read_document(path: &Path) -> Option<Document> {
    let is_empty = || fs::metadata(path).is_ok_and(|about| about.is_file() && about.len() == 0);
    read_text(path).or_else(|| is_empty().then(String::new)).map(|text| Document::parse(&text))
}

impl CustomCommand {
    /// Whether its file is still inside the project: links can change.
    pub(crate) fn may_be_read(&self) -> bool {
        self.doubt.as_ref().is_none_or(|standing| standing.admits(&self.path))
    }

    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.iter().any(|alias| alias == name)
    }

    fn new(name: String, path: PathBuf, source: LibrarySource, document: &Document) -> Self {
        Self {
            name,
            aliases: Vec::new(),
            told_name: None,
            description: source.introduce(description(document)),
            is_described: document.text("description").is_some(),
            argument_hint: document.text("argument-hint").unwrap_or_default().to_owned(),
            arguments: arguments(document),
            allowed_tools: allowed_tools(document, &source),
            model: model(document),
            is_for_model: document.flag("disable-model-invocation") != Some(true),
            is_for_people: document.flag("user-invocable") != Some(false),
            runs_programs: super::body::names_program(&document.body),
            doubt: None,
            path,
            source,
            folder: None,
        }
    }
}

/// The description in the head, or else the first line with text.
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

/// The names of arguments, as a list or with spaces between them.
fn arguments(document: &Document) -> Vec<String> {
    let names = document.list("arguments").unwrap_or_default();
    names.iter().flat_map(|names| names.split_whitespace()).map(str::to_owned).collect()
}

fn model(document: &Document) -> Option<String> {
    document.text("model").filter(|name| *name != "inherit").map(str::to_owned)
}

/// The Markdown files of a folder and below it, with the names that follow from their paths.
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

//! Project memory: files of instructions that people leave for the agent.
//!
//! They are `CLAUDE.md`, `AGENTS.md` and `CLAUDE.local.md` in the project and in
//! every folder above it, `.claude/CLAUDE.md` and the rules in `.claude/rules` beside
//! them, and `CLAUDE.md` and `rules` in the user's configuration folder. A file may
//! import others with `@path`: the user's own any file, a project's only files of the project.
//! In a project that is not trusted no file may be a link out of it.

use std::{
    collections::HashSet,
    fs,
    io::Read,
    path::{Path, PathBuf},
};

use super::{
    markdown,
    rules::{PathScope, Rule},
};
use crate::settings::{Part, ProjectTrust, SettingsPaths, SkippedParts, SourceSet, shown};

/// The maximum depth of imports.
const IMPORT_DEPTH: usize = 5;
/// The maximum number of files: more is a mistake in an import.
const MOST_FILES: usize = 64;
/// The number of bytes read of one file.
const FILE_LIMIT: u64 = 128 * 1024;
/// The maximum size of all files together.
const TOTAL_LIMIT: usize = 512 * 1024;

/// A file of instructions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MemoryFile {
    pub(crate) path: PathBuf,
    pub(crate) kind: MemoryKind,
    pub(crate) text: String,
    /// The file that imports it.
    pub(crate) parent: Option<PathBuf>,
    /// The patterns of the files that it applies to, if it is a rule about certain files.
    pub(crate) globs: Option<Vec<String>>,
}

/// The owner of instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryKind {
    User,
    Project,
    Local,
}

impl MemoryKind {
    /// As hooks and hosts call it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::User => "User",
            Self::Project => "Project",
            Self::Local => "Local",
        }
    }

    fn described(self) -> &'static str {
        match self {
            Self::User => "the user's own instructions for every project",
            Self::Project => "the project's instructions",
            Self::Local => "the user's own instructions for this project",
        }
    }
}

/// The files of one folder, in the order in which they are read.
const IN_FOLDER: [(&str, MemoryKind); 4] = [
    ("CLAUDE.md", MemoryKind::Project),
    (".claude/CLAUDE.md", MemoryKind::Project),
    ("AGENTS.md", MemoryKind::Project),
    ("CLAUDE.local.md", MemoryKind::Local),
];

/// Reads files of instructions, each once.
#[derive(Debug, Clone)]
pub(crate) struct MemoryReader {
    seen: HashSet<PathBuf>,
    folders: HashSet<PathBuf>,
    bytes: usize,
    home: Option<PathBuf>,
    standing: ProjectTrust,
    /// Rules about files, of which none was touched yet.
    waiting: Vec<(PathScope, MemoryFile)>,
}

/// The origin of a file that is read.
#[derive(Clone, Copy)]
struct Origin<'a> {
    kind: MemoryKind,
    /// The folder that must contain it and its imports; `None` for any.
    within: Option<&'a Path>,
    /// The file that imports it.
    parent: Option<&'a Path>,
}

impl MemoryReader {
    pub(crate) fn new(home: Option<PathBuf>, standing: ProjectTrust) -> Self {
        Self {
            seen: HashSet::new(),
            folders: HashSet::new(),
            bytes: 0,
            home,
            standing,
            waiting: Vec::new(),
        }
    }

    /// The files that apply from the start: the user's, then those of the folders from the root down.
    pub(crate) fn read_all(
        &mut self,
        places: &SettingsPaths,
        directory: &Path,
        sources: SourceSet,
    ) -> Vec<MemoryFile> {
        let mut files = Vec::new();
        if sources.user {
            let origin = Origin { kind: MemoryKind::User, within: None, parent: None };
            self.read(&places.config_dir.join("CLAUDE.md"), origin, IMPORT_DEPTH, &mut files);
            self.read_rules(&places.config_dir.join("rules"), directory, origin, &mut files);
        }
        let mut folders: Vec<_> = directory.ancestors().collect();
        folders.reverse();
        for folder in folders {
            files.extend(self.read_folder(folder, sources));
        }
        files
    }

    /// The files that a folder adds, if it was not read before.
    pub(crate) fn read_folder(&mut self, folder: &Path, sources: SourceSet) -> Vec<MemoryFile> {
        let mut files = Vec::new();
        if !self.folders.insert(folder.to_path_buf()) {
            return files;
        }
        let within = bounds(folder, &self.standing);
        let origin = |kind| Origin { kind, within: within.as_deref(), parent: None };
        for (name, kind) in IN_FOLDER {
            let wanted = match kind {
                MemoryKind::User => sources.user,
                MemoryKind::Project => sources.project,
                MemoryKind::Local => sources.local,
            };
            if wanted {
                self.read(&folder.join(name), origin(kind), IMPORT_DEPTH, &mut files);
            }
        }
        if sources.project {
            let rules = folder.join(".claude/rules");
            self.read_rules(&rules, folder, origin(MemoryKind::Project), &mut files);
        }
        files
    }

    /// The rules about a file; each is returned once.
    pub(crate) fn take_rules_about(&mut self, file: &Path) -> Vec<MemoryFile> {
        let found = self.waiting.extract_if(.., |(scope, _)| scope.matches(file));
        found.map(|(_, rule)| rule).collect()
    }

    fn read(&mut self, path: &Path, origin: Origin<'_>, depth: usize, files: &mut Vec<MemoryFile>) {
        if !self.is_new(path, origin) {
            return;
        }
        if let Some(text) = read_text(path) {
            self.add(path, text, origin, depth, files);
        }
    }

    /// Reads the rules in `place`, which apply to files below `folder`.
    fn read_rules(
        &mut self,
        place: &Path,
        folder: &Path,
        origin: Origin<'_>,
        files: &mut Vec<MemoryFile>,
    ) {
        for path in markdown::files_in(place) {
            if !self.is_new(&path, origin) {
                continue;
            }
            match Rule::read(&path, folder) {
                Some(Rule { text, scope: None }) => {
                    self.add(&path, text, origin, IMPORT_DEPTH, files);
                }
                Some(Rule { text, scope: Some(scope) }) => {
                    self.bytes += text.len();
                    let globs = Some(scope.globs.clone());
                    let rule = MemoryFile { path, kind: origin.kind, text, parent: None, globs };
                    self.waiting.push((scope, rule));
                }
                None => {}
            }
        }
    }

    /// Whether a file was not read before and may be read now.
    fn is_new(&mut self, path: &Path, origin: Origin<'_>) -> bool {
        // Links to a file that was read, and cycles, add nothing.
        let Ok(real) = fs::canonicalize(path) else { return false };
        if origin.within.is_some_and(|folder| !real.starts_with(folder)) {
            tracing::warn!(path = %path.display(), "instructions outside of the project are not read");
            return false;
        }
        self.seen.len() < MOST_FILES && self.bytes < TOTAL_LIMIT && self.seen.insert(real)
    }

    fn add(
        &mut self,
        path: &Path,
        text: String,
        origin: Origin<'_>,
        depth: usize,
        files: &mut Vec<MemoryFile>,
    ) {
        self.bytes += text.len();
        let imports = imports(&text);
        files.push(MemoryFile {
            path: path.to_path_buf(),
            kind: origin.kind,
            text,
            parent: origin.parent.map(Path::to_path_buf),
            globs: None,
        });
        let Some(depth) = depth.checked_sub(1) else { return };
        for import in imports {
            if let Some(target) = self.resolve(path, &import) {
                self.read(&target, Origin { parent: Some(path), ..origin }, depth, files);
            }
        }
    }

    fn resolve(&self, from: &Path, import: &str) -> Option<PathBuf> {
        match import.strip_prefix("~/") {
            Some(rest) => Some(self.home.as_ref()?.join(rest)),
            None => Some(from.parent()?.join(import)),
        }
    }
}

/// The folder that must contain the instructions of `folder`; `None` for any. For folders above
/// the project that is the folder itself.
fn bounds(folder: &Path, standing: &ProjectTrust) -> Option<PathBuf> {
    if standing.is_trusted() {
        return None;
    }
    // A folder that cannot be resolved contains no file.
    let real = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    Some(if standing.contains(&real) { standing.root().to_owned() } else { real })
}

/// The files of instructions in a project that is not trusted which are links out of it.
pub(crate) fn links_out(
    places: &SettingsPaths,
    directory: &Path,
    sources: SourceSet,
    standing: &ProjectTrust,
) -> SkippedParts {
    let mut left_out = SkippedParts::default();
    if !sources.project && !sources.local {
        return left_out;
    }
    for folder in directory.ancestors() {
        let Some(within) = bounds(folder, standing) else { continue };
        let named = IN_FOLDER.iter().map(|(name, _)| folder.join(name));
        let rules = markdown::files_in(&folder.join(".claude/rules"));
        for path in named.chain(rules) {
            if fs::canonicalize(&path).is_ok_and(|real| !real.starts_with(&within)) {
                left_out.add(Part::Link, shown(&path, &places.project));
            }
        }
    }
    left_out
}

/// The section of the system prompt; `None` without files.
pub(crate) fn section(files: &[MemoryFile]) -> Option<String> {
    if files.is_empty() {
        return None;
    }
    let texts = files.iter().map(MemoryFile::titled_text);
    let head = "# Instructions from files\nThe person and the project have left these for you. \
                They take precedence over your defaults; later ones over earlier ones.";
    Some([head.to_owned()].into_iter().chain(texts).collect::<Vec<_>>().join("\n\n"))
}

impl MemoryFile {
    /// The text with its path as a title.
    pub(crate) fn titled_text(&self) -> String {
        let Self { path, kind, text, .. } = self;
        format!("Contents of {} ({}):\n\n{}", path.display(), kind.described(), text.trim())
    }
}

/// The text of a file, or of its beginning; `None` if it is not a text or is blank.
pub(crate) fn read_text(path: &Path) -> Option<String> {
    // Before it is opened: opening a pipe would wait for a writer.
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).ok()?;
    file.take(FILE_LIMIT).read_to_end(&mut bytes).ok()?;
    if bytes.contains(&0) {
        return None;
    }
    let text = String::from_utf8_lossy(&bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
    (!text.trim().is_empty()).then_some(text)
}

/// The paths after `@`, outside of code.
pub(crate) fn imports(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => found.extend(imports_of_line(line)),
            _ => {}
        }
    }
    found
}

fn imports_of_line(line: &str) -> impl Iterator<Item = String> {
    // Every second part lies between backticks.
    let outside = line.split('`').step_by(2);
    outside.flat_map(str::split_whitespace).filter_map(|word| {
        let path = word.strip_prefix('@')?;
        let path = path.trim_end_matches([',', ';', ':', ')', '.', '!', '?']);
        let is_path = path.starts_with(|first: char| {
            first.is_alphanumeric() || matches!(first, '.' | '/' | '~' | '_')
        });
        is_path.then(|| path.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_words_that_begin_with_an_at_sign_outside_of_code() {
        let text = "See @docs/a.md, and @~/b.md.\nmail me@example.org `@not/this.md`\n\
                    ```\n@nor/that.md\n```\n@./c.md";
        assert_eq!(imports(text), ["docs/a.md", "~/b.md", "./c.md"]);
    }
}

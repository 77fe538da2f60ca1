//! Output styles: other manners of answering, as Markdown files of the user and the project.

use std::{fs, path::Path};

use super::{frontmatter::Document, memory::read_text};
use crate::session::Shared;

/// The style that is no style.
pub(crate) const DEFAULT: &str = "default";
/// How many styles a folder may have.
const MOST_STYLES: usize = 200;

/// A manner of answering.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutputStyle {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    /// What the model is told.
    pub(crate) text: String,
    /// Whether our own words on how to work stay.
    pub(crate) keeps_work: bool,
}

/// The styles there are: the project's, the user's, those of plugins.
pub(crate) fn all(session: &Shared) -> Vec<OutputStyle> {
    let (places, sources) = (&session.config.places, session.config.sources);
    let project = sources.project.then(|| places.project.join(".claude/output-styles"));
    let user = sources.user.then(|| places.config_dir.join("output-styles"));
    let own = [project, user].into_iter().flatten().flat_map(|folder| in_place(&folder));
    let plugins = session.plugins();
    let theirs = plugins.loaded().iter().flat_map(|plugin| {
        let styles = plugin.styles.iter().flat_map(|place| in_place(place));
        styles.map(|style| OutputStyle {
            name: plugin.qualify(&style.name),
            text: plugin.expand(&style.text),
            ..style
        })
    });
    let mut styles: Vec<OutputStyle> = Vec::new();
    for style in own.chain(theirs) {
        if style.name != DEFAULT && !styles.iter().any(|known| known.name == style.name) {
            styles.push(style);
        }
    }
    styles
}

/// The style that is in use, unless that is none.
pub(super) fn current(session: &Shared) -> Option<OutputStyle> {
    let name = session.live().output_style.clone();
    if name == DEFAULT {
        return None;
    }
    all(session).into_iter().find(|it| it.name == name)
}

/// The styles of a folder, or the one of a file.
fn in_place(folder: &Path) -> Vec<OutputStyle> {
    if folder.is_file() {
        return read(folder).into_iter().collect();
    }
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let mut paths: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .take(MOST_STYLES)
        .collect();
    paths.sort();
    paths.iter().filter_map(|path| read(path)).collect()
}

fn read(path: &Path) -> Option<OutputStyle> {
    let document = Document::parse(&read_text(path)?);
    let stem = path.file_stem()?.to_str()?;
    Some(OutputStyle {
        name: document.text("name").unwrap_or(stem).to_owned(),
        description: document.text("description").map(str::to_owned),
        keeps_work: document.flag("keep-coding-instructions").unwrap_or(false),
        text: document.body.trim().to_owned(),
    })
}

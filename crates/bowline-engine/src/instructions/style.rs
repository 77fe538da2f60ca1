//! Output styles: built in, or Markdown files of plugins, the user and the project.

mod built_in;

use std::path::Path;

use super::{frontmatter::Document, markdown, memory::read_text};
use crate::{
    plugin::Plugins,
    settings::{Part, ProjectTrust, SettingsPaths, SkippedParts, SourceSet, shown},
};

/// The name of the default style, unless a file defines a style of that name.
pub(crate) const DEFAULT: &str = "default";

/// An output style.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutputStyle {
    pub(crate) name: String,
    /// The instructions for the model.
    pub(crate) text: String,
    /// Whether the default instructions for working on a task stay.
    pub(crate) keeps_work: bool,
    /// Whether its plugin forces its use.
    pub(crate) is_forced: bool,
}

/// The styles: built in, of plugins, of the user, of the project. Later ones replace
/// earlier ones of the same name; `left_out` collects those that do not apply.
pub(crate) fn find(
    (places, sources): (&SettingsPaths, SourceSet),
    plugins: &Plugins,
    standing: &ProjectTrust,
    left_out: &mut SkippedParts,
) -> Vec<OutputStyle> {
    let user = sources.user.then(|| places.config_dir.join("output-styles"));
    let projects = places.project_folders().into_iter().rev().filter(|_| sources.project);
    let projects = projects.map(|folder| folder.join(".claude/output-styles"));
    let user = user.into_iter().flat_map(|folder| in_place(&folder));
    let mut styles: Vec<OutputStyle> = Vec::new();
    let unforced = |style| OutputStyle { is_forced: false, ..style };
    for style in built_in::all().into_iter().chain(of_plugins(plugins)).chain(user.map(unforced)) {
        match styles.iter_mut().find(|known| known.name == style.name) {
            Some(known) => *known = style,
            None => styles.push(style),
        }
    }
    for path in projects.flat_map(|folder| markdown::files_in(&folder)) {
        if !standing.admits(&path) {
            left_out.add(Part::Link, shown(&path, &places.project));
            continue;
        }
        let Some(style) = read(&path).map(unforced) else { continue };
        match styles.iter_mut().find(|known| known.name == style.name) {
            // An untrusted style must not replace another one.
            Some(_) if !standing.is_trusted() => left_out.add(Part::Style, style.name),
            Some(known) => *known = style,
            None => styles.push(style),
        }
    }
    styles
}

fn of_plugins(plugins: &Plugins) -> Vec<OutputStyle> {
    let styles = plugins.loaded().iter().flat_map(|plugin| {
        let styles = plugin.styles.iter().flat_map(|place| in_place(place));
        styles.map(|style| OutputStyle {
            name: plugin.qualify(&style.name),
            text: plugin.expand(&style.text),
            ..style
        })
    });
    styles.collect()
}

/// The styles of a folder, or the one of a file.
fn in_place(place: &Path) -> Vec<OutputStyle> {
    markdown::files_in(place).iter().filter_map(|path| read(path)).collect()
}

fn read(path: &Path) -> Option<OutputStyle> {
    let document = Document::parse(&read_text(path)?);
    let stem = path.file_stem()?.to_str()?;
    Some(OutputStyle {
        name: document.text("name").unwrap_or(stem).to_owned(),
        keeps_work: document.flag("keep-coding-instructions").unwrap_or(false),
        is_forced: document.flag("force-for-plugin").unwrap_or(false),
        text: document.body.trim().to_owned(),
    })
}

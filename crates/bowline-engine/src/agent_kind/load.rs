//! Agents from files: `.claude/agents/*.md` of the project and of the user, with front matter.

use std::path::Path;

use super::{AgentKind, AgentSource, ProjectInstructions, doubt, kind::read_hooks, servers};
use crate::{
    instructions::{frontmatter::Document, markdown, memory::read_text},
    plugin::Plugins,
    settings::{
        Part, ProjectTrust, Settings, SettingsPaths, SkippedParts, Source, SourceSet, shown,
    },
};

/// The agents that the user's files define.
pub(crate) fn of_user(places: &SettingsPaths, sources: SourceSet) -> Vec<AgentKind> {
    let folder = sources.user.then(|| places.config_dir.join("agents"));
    let kinds = folder.into_iter().flat_map(|folder| from_place(&folder, is_agent));
    let source = AgentSource::Settings(Source::User);
    kinds.map(|kind| AgentKind { source, ..kind }).collect()
}

/// The agents that the project's files define, the nearest ones last. In a project that is not
/// trusted they have no more rights than their session gives them; `left_out` collects the rest.
pub(crate) fn of_project(
    places: &SettingsPaths,
    sources: SourceSet,
    standing: &ProjectTrust,
    left_out: &mut SkippedParts,
) -> Vec<AgentKind> {
    let folders = places.project_folders().into_iter().rev().filter(|_| sources.project);
    let paths = folders.flat_map(|folder| markdown::files_in(&folder.join(".claude/agents")));
    let mut kinds = Vec::new();
    for path in paths {
        if !standing.admits(&path) {
            left_out.add(Part::Link, shown(&path, &places.project));
            continue;
        }
        let Some(mut kind) = from_file(&path, is_agent) else { continue };
        kind.source = AgentSource::Settings(Source::Project);
        if !standing.is_trusted() {
            doubt::restrain(&mut kind, &shown(&path, &places.project), left_out);
        }
        kinds.push(kind);
    }
    kinds
}

/// A file without a name or a description is not an agent.
fn is_agent(document: &Document) -> bool {
    document.text("name").is_some() && document.text("description").is_some()
}

/// The agents that settings define. Of two with one name, that of the higher layer applies as a whole.
pub(crate) fn from_settings(settings: &Settings) -> Vec<AgentKind> {
    let layers = settings.layers().iter();
    let agents = layers.flat_map(|layer| {
        let agents = layer.known.agents.iter();
        agents.map(|(name, definition)| AgentKind::given(layer.source, name, definition))
    });
    agents.collect()
}

/// The agents that plugins bring.
pub(crate) fn from_plugins(plugins: &Plugins) -> Vec<AgentKind> {
    let agents = plugins.loaded().iter().flat_map(|plugin| {
        let agents = plugin.agents.iter().flat_map(|place| from_place(place, |_| true));
        agents.map(|kind| AgentKind {
            name: plugin.qualify(&kind.name),
            prompt: plugin.expand(&kind.prompt),
            source: AgentSource::Plugin,
            // A plugin lists its servers in its manifest, where the user sees them.
            servers: Vec::new(),
            blocked_servers: Vec::new(),
            ..kind
        })
    });
    agents.collect()
}

/// The agents of a folder, or the one of a file.
fn from_place(folder: &Path, is_agent: impl Fn(&Document) -> bool) -> Vec<AgentKind> {
    markdown::files_in(folder).iter().filter_map(|path| from_file(path, &is_agent)).collect()
}

fn from_file(path: &Path, is_agent: impl Fn(&Document) -> bool) -> Option<AgentKind> {
    let document = Document::parse(&read_text(path)?);
    if !is_agent(&document) {
        tracing::warn!(path = %path.display(), "an agent needs a name and a description");
        return None;
    }
    from_document(path, &document)
}

fn from_document(path: &Path, document: &Document) -> Option<AgentKind> {
    let stem = path.file_stem()?.to_string_lossy().into_owned();
    let model = document.text("model").filter(|model| *model != "inherit");
    Some(AgentKind {
        name: document.text("name").map_or(stem, str::to_owned),
        source: AgentSource::Settings(Source::Project),
        path: Some(path.to_owned()),
        description: document.text("description").unwrap_or_default().to_owned(),
        prompt: document.body.trim().to_owned(),
        tools: document.list("tools"),
        disallowed_tools: document.list("disallowedTools").unwrap_or_default(),
        model: model.map(str::to_owned),
        effort: document.text("effort").and_then(|level| level.parse().ok()),
        max_turns: document.text("maxTurns").and_then(|turns| turns.parse().ok()),
        background: document.text("background").map(|background| background == "true"),
        permission_mode: document.text("permissionMode").map(Into::into),
        isolated: document.text("isolation") == Some("worktree"),
        initial_prompt: document.text("initialPrompt").map(str::to_owned),
        skills: document.list("skills").unwrap_or_default(),
        memory: document.text("memory").map(Into::into),
        instructions: match document.text("omitClaudeMd") {
            Some("true") => ProjectInstructions::Omitted,
            _ => ProjectInstructions::Told,
        },
        hooks: document.nested("hooks").as_ref().map(read_hooks).unwrap_or_default(),
        servers: document.nested("mcpServers").map(servers::written).unwrap_or_default(),
        blocked_servers: Vec::new(),
    })
}

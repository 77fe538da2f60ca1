//! Context of the model besides the conversation: system prompt, reminders, and usage of the window.
//!
//! | subject | where |
//! |---|---|
//! | our own texts | [`prompt`] |
//! | files of instructions, facts, styles | [`instructions`](crate::instructions) |
//! | reminders beside tool results | [`nested`] |
//! | instructions of MCP servers | [`servers`] |
//! | token counts | [`tokens`], [`counted`], [`usage`](mod@usage) |
//!
//! Files are read once per conversation and their text then stays the same in
//! bytes, so that the API's prompt cache keeps working.

mod counted;
mod nested;
pub(crate) mod plan;
mod prompt;
mod servers;
pub(crate) mod tokens;
mod usage;

use std::{path::Path, sync::Arc};

use bowline_protocol::{
    EventInput, Extra, HookEvent, InstructionsLoadedInput, SYSTEM_PROMPT_DYNAMIC_BOUNDARY,
};
use tokio_util::sync::CancellationToken;

pub(crate) use self::{
    counted::count,
    usage::{auto_compact, threshold, usage},
};
use crate::{
    agent::Agent,
    agent_kind::{AgentKind, ProjectInstructions, memory_section},
    config::SystemPrompt,
    identity::Identity,
    instructions::{
        Environment, LoadReason, Loaded, MemoryFile, Snapshot, memory,
        style::{self, OutputStyle},
    },
    library::CustomCommand,
    session_context::SessionContext,
    settings::SkippedParts,
    state::HostTraits,
    toolset::Toolset,
};

/// The maximum length of the list of skills, in bytes.
const SKILL_LISTING_LIMIT: usize = 16 * 1024;

impl Agent {
    /// Rebuilds the main agent's system prompt; a subagent keeps its own.
    ///
    /// Returns the sections to send with the next prompt instead, if the host wants a system prompt
    /// that does not depend on the machine and the project.
    pub(crate) async fn renew_instructions(
        &mut self,
        cancel: &CancellationToken,
    ) -> Option<String> {
        if !self.identity.is_main() {
            return None;
        }
        let session = Arc::clone(&self.session);
        let loaded = load(&session, cancel).await;
        let Composed { mut system, dynamic } = compose(&session, &loaded, &self.tools);
        let apart = session.host.read(|host| host.exclude_dynamic_sections);
        let separate = match (apart, dynamic) {
            (true, Some(dynamic)) => self.conversation.is_empty().then(|| reminder(&dynamic)),
            (false, Some(dynamic)) => {
                system.push(dynamic);
                None
            }
            (_, None) => None,
        };
        self.instructions.system = system;
        self.note_context();
        separate
    }

    /// Adds the environment, the project's instructions and the callable skills to a subagent's system
    /// prompt.
    pub(crate) async fn orient(
        &mut self,
        instructions: ProjectInstructions,
        cancel: &CancellationToken,
    ) {
        let session = Arc::clone(&self.session);
        let loaded = load(&session, cancel).await;
        let copy = self.identity.subagent().and_then(|subagent| subagent.worktree.clone());
        let environment = copy.map_or_else(|| loaded.environment.clone(), Environment::look);
        let model = self.instructions.model.clone().unwrap_or_else(|| session.models.name());
        let environment = environment.section(&model, &session.permissions.added_directories());
        let memory = match instructions {
            ProjectInstructions::Told => memory::section(&loaded.memory),
            ProjectInstructions::Omitted => None,
        };
        let servers = servers::section(&session, &self.tools);
        let skills = skills(&session, &self.tools);
        self.instructions.system.push(environment);
        self.instructions.system.extend([memory, servers, skills].into_iter().flatten());
    }

    /// Updates the snapshot for `get_context_usage`.
    pub(crate) fn note_context(&self) {
        if self.identity.is_main() {
            self.session.model_context.note(Snapshot {
                system: self.instructions.system.clone(),
                messages: self.conversation.messages().to_vec(),
                tools: Some(Arc::clone(&self.tools)),
            });
        }
    }
}

/// Composes the system prompt of the first turn, so that it can be counted before.
pub(crate) async fn foresee(session: &SessionContext) {
    if !session.model_context.snapshot().system.is_empty() {
        return;
    }
    let loaded = load(session, &CancellationToken::new()).await;
    let mut snapshot = session.model_context.snapshot();
    if snapshot.system.is_empty() {
        let tools = snapshot.tools.clone().unwrap_or_else(|| Arc::new(Toolset::empty()));
        let Composed { system, dynamic } = compose(session, &loaded, &tools);
        snapshot.system = system.into_iter().chain(dynamic).collect();
        session.model_context.note(snapshot);
    }
}

/// A text in the tags that mark it as a reminder by the environment.
pub(crate) fn reminder(text: &str) -> String {
    format!("<system-reminder>\n{text}\n</system-reminder>")
}

struct Composed {
    /// Sections that do not depend on the machine and the project.
    system: Vec<String>,
    /// Sections that do.
    dynamic: Option<String>,
}

fn compose(session: &SessionContext, loaded: &Loaded, tools: &Toolset) -> Composed {
    let host = session.host.read(HostTraits::clone);
    let config = match &session.config.system_prompt {
        SystemPrompt::Custom(parts) => (Some(parts.clone()), None),
        SystemPrompt::Default { append } => (None, append.clone()),
    };
    // An empty prompt of the host means no prompt.
    let custom = host.system_prompt.or(config.0);
    let chosen = session.kinds.main();
    let custom = chosen.as_ref().map(|kind| kind_instructions(session, kind)).or(custom);
    let append = host.append_system_prompt.or(config.1).filter(|text| !text.is_empty());
    let is_own = custom.is_none();
    let mut system = custom.unwrap_or_else(|| vec![own(session)]);
    // The boundary between cached parts is for the API; the model must not see it.
    system.retain(|part| part != SYSTEM_PROMPT_DYNAMIC_BOUNDARY);
    system.extend(append);
    system.extend(plan::section(session));
    let environment = is_own.then(|| {
        loaded.environment.section(&session.models.name(), &session.permissions.added_directories())
    });
    let omitted = chosen.is_some_and(|kind| kind.instructions == ProjectInstructions::Omitted);
    let memory = if omitted { None } else { memory::section(&loaded.memory) };
    let servers = servers::section(session, tools);
    let sections = [environment, memory, servers, skills(session, tools)];
    let sections: Vec<_> = sections.into_iter().flatten().collect();
    Composed { system, dynamic: (!sections.is_empty()).then(|| sections.join("\n\n")) }
}

/// The instructions of the main agent's kind.
fn kind_instructions(session: &SessionContext, kind: &AgentKind) -> Vec<String> {
    let memory = session.permissions.memory();
    let memory = memory.as_deref().map(memory_section);
    [kind.prompt.clone()].into_iter().chain(memory).collect()
}

/// The output styles of the session.
fn output_styles(session: &SessionContext) -> Vec<OutputStyle> {
    let location = (&session.config.places, session.config.sources);
    let mut left_out = SkippedParts::default();
    style::find(location, &session.plugins.get(), &session.trust, &mut left_out)
}

/// The names of the output styles, the default one first.
pub(crate) fn output_style_names(session: &SessionContext) -> Vec<String> {
    let named = output_styles(session).into_iter().map(|style| style.name);
    let named = named.filter(|name| name != style::DEFAULT);
    [style::DEFAULT.to_owned()].into_iter().chain(named).collect()
}

/// The output style in use, unless that is the default.
fn current_style(session: &SessionContext) -> Option<OutputStyle> {
    let name = session.output.style();
    let mut styles = output_styles(session);
    let position = styles.iter().position(|style| style.is_forced);
    let position = position.or_else(|| styles.iter().position(|style| style.name == name))?;
    Some(styles.swap_remove(position))
}

/// The default system prompt, in the current output style.
fn own(session: &SessionContext) -> String {
    let style = current_style(session);
    let work = style.as_ref().is_none_or(|style| style.keeps_work);
    let language = session.settings.lock().known().language.clone();
    let sections = [
        Some(prompt::identity().to_owned()),
        work.then(|| prompt::work().to_owned()),
        Some(prompt::tools().to_owned()),
        Some(prompt::safety().to_owned()),
        Some(match style {
            None => prompt::responses().to_owned(),
            Some(style) => format!("# Output style: {}\n{}", style.name, style.text),
        }),
        language.as_deref().map(prompt::language),
    ];
    sections.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

/// The section about skills, if the model has the tool to call them.
fn skills(session: &SessionContext, tools: &Toolset) -> Option<String> {
    let lines: Vec<_> = listed_skills(session, tools).iter().map(skill_line).collect();
    let head = "# Skills\nProcedures you can call up with the Skill tool. When a task fits one, \
                call it up before you begin.";
    (!lines.is_empty()).then(|| format!("{head}{}", lines.concat()))
}

/// The skills to list for the model, up to the size limit.
fn listed_skills(session: &SessionContext, tools: &Toolset) -> Vec<CustomCommand> {
    if tools.find("Skill").is_err() {
        return Vec::new();
    }
    let mut left = SKILL_LISTING_LIMIT;
    let fits = |skill: &CustomCommand| match left.checked_sub(skill_line(skill).len()) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    session.commands.for_model().into_iter().take_while(fits).collect()
}

fn skill_line(skill: &CustomCommand) -> String {
    format!("\n- {}: {}", skill.name, skill.description)
}

/// The instructions of this conversation; reads them if needed.
async fn load(session: &SessionContext, cancel: &CancellationToken) -> Arc<Loaded> {
    let home = session.permissions.policy().home().map(Path::to_path_buf);
    let (loaded, reason) = session.model_context.load(&session.config, home, &session.trust);
    if let Some(reason) = reason {
        run_loaded_hooks(session, &loaded.memory, reason, None, cancel).await;
    }
    loaded
}

/// Runs the hooks for instructions that were loaded.
async fn run_loaded_hooks(
    session: &SessionContext,
    files: &[MemoryFile],
    reason: LoadReason,
    trigger: Option<&str>,
    cancel: &CancellationToken,
) {
    if !session.hooks.has(HookEvent::InstructionsLoaded) {
        return;
    }
    for file in files {
        let reason = match (&file.parent, &file.globs) {
            (Some(_), _) => LoadReason::Include,
            (None, Some(_)) => LoadReason::PathGlobMatch,
            (None, None) => reason,
        };
        let event = EventInput::InstructionsLoaded(InstructionsLoadedInput {
            file_path: file.path.display().to_string(),
            memory_type: file.kind.as_str().to_owned(),
            load_reason: reason.as_str().to_owned(),
            globs: file.globs.clone(),
            trigger_file_path: trigger.map(str::to_owned),
            parent_file_path: file.parent.as_ref().map(|path| path.display().to_string()),
            extra: Extra::new(),
        });
        session.hooks.run(&Identity::Main, event, cancel).await;
    }
}

//! Catalog of slash commands and skills: built in, custom, and prompts of MCP servers.
//!
//! [`command`](crate::command) runs them.

mod body;
mod builtin;
mod custom;
mod terminal;

use std::sync::{Arc, Weak};

use bowline_mcp::{McpPrompt, McpServers};
use bowline_protocol::{Content, OriginKind, SlashCommand, UserMessage};
use parking_lot::Mutex;

pub(crate) use self::{
    body::{PROGRAM, body, fill_in, introduced, names_program},
    builtin::{Action, BUILTINS, Builtin},
    custom::{CustomCommand, Library, LibrarySource},
};
use crate::{
    config::SessionConfig,
    settings::{ProjectTrust, SettingsPaths, SkippedParts, SourceSet},
    state::{CurrentPlugins, HostProfile},
};

/// The commands and skills of a session.
pub(crate) struct CommandCatalog {
    /// Whether slash commands are enabled.
    enabled: bool,
    places: SettingsPaths,
    sources: SourceSet,
    trust: ProjectTrust,
    plugins: Arc<CurrentPlugins>,
    host: Arc<HostProfile>,
    mcp: Weak<McpServers>,
    /// Custom commands and skills, read once.
    library: Mutex<Option<Arc<Library>>>,
}

/// A prompt that names a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Invocation {
    /// The name as it was typed, without the slash.
    pub(crate) name: String,
    /// The arguments.
    pub(crate) args: String,
}

/// The command that an invocation names.
pub(crate) enum FoundCommand {
    Builtin(&'static Builtin),
    Custom(CustomCommand),
    McpPrompt(McpPrompt),
    /// A command that cannot be run here, and is not sent to the model either.
    Unavailable,
}

/// Whether a name is that of a built-in command.
pub(crate) fn is_builtin(name: &str) -> bool {
    BUILTINS.iter().any(|builtin| builtin.is_called(name))
}

impl CommandCatalog {
    pub(crate) fn new(
        config: &SessionConfig,
        trust: &ProjectTrust,
        plugins: &Arc<CurrentPlugins>,
        host: &Arc<HostProfile>,
        mcp: &Weak<McpServers>,
    ) -> Self {
        Self {
            enabled: config.slash_commands,
            places: config.places.clone(),
            sources: config.sources,
            trust: trust.clone(),
            plugins: Arc::clone(plugins),
            host: Arc::clone(host),
            mcp: Weak::clone(mcp),
            library: Mutex::default(),
        }
    }

    /// Discards the cache, so that custom commands and skills are read again.
    pub(crate) fn reload(&self) {
        *self.library.lock() = None;
    }

    fn library(&self) -> Arc<Library> {
        let read = || {
            let place = (&self.places, self.sources);
            let mut left_out = SkippedParts::default();
            Arc::new(Library::find(place, &self.plugins.get(), &self.trust, &mut left_out))
        };
        Arc::clone(self.library.lock().get_or_insert_with(read))
    }

    /// All commands as hosts see them, prompts of MCP servers included.
    pub(crate) fn all(&self) -> Vec<SlashCommand> {
        let prompts = self.mcp_prompts().into_iter().map(|prompt| prompt.slash_command());
        self.list().into_iter().chain(prompts).collect()
    }

    /// The commands without prompts of MCP servers.
    pub(crate) fn list(&self) -> Vec<SlashCommand> {
        if !self.enabled {
            return Vec::new();
        }
        let custom = self.for_people().map(|command| SlashCommand {
            description: command.source.show(&command.description),
            ..listed(command)
        });
        custom.chain(BUILTINS.iter().map(Builtin::listed)).collect()
    }

    /// The custom commands, and the skills that the user may call.
    pub(crate) fn list_custom(&self) -> Vec<SlashCommand> {
        self.for_people().map(listed).collect()
    }

    /// The names of all commands; a skill has the name of its folder.
    pub(crate) fn names(&self) -> Vec<String> {
        let builtins = BUILTINS.iter().filter(|_| self.enabled);
        let custom = self.for_people().map(|command| command.name);
        let prompts = self.mcp_prompts().into_iter().map(|prompt| prompt.slash_command().name);
        custom.chain(builtins.map(|builtin| builtin.listed().name)).chain(prompts).collect()
    }

    /// The skills for the model and those for the user.
    fn skills(&self) -> Vec<CustomCommand> {
        if !self.enabled {
            return Vec::new();
        }
        let wanted = self.host.read(|host| host.skills.clone());
        let library = self.library();
        let skills = library.skills.iter();
        let is_wanted = |skill: &&CustomCommand| {
            wanted.as_ref().is_none_or(|names| names.iter().any(|name| skill.is_called(name)))
        };
        skills.filter(is_wanted).cloned().collect()
    }

    /// The names of the skills that a host shows: callable by the user, and with a description.
    pub(crate) fn skill_names(&self) -> Vec<String> {
        let skills = self.skills().into_iter();
        let shown = skills.filter(|skill| skill.is_for_people && skill.is_described);
        shown.map(|skill| skill.name).collect()
    }

    /// Finds a skill or a custom command by any of its names.
    pub(crate) fn find_custom(&self, name: &str) -> Option<CustomCommand> {
        let commands: Vec<_> = self.custom_commands().collect();
        // A full name takes precedence over another command's short name.
        let found = commands.iter().find(|command| command.name == name);
        found.or_else(|| commands.iter().find(|command| command.is_called(name))).cloned()
    }

    /// Skills and commands that the model may call.
    pub(crate) fn for_model(&self) -> Vec<CustomCommand> {
        self.custom_commands().filter(|command| command.is_for_model).collect()
    }

    /// Finds the command of a name.
    pub(crate) fn find(&self, name: &str) -> Option<FoundCommand> {
        let builtin = BUILTINS.iter().find(|builtin| builtin.is_called(name));
        if !self.enabled {
            return (builtin.is_some() || terminal::is_terminal_command(name))
                .then_some(FoundCommand::Unavailable);
        }
        if let Some(builtin) = builtin {
            return Some(FoundCommand::Builtin(builtin));
        }
        let custom = self.find_custom(name).map(FoundCommand::Custom);
        custom
            .or_else(|| self.find_mcp_prompt(name).map(FoundCommand::McpPrompt))
            .or_else(|| terminal::is_terminal_command(name).then_some(FoundCommand::Unavailable))
    }

    /// Whether a prompt needs a separate turn: commands, notes, and notices of background
    /// tasks.
    pub(crate) fn runs_alone(&self, prompt: &UserMessage) -> bool {
        prompt.should_query == Some(false)
            || !is_from_host(prompt)
            || self.is_command(&prompt.message.content)
    }

    /// Whether a prompt names a command that exists. A path does not.
    fn is_command(&self, content: &Content) -> bool {
        Invocation::read(content).is_some_and(|invocation| self.find(&invocation.name).is_some())
    }

    fn mcp_prompts(&self) -> Vec<McpPrompt> {
        self.mcp.upgrade().map(|servers| servers.prompts()).unwrap_or_default()
    }

    /// The MCP prompt of a name: its command, or its server and its name there.
    fn find_mcp_prompt(&self, name: &str) -> Option<McpPrompt> {
        let is_meant = |prompt: &McpPrompt| {
            prompt.command == name || name == format!("{}:{}", prompt.server, prompt.name)
        };
        self.mcp_prompts().into_iter().find(is_meant)
    }

    /// Skills and custom commands.
    fn custom_commands(&self) -> impl Iterator<Item = CustomCommand> + use<> {
        let mut commands = self.skills();
        if self.enabled {
            for command in &self.library().commands {
                if !commands.iter().any(|known| known.name == command.name) {
                    commands.push(command.clone());
                }
            }
        }
        commands.into_iter()
    }

    /// The commands that the user may call.
    fn for_people(&self) -> impl Iterator<Item = CustomCommand> + use<> {
        self.custom_commands().filter(|command| command.is_for_people)
    }
}

/// Whether a prompt comes from the host, and is not the notice of a background task.
pub(crate) fn is_from_host(prompt: &UserMessage) -> bool {
    prompt.origin.as_ref().is_none_or(|origin| origin.kind == OriginKind::Human)
}

/// A command as hosts see it, by the name in its head.
fn listed(command: CustomCommand) -> SlashCommand {
    let CustomCommand { name, mut aliases, told_name, description, argument_hint, .. } = command;
    let shown = told_name.unwrap_or_else(|| name.clone());
    aliases.insert(0, name);
    aliases.retain(|alias| *alias != shown);
    SlashCommand {
        name: shown,
        description,
        argument_hint,
        aliases: (!aliases.is_empty()).then_some(aliases),
        ..SlashCommand::default()
    }
}

impl Invocation {
    pub(crate) fn read(content: &Content) -> Option<Self> {
        let text = match content {
            Content::Text(text) => text.as_str(),
            // Attachments come first; the last block is what the user typed.
            Content::Blocks(blocks) => blocks.last()?.as_text()?,
        };
        let typed = text.strip_prefix('/')?;
        let end = typed.find(char::is_whitespace).unwrap_or(typed.len());
        let (name, args) = typed.split_at(end);
        let is_name = !name.is_empty() && !name.contains('/');
        is_name.then(|| Self { name: name.to_owned(), args: args.trim().to_owned() })
    }

    /// The invocation as typed.
    pub(crate) fn typed(&self) -> String {
        match self.args.is_empty() {
            true => format!("/{}", self.name),
            false => format!("/{} {}", self.name, self.args),
        }
    }
}

//! Table of the built-in commands.

use bowline_protocol::SlashCommand;

/// A built-in command.
pub(crate) struct Builtin {
    pub(crate) name: &'static str,
    aliases: &'static [&'static str],
    description: &'static str,
    argument_hint: &'static str,
    pub(crate) action: Action,
}

/// The action of a built-in command.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Action {
    Agents,
    Clear,
    Compact,
    Config,
    Context,
    Cost,
    Effort,
    Help,
    Mcp,
    Model,
    OutputStyle,
    Permissions,
    ReloadPlugins,
    ReloadSkills,
    Rename,
}

/// All commands, sorted by name.
pub(crate) const BUILTINS: &[Builtin] = &[
    builtin("agents", &[], "List the kinds of subagents", "", Action::Agents),
    builtin(
        "clear",
        &["reset", "new"],
        "Begin a new conversation with an empty context",
        "[name]",
        Action::Clear,
    ),
    builtin(
        "compact",
        &[],
        "Replace the conversation by a summary of itself",
        "[what the summary should keep]",
        Action::Compact,
    ),
    builtin(
        "config",
        &["settings"],
        "Show or change settings that are kept",
        "key=value",
        Action::Config,
    ),
    builtin("context", &[], "Show what fills the context", "", Action::Context),
    builtin("effort", &[], "Change how hard the model tries", "<level>", Action::Effort),
    builtin("help", &[], "List the commands", "", Action::Help),
    builtin(
        "mcp",
        &[],
        "List MCP servers, or switch them on and off",
        "[reconnect|enable|disable [server]]",
        Action::Mcp,
    ),
    builtin("model", &[], "Show or change the model", "[model]", Action::Model),
    builtin("output-style", &[], "Show or change the output style", "[style]", Action::OutputStyle),
    builtin("permissions", &[], "List the permission rules", "", Action::Permissions),
    builtin("reload-plugins", &[], "Read the plugins again", "", Action::ReloadPlugins),
    builtin("reload-skills", &[], "Read the skills again", "", Action::ReloadSkills),
    builtin("rename", &["name"], "Give the session a title", "<name>", Action::Rename),
    builtin("usage", &["cost", "stats"], "Show what the session has used", "", Action::Cost),
];

const fn builtin(
    name: &'static str,
    aliases: &'static [&'static str],
    description: &'static str,
    argument_hint: &'static str,
    action: Action,
) -> Builtin {
    Builtin { name, aliases, description, argument_hint, action }
}

impl Builtin {
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    /// The command as hosts see it.
    pub(crate) fn listed(&self) -> SlashCommand {
        let aliases: Vec<_> = self.aliases.iter().map(|alias| (*alias).to_owned()).collect();
        SlashCommand {
            name: self.name.to_owned(),
            description: self.description.to_owned(),
            argument_hint: self.argument_hint.to_owned(),
            aliases: (!aliases.is_empty()).then_some(aliases),
            builtin: Some(true),
            ..SlashCommand::default()
        }
    }
}

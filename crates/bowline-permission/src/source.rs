//! Origin of a rule or a working directory.

use std::fmt;

use bowline_protocol::UpdateDestination;

/// Where a rule or a working directory comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RuleSource {
    /// The administrator's settings.
    Policy,
    /// Settings given on the command line or by the host.
    Flag,
    /// Rules and directories given on the command line.
    CliArg,
    /// The project's settings file that is not shared.
    Local,
    /// The project's shared settings file.
    Project,
    /// The user's own settings file.
    User,
    /// Changes made during the session.
    Session,
    /// A slash command or a skill.
    Command,
    /// An MCP server.
    McpMount,
    /// A narrowed list of tools.
    ToolsNarrowing,
    /// The policy of an MCP server.
    McpServerPolicy,
    /// The host's credentials.
    HostCredential,
}

impl RuleSource {
    /// Its name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Policy => "policySettings",
            Self::Flag => "flagSettings",
            Self::CliArg => "cliArg",
            Self::Local => "localSettings",
            Self::Project => "projectSettings",
            Self::User => "userSettings",
            Self::Session => "session",
            Self::Command => "command",
            Self::McpMount => "mcpMount",
            Self::ToolsNarrowing => "toolsNarrowing",
            Self::McpServerPolicy => "mcpServerPolicy",
            Self::HostCredential => "hostCredential",
        }
    }

    /// The source that a change with this destination belongs to. An unknown destination lasts
    /// no longer than the session.
    pub fn of(destination: &UpdateDestination) -> Self {
        match destination {
            UpdateDestination::UserSettings => Self::User,
            UpdateDestination::ProjectSettings => Self::Project,
            UpdateDestination::LocalSettings => Self::Local,
            UpdateDestination::CliArg => Self::CliArg,
            _ => Self::Session,
        }
    }

    /// How its rules can be changed from within a session, as `list_permission_rules` calls it.
    pub(super) fn editability(self) -> &'static str {
        match self {
            Self::Local | Self::Project | Self::User => "persistent",
            Self::CliArg | Self::Session | Self::Command => "session",
            _ => "readOnly",
        }
    }
}

impl fmt::Display for RuleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

//! Flags that select the session.

use bowline_engine::SetupTrigger;
use clap::Args;

/// Selection of the session.
#[derive(Debug, Default, Clone, PartialEq, Args)]
#[command(next_help_heading = "Sessions")]
pub(crate) struct SessionArgs {
    /// Continue the newest session of this folder
    #[arg(short, long = "continue")]
    pub(crate) continue_newest: bool,

    /// Resume this session: its id, title, file, or the URL of its log
    #[arg(
        short,
        long,
        value_name = "value",
        num_args = 0..=1,
        default_missing_value = ""
    )]
    pub(crate) resume: Option<String>,

    /// Resume this session from the server that BOWLINE_SESSION_SERVER or the setting
    /// bowline.sessionServer names
    #[arg(long, value_name = "session", conflicts_with_all = ["resume", "continue_newest"])]
    pub(crate) teleport: Option<String>,

    /// Resume in a copy of the session
    #[arg(long)]
    pub(crate) fork_session: bool,

    /// The id of a new session
    #[arg(long, value_name = "uuid", allow_hyphen_values = true)]
    pub(crate) session_id: Option<String>,

    /// Resume after this message
    #[arg(long, hide = true, value_name = "message id", allow_hyphen_values = true)]
    pub(crate) resume_session_at: Option<String>,

    /// Resume before this prompt
    #[arg(long, hide = true, value_name = "message id", allow_hyphen_values = true)]
    pub(crate) resume_drops_turn: Option<String>,

    /// Restore files as they were before this prompt, and exit
    #[arg(long, hide = true, value_name = "user-message-id", allow_hyphen_values = true)]
    pub(crate) rewind_files: Option<String>,

    /// Keep nothing on disk
    #[arg(long)]
    pub(crate) no_session_persistence: bool,

    /// Mirror transcript lines to the host
    #[arg(long, hide = true)]
    pub(crate) session_mirror: bool,

    /// Run Setup hooks (init) first
    #[arg(long)]
    pub(crate) init: bool,

    /// Run Setup hooks (init) and SessionStart hooks, and exit
    #[arg(long)]
    pub(crate) init_only: bool,

    /// Run Setup hooks (maintenance) first
    #[arg(long)]
    pub(crate) maintenance: bool,

    /// Title of the session
    #[arg(short, long, value_name = "name", allow_hyphen_values = true)]
    pub(crate) name: Option<String>,
}

impl SessionArgs {
    /// The trigger of Setup hooks, if they run.
    pub(crate) fn setup(&self) -> Option<SetupTrigger> {
        if self.init || self.init_only {
            return Some(SetupTrigger::Init);
        }
        self.maintenance.then_some(SetupTrigger::Maintenance)
    }
}

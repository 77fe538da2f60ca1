//! Flags about which session is run.

use bowline_engine::SetupTrigger;
use clap::Args;

/// Which session is run.
#[derive(Debug, Default, Clone, PartialEq, Args)]
#[command(next_help_heading = "Sessions")]
pub(crate) struct SessionArgs {
    /// Go on with the newest session of this folder
    #[arg(short, long = "continue")]
    pub(crate) continue_newest: bool,

    /// Go on with this session: its id, its title, its file, or the URL of its log
    #[arg(
        short,
        long,
        value_name = "value",
        num_args = 0..=1,
        default_missing_value = ""
    )]
    pub(crate) resume: Option<String>,

    /// Go on with this session of the server that BOWLINE_SESSION_SERVER or the setting
    /// bowline.sessionServer names
    #[arg(long, value_name = "session", conflicts_with_all = ["resume", "continue_newest"])]
    pub(crate) teleport: Option<String>,

    /// Go on in a copy of it
    #[arg(long)]
    pub(crate) fork_session: bool,

    /// The id of a new session
    #[arg(long, value_name = "uuid", allow_hyphen_values = true)]
    pub(crate) session_id: Option<String>,

    /// Go on behind this message
    #[arg(long, hide = true, value_name = "message id", allow_hyphen_values = true)]
    pub(crate) resume_session_at: Option<String>,

    /// Go on before this prompt
    #[arg(long, hide = true, value_name = "message id", allow_hyphen_values = true)]
    pub(crate) resume_drops_turn: Option<String>,

    /// Put files back as they were before this prompt, and exit
    #[arg(long, hide = true, value_name = "user-message-id", allow_hyphen_values = true)]
    pub(crate) rewind_files: Option<String>,

    /// Keep nothing on disk
    #[arg(long)]
    pub(crate) no_session_persistence: bool,

    /// Tell the host what is written to disk
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

    /// What the session is called
    #[arg(short, long, value_name = "name", allow_hyphen_values = true)]
    pub(crate) name: Option<String>,
}

impl SessionArgs {
    /// Why hooks prepare the folder, if they do.
    pub(crate) fn setup(&self) -> Option<SetupTrigger> {
        if self.init || self.init_only {
            return Some(SetupTrigger::Init);
        }
        self.maintenance.then_some(SetupTrigger::Maintenance)
    }
}

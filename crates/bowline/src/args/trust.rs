//! Flags of `bowline trust`.

use std::path::PathBuf;

use clap::Args;

/// A folder to trust, and what else can be done about trust.
#[derive(Debug, Default, Clone, PartialEq, Eq, Args)]
pub(crate) struct TrustArgs {
    /// The folder, with all that lies in it; the current one if none is named
    pub(crate) folder: Option<PathBuf>,

    /// Print the folders that are recorded
    #[arg(long, conflicts_with_all = ["folder", "revoke"])]
    pub(crate) list: bool,

    /// Trust the folder no longer
    #[arg(long)]
    pub(crate) revoke: bool,
}

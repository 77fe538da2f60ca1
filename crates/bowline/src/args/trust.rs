//! Flags of `bowline trust`.

use std::path::PathBuf;

use clap::Args;

/// Folder to trust, list or revoke.
#[derive(Debug, Default, Clone, PartialEq, Eq, Args)]
pub(crate) struct TrustArgs {
    /// The folder, with everything in it (default: the current one)
    pub(crate) folder: Option<PathBuf>,

    /// List the recorded folders
    #[arg(long, conflicts_with_all = ["folder", "revoke"])]
    pub(crate) list: bool,

    /// Revoke the trust in the folder
    #[arg(long)]
    pub(crate) revoke: bool,
}

//! The plan of plan mode: its file, and the instructions for the model.

use std::path::{Path, PathBuf};

use bowline_protocol::PermissionMode;
use uuid::Uuid;

use crate::session_context::SessionContext;

/// Words for names of plan files, so that people recognize them in the folder.
const FIRST: [&str; 16] = [
    "amber", "brisk", "calm", "clear", "early", "fair", "gentle", "green", "high", "keen", "light",
    "mellow", "quiet", "silver", "steady", "warm",
];
const SECOND: [&str; 16] = [
    "anchor", "beacon", "breeze", "cove", "current", "delta", "harbor", "island", "lantern",
    "mast", "meadow", "pier", "reef", "rudder", "shore", "tide",
];

/// A new plan file for a session, in the user's folder of plans.
pub(crate) fn new_file(config_dir: &Path) -> PathBuf {
    let random = Uuid::new_v4();
    let [first, second, ..] = random.into_bytes();
    let word = |words: &[&'static str; 16], byte: u8| words[usize::from(byte % 16)];
    let unique = &random.simple().to_string()[24..];
    let name = format!("{}-{}-{unique}.md", word(&FIRST, first), word(&SECOND, second));
    config_dir.join("plans").join(name)
}

/// The section of the system prompt about plan mode.
pub(crate) fn section(session: &SessionContext) -> Option<String> {
    if session.permissions.mode() != PermissionMode::Plan {
        return None;
    }
    let instructions = session.host.read(|host| host.plan_mode_instructions.clone());
    let instructions = instructions.unwrap_or_else(|| {
        "You are in plan mode: look around and think, and change nothing.".to_owned()
    });
    Some(format!("# Planning\n{instructions}\n\n{}", where_to_write(session)))
}

/// The instruction where to write the plan, and to leave plan mode after that.
pub(crate) fn where_to_write(session: &SessionContext) -> String {
    let path =
        session.permissions.plan_file().map(|path| path.display().to_string()).unwrap_or_default();
    format!(
        "Write the plan to {path}, the only file that you may change now, and call ExitPlanMode \
         when it is complete."
    )
}

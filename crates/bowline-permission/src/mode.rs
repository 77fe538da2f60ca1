//! Changes of a session's permission mode.

use bowline_protocol::PermissionMode;

use super::policy::Policy;

/// Why a mode cannot be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModeError {
    /// There is no such mode.
    #[error(
        "Cannot set permission mode: must be one of acceptEdits, auto, bypassPermissions, default, dontAsk, plan"
    )]
    Unknown,
    /// Bypassing permissions was not prepared when the session started.
    #[error(
        "Cannot set permission mode to bypassPermissions because the session was not launched with --dangerously-skip-permissions"
    )]
    BypassNotLaunched,
}

impl ModeError {
    /// Its name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unknown => "invalid_mode",
            Self::BypassNotLaunched => "bypass_not_launched",
        }
    }
}

impl Policy {
    /// Changes the mode in the middle of a session.
    pub fn set_mode(&mut self, mode: PermissionMode) -> Result<(), ModeError> {
        match mode.canonical() {
            PermissionMode::Other(_) => Err(ModeError::Unknown),
            PermissionMode::BypassPermissions if !self.bypass_available => {
                Err(ModeError::BypassNotLaunched)
            }
            mode => {
                self.mode = mode;
                Ok(())
            }
        }
    }
}

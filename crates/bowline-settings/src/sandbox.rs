//! The sandbox that settings ask for and nobody has.

use serde_json::Value;

use super::Settings;

/// Why nothing becomes of the wish for a sandbox.
pub const NO_SANDBOX: &str = "sandbox.enabled is set, but there is no sandbox here: commands run \
    with all your rights, and nothing restricts their files or network";

/// What settings say about a sandbox that they switch on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxSetting {
    /// Commands should run in one.
    Preferred,
    /// Nothing may run without one (`sandbox.failIfUnavailable`).
    Required,
}

impl Settings {
    /// Whether a sandbox is asked for.
    pub fn sandbox_wish(&self) -> Option<SandboxSetting> {
        let sandbox = self.effective().get("sandbox")?;
        let is_set = |name| sandbox.get(name).and_then(Value::as_bool).unwrap_or(false);
        is_set("enabled").then(|| match is_set("failIfUnavailable") {
            true => SandboxSetting::Required,
            false => SandboxSetting::Preferred,
        })
    }
}

//! Request for a sandbox in settings.

use serde_json::Value;

use super::Settings;

/// Warning if a sandbox is requested and cannot be provided.
pub const NO_SANDBOX: &str = "sandbox.enabled is set, but there is no sandbox here: commands run \
    with all your rights, and nothing restricts their files or network";

/// How strictly settings request a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxSetting {
    /// Commands should run in one.
    Preferred,
    /// Nothing may run without one (`sandbox.failIfUnavailable`).
    Required,
}

impl Settings {
    /// The requested sandbox, if there is one.
    pub fn sandbox_wish(&self) -> Option<SandboxSetting> {
        let sandbox = self.effective().get("sandbox")?;
        let is_set = |name| sandbox.get(name).and_then(Value::as_bool).unwrap_or(false);
        is_set("enabled").then(|| match is_set("failIfUnavailable") {
            true => SandboxSetting::Required,
            false => SandboxSetting::Preferred,
        })
    }
}

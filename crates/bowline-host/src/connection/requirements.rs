//! Requirements on an agent: its version, and features that options depend on.

use bowline_protocol::InitializeResponse;

use crate::{
    callback::HookMatcher,
    error::Error,
    options::{Connect, Options},
    version::Version,
};

/// Requirements of options on their agent.
pub(super) struct Requirements<'a> {
    pub(super) connect: &'a dyn Connect,
    pub(super) options: &'a Options,
}

impl Requirements<'_> {
    /// Checks an agent that has responded to `initialize`.
    pub(super) async fn check(&self, agent: &InitializeResponse) -> Result<(), Error> {
        // Agents before 2.1 do not report it in the response.
        let version = match &agent.claude_code_version {
            Some(version) => Some(version.clone()),
            None => self.connect.installed_version(self.options).await,
        };
        if let Some(error) = version.as_deref().and_then(|version| self.too_old_for_us(version)) {
            return Err(error);
        }
        let is_older =
            |than| version.as_deref().and_then(Version::read).is_some_and(|it| it < than);
        if self.options.messages.verbatim_prompts && is_older(Version::VERBATIM_PROMPTS) {
            tracing::warn!(
                "the agent is too old for `verbatim_prompts`: it expands `@path` in prompts"
            );
        }
        // A hook that must not fail protects nothing if the agent continues after its failure.
        let must_not_fail = self.options.hooks.values().flatten().any(HookMatcher::must_not_fail);
        let fault = match agent.hook_on_failure_supported {
            Some(true) if agent.hooks_applied != Some(false) => None,
            Some(true) => Some("did not register the hooks"),
            _ => Some("does not support `on_failure` of hooks"),
        };
        let Some(fault) = fault.filter(|_| must_not_fail) else { return Ok(()) };
        let (agent, version) = (self.agent_name(), version.as_deref().unwrap_or("unknown"));
        let what =
            format!("{agent} (version {version}) {fault}, which `HookMatcher::or_block` requires");
        Err(Error::Connection { what, source: None })
    }

    /// The error of an agent that did not respond to `initialize` because it is too old.
    pub(super) async fn too_old(&self) -> Option<Error> {
        self.too_old_for_us(&self.connect.installed_version(self.options).await?)
    }

    fn too_old_for_us(&self, version: &str) -> Option<Error> {
        if Version::read(version)? >= Version::OLDEST {
            return None;
        }
        let (agent, oldest) = (self.agent_name(), Version::OLDEST);
        let what = format!("{agent} is version {version}; at least {oldest} is required");
        Some(Error::Connection { what, source: None })
    }

    fn agent_name(&self) -> String {
        match self.connect.program(self.options) {
            Some(program) => format!("the agent {}", program.display()),
            None => "the agent".to_owned(),
        }
    }
}

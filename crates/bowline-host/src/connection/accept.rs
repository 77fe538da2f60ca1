//! Whether an agent is good enough for what is asked of it.

use bowline_protocol::InitializeResponse;

use super::agent::Agent;
use crate::{
    Error, Options,
    callback::HookMatcher,
    process::{installed_version, program},
    version::Version,
};

impl Agent {
    /// Whether it is a program of its own, of any version.
    pub(super) fn is_separate(&self) -> bool {
        match self {
            Self::Process(_) | Self::Carried(_) => true,
            #[cfg(feature = "embedded")]
            Self::Embedded(_) => false,
            #[cfg(feature = "websocket")]
            Self::WebSocket(_) => true,
        }
    }

    /// Says why this agent is not good enough for what is asked of it.
    pub(super) async fn accept(
        &self,
        options: &Options,
        agent: &InitializeResponse,
    ) -> Result<(), Error> {
        // Those of before 2.1 do not say it themselves.
        let version = match &agent.claude_code_version {
            Some(version) => Some(version.clone()),
            None => self.installed_version(options).await,
        };
        if let Some(error) = version.as_deref().and_then(|it| self.refused(options, it)) {
            return Err(error);
        }
        let is_older =
            |than| version.as_deref().and_then(Version::read).is_some_and(|it| it < than);
        if options.verbatim_prompts && is_older(Version::VERBATIM_PROMPTS) {
            tracing::warn!(
                "the agent is too old for `verbatim_prompts`: it expands `@path` in prompts"
            );
        }
        // A hook that must not fail is worth nothing to an agent that goes on all the same.
        let must_not_fail = options.hooks.values().flatten().any(HookMatcher::must_not_fail);
        let fault = match agent.hook_on_failure_supported {
            Some(true) if agent.hooks_applied != Some(false) => None,
            Some(true) => Some("did not take our hooks"),
            _ => Some("does not know what to do when a hook fails"),
        };
        let Some(fault) = fault.filter(|_| must_not_fail) else { return Ok(()) };
        let (agent, version) = (self.named(options), version.as_deref().unwrap_or("unknown"));
        let what =
            format!("{agent} (version {version}) {fault}: `HookMatcher::or_block` needs it to");
        Err(Error::Connection { what, source: None })
    }

    /// Whether an agent that did not answer is too old to.
    pub(super) async fn too_old(&self, options: &Options) -> Option<Error> {
        self.refused(options, &self.installed_version(options).await?)
    }

    /// The error that this version is, if it is one.
    fn refused(&self, options: &Options, version: &str) -> Option<Error> {
        if Version::read(version)? >= Version::OLDEST {
            return None;
        }
        let (agent, oldest) = (self.named(options), Version::OLDEST);
        let what = format!("{agent} is version {version}; {oldest} is the oldest we know");
        Some(Error::Connection { what, source: None })
    }

    /// What people find it by.
    fn named(&self, options: &Options) -> String {
        match (self, program(options)) {
            (Self::Process(_), Ok(program)) => format!("the agent {}", program.display()),
            _ => "the agent".to_owned(),
        }
    }

    /// The version of its program, if that is ours to look at.
    async fn installed_version(&self, options: &Options) -> Option<String> {
        match self {
            Self::Process(_) => installed_version(options).await,
            _ => None,
        }
    }
}

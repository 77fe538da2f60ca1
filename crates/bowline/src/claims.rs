//! Sessions that a host claims from a spare process: `--await-claim`.
//!
//! A claim is a start like any other, in the folder that it names and with its additions to the
//! command line. Nothing of the folder in which the process waited remains.

use std::path::{Path, PathBuf};

use bowline_doorway::Claims;
use bowline_engine::{SessionConfig, settings::expand_home};
use bowline_protocol::{ClaimSession, SessionId};

use crate::{
    args::RunArgs,
    complain,
    environment::Environment,
    setup::{self, Audience, Prepared, SetupError},
};

/// Variables that a claim may set. Everything else is read when the process starts, before there is
/// a claim.
const CLAIMABLE: [&str; 3] =
    ["CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_SESSION_ACCESS_TOKEN", "CLAUDE_CODE_HOST_SESSION_ID"];

/// Sets up what a host claims.
pub(crate) struct UserClaims {
    pub(crate) args: RunArgs,
    pub(crate) environment: Environment,
    /// The folder in which the process waits.
    pub(crate) cwd: PathBuf,
    /// Whether the host has sent managed settings.
    pub(crate) managed_by_host: bool,
}

impl UserClaims {
    /// The session that waits for a claim: not saved, without prompts.
    pub(crate) fn waiting(&self) -> Result<Prepared, SetupError> {
        let mut args = self.args.clone();
        args.session.no_session_persistence = true;
        let mut prepared = self.prepare(&args, &self.environment, &self.cwd)?;
        prepared.config.unclaimed = true;
        Ok(prepared)
    }

    fn prepare(
        &self,
        args: &RunArgs,
        environment: &Environment,
        cwd: &Path,
    ) -> Result<Prepared, SetupError> {
        let mut prepared = setup::prepare(args, environment, cwd.to_owned(), Audience::Host)?;
        prepared.config.managed_by_host = self.managed_by_host;
        Ok(prepared)
    }
}

impl Claims for UserClaims {
    fn open(&self, claim: &ClaimSession, waiting: &SessionId) -> Result<SessionConfig, String> {
        let set = claim.env.iter().flatten();
        if let Some((name, _)) = set.clone().find(|(name, _)| !CLAIMABLE.contains(&name.as_str())) {
            return Err(format!(
                "env_key_not_claimable: {name} is read during start-up; pass it in the spare's \
                 spawn env instead"
            ));
        }
        let environment = self.environment.clone().with(set);
        let home = environment.home();
        let cwd = self.cwd.join(expand_home(&claim.cwd, home.as_deref()));
        if !cwd.is_dir() {
            return Err(
                "cwd_not_found: the claim cwd does not exist or is not accessible".to_owned()
            );
        }
        let mut args = self.args.clone();
        args.session.session_id = Some(waiting.to_string());
        let more = claim.additional_directories.iter().flatten();
        let more = more.map(|folder| cwd.join(expand_home(folder, home.as_deref())));
        let there = more.filter(|folder| folder.is_dir());
        args.permissions.add_dir.extend(there.map(|folder| folder.display().to_string()));
        let prepared = self
            .prepare(&args, &environment, &cwd)
            .map_err(|error| format!("claim_failed: {error}"))?;
        prepared.notices.iter().for_each(complain);
        let mut config = prepared.config;
        if let Some(mode) = claim.permission_mode.clone() {
            let set = config.policy.set_mode(mode);
            set.map_err(|error| format!("permission_mode_not_claimable: {error}"))?;
        }
        let id = claim.env.as_ref().and_then(|set| set.get("CLAUDE_CODE_HOST_SESSION_ID"));
        if let Some(id) = id {
            config.environment.insert("CLAUDE_CODE_HOST_SESSION_ID".to_owned(), Some(id.clone()));
        }
        Ok(config)
    }
}

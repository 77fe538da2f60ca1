//! Sessions that clients of a door open, configured by the command line, the settings and the
//! environment.

use std::path::PathBuf;

use bowline_engine::{OpenError, SessionConfig, SessionRequest, Sessions};
use uuid::Uuid;

use crate::{
    args::{DoorArgs, RunArgs},
    complain,
    environment::Environment,
    logging,
    setup::{self, Audience, SetupError},
    working_directory,
};

/// Sessions in the folder in which the program was started.
pub(crate) struct UserSessions {
    args: RunArgs,
    environment: Environment,
    cwd: PathBuf,
}

impl UserSessions {
    /// Reads flags and environment, and prints notices about them.
    ///
    /// `entrypoint` is the entry point that hooks and commands see.
    pub(crate) fn new(args: DoorArgs, entrypoint: &str) -> anyhow::Result<Self> {
        let args = args.into_run();
        logging::start(&args.output)?;
        let cwd = working_directory()?;
        let environment = Environment::of_process().or_entrypoint(entrypoint);
        let own = Self { args, environment, cwd };
        // Errors in flags and settings are reported at the start, not with the first session.
        let prepared =
            setup::prepare(&own.args, &own.environment, own.cwd.clone(), Audience::Reader)?;
        prepared.notices.iter().for_each(complain);
        Ok(own)
    }
}

impl Sessions for UserSessions {
    fn open(&self, request: SessionRequest) -> Result<SessionConfig, OpenError> {
        let mut args = self.args.clone();
        if let Some(session) = request.resume {
            // A client names a session, never a file.
            if Uuid::parse_str(session.as_str()).is_err() {
                return Err(OpenError::NotFound(session));
            }
            args.session.resume = Some(session.0);
        }
        let cwd = self.cwd.clone();
        match setup::prepare(&args, &self.environment, cwd, Audience::Reader) {
            Ok(prepared) => Ok(prepared.config),
            Err(SetupError::NoConversation { target, .. }) => {
                Err(OpenError::NotFound(target.into()))
            }
            Err(error) => Err(OpenError::Other(error.to_string())),
        }
    }
}

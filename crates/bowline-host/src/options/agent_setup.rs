//! Flags, variables and folder for an agent that other code starts.

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf};

use super::{Options, arguments};
use crate::error::Error;

/// Flags, variables and folder that an agent is to be started with, as the options determine them.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentSetup {
    /// The flags it is to be started with.
    pub arguments: Vec<OsString>,
    /// The variables it is to be started with; `None` removes one.
    pub variables: BTreeMap<String, Option<String>>,
    /// The folder it is to work in.
    pub cwd: Option<PathBuf>,
}

impl Options {
    /// Flags, variables and folder for an agent that other code starts.
    pub(crate) fn agent_setup(&self) -> Result<AgentSetup, Error> {
        let (arguments, variables) = (arguments::arguments(self)?, arguments::variables(self));
        Ok(AgentSetup { arguments, variables, cwd: self.cwd.clone() })
    }
}

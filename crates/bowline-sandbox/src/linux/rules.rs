//! Landlock rules of a confinement.

use std::{fmt, path::Path};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, PathFd,
    RestrictionStatus, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError,
    RulesetStatus, Scope,
};

use crate::{
    confinement::{Confinement, Readable},
    system,
};

/// The newest version whose rights are known here; an older kernel enforces those it has.
const NEWEST: ABI = ABI::V9;

/// Why a thread was not restricted.
#[derive(Debug)]
pub(super) enum RestrictError {
    /// The kernel has no Landlock.
    Absent(&'static str),
    /// It has, and this failed.
    Failed(String),
}

impl fmt::Display for RestrictError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent(why) => f.write_str(why),
            Self::Failed(why) => f.write_str(why),
        }
    }
}

/// Restricts the calling thread. Returns the version of Landlock that enforces it.
pub(super) fn restrict_self(confinement: &Confinement) -> Result<u32, RestrictError> {
    let status = restrict(confinement).map_err(|error| RestrictError::Failed(error.to_string()))?;
    let version = match status.landlock {
        LandlockStatus::NotImplemented => {
            return Err(RestrictError::Absent("not built in, or blocked"));
        }
        LandlockStatus::NotEnabled => return Err(RestrictError::Absent("switched off at boot")),
        LandlockStatus::Available { effective_abi, kernel_abi } => {
            let version = kernel_abi.unwrap_or(effective_abi as i32);
            u32::try_from(version).unwrap_or_default()
        }
    };
    if status.ruleset == RulesetStatus::NotEnforced || !status.no_new_privs {
        return Err(RestrictError::Failed("the kernel did not enforce it".to_owned()));
    }
    Ok(version)
}

fn restrict(confinement: &Confinement) -> Result<RestrictionStatus, RulesetError> {
    let look = AccessFs::ReadFile | AccessFs::ReadDir;
    let run = look | AccessFs::Execute;
    let sink = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
    let mut rules = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?;
    rules = allow(rules, system::SINK, sink)?;
    match &confinement.readable {
        Readable::Everything => rules = allow(rules, "/", run)?,
        Readable::Only(paths) => {
            rules = allow_all(rules, system::PROGRAMS, run)?;
            rules = allow_all(rules, system::DATA, look)?;
            rules = allow_all(rules, paths, look)?;
            rules = allow_all(rules, &confinement.executable, run)?;
        }
    }
    rules.restrict_self()
}

fn allow_all<P: AsRef<Path>>(
    rules: RulesetCreated,
    paths: &[P],
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    paths.iter().try_fold(rules, |rules, path| allow(rules, path, access))
}

fn allow(
    rules: RulesetCreated,
    path: impl AsRef<Path>,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    match PathFd::new(path) {
        Ok(file) => rules.add_rule(PathBeneath::new(file, access)),
        // A path that cannot be opened stays unreadable.
        Err(_) => Ok(rules),
    }
}

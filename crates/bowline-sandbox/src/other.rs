//! Systems without confinement support.

use crate::{confinement::Confinement, support::Support};

const NONE: &str = "this is not Linux";

pub(crate) fn probe() -> Option<Support> {
    Some(Support { landlock: Err(NONE.to_owned()), seccomp: Err(NONE.to_owned()) })
}

pub(crate) fn restrict_thread(_: &Confinement, _: &Support) -> Result<(), String> {
    Err(NONE.to_owned())
}

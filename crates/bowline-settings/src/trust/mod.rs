//! Trust in a project: one decision, made once before anything of the project applies.
//!
//! A project brings settings, hooks, MCP servers, agents, commands, skills, output styles and
//! instructions. In a trusted folder they apply as written. In any other folder they may take
//! rights away, but they neither give any, nor run a program, nor read a file outside of the project.
//!
//! | subject | where |
//! |---|---|
//! | who may consent in the place of a record | [`starter_consent`] |
//! | the folders that the user trusts, on disk | [`records`] |
//! | what follows for files of a project | [`project_trust`] |
//! | what follows for its settings | [`super::untrusted_settings`] |
//! | what was left out, for people | [`skipped_parts`] |

mod project_trust;
mod records;
mod skipped_parts;
mod starter_consent;
mod worktree;

pub use project_trust::ProjectTrust;
pub use records::{TrustError, TrustRecords, TrustedFolder};
pub use skipped_parts::{HOOKS_SKIPPED, Part, SkippedHook, SkippedParts};
pub use starter_consent::{StarterConsent, TrustReason};

use super::SettingsPaths;

/// Whether what a project brings applies as it is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Trust {
    /// The user has consented to it, or the program that drives the session has.
    Trusted,
    /// It may take rights away, and nothing else.
    #[default]
    Untrusted,
}

impl Trust {
    /// Decides for the project at `places`, with the reason if it is trusted.
    pub fn decide(places: &SettingsPaths, consent: &StarterConsent) -> (Self, Option<TrustReason>) {
        let recorded = || {
            let records = TrustRecords::read(places);
            records.reason(&places.project).map(TrustReason::Recorded)
        };
        match consent.reason().or_else(recorded) {
            Some(reason) => (Self::Trusted, Some(reason)),
            None => (Self::Untrusted, None),
        }
    }

    /// Decides by the user's records alone.
    pub fn recorded(places: &SettingsPaths) -> Self {
        Self::decide(places, &StarterConsent::default()).0
    }
}

//! Permissions: rules, modes and working directories, and the verdict on one tool call.
//!
//! [`Policy::evaluate`] checks a [`ProposedCall`] in a fixed order: deny rules, ask rules, safety checks, the
//! hooks' opinion, the mode, allow rules, and what needs no rule; all else needs approval. It is a pure function of
//! policy, call and [`EvaluationContext`], and waits for nothing: the caller sends a [`Verdict::Ask`] to hooks and
//! host.
//!
//! The disk is read in five modules only: [`Location`] follows symlinks, `glob_expansion` expands patterns,
//! `folder_contents` lists folders that a file rule may match in, `repository` looks for the one that `git` would
//! find, and [`write_settings`] changes a settings file.

mod agent_mode;
mod call;
mod command;
mod command_evaluation;
mod confinement;
mod dependent_parts;
mod evaluation;
mod folder_contents;
mod git_unnamed_contents;
mod glob_expansion;
mod listing;
mod location;
mod mode;
mod path_pattern;
mod policy;
mod repository;
mod resolved_access;
mod roots;
mod rule;
mod rule_match;
mod rule_set;
mod sensitive_path;
mod settings_file;
mod shell_state;
mod source;
mod suggestions;
mod text_pattern;
mod tool_name;
mod transfer_targets;
mod update;
mod verdict;
mod version_file;
mod word_path;

pub use call::{HookOpinion, ProposedCall};
pub use evaluation::EvaluationContext;
pub use location::Location;
pub use mode::ModeError;
pub use policy::Policy;
pub use roots::Roots;
pub use rule::Rule;
pub use rule_set::{RuleProblem, RuleSet};
pub use settings_file::{SettingsError, edit_settings, write_settings};
pub use source::RuleSource;
pub use tool_name::canonical_tool;
pub use update::Persist;
pub use verdict::{ApprovalRequest, Denial, NoApproval, Reason, Verdict};

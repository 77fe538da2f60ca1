//! Who may do what: rules, modes, working directories, and the verdict on one call.
//!
//! [`Policy::evaluate`] looks at a [`ProposedCall`] in a fixed order: deny rules, ask
//! rules, safety checks, the hook's opinion, the mode, allow rules and what is allowed
//! by nature, and asks about the rest. Nothing here waits for anybody: a
//! [`Verdict::Ask`] is put to hooks and host by whoever called.
//!
//! The disk is touched in five places only: [`Location`] follows symlinks, `expand` finds what patterns
//! match, `below` lists folders that a file rule may be about, `repository` looks for the one that
//! `git` would find, and [`write_settings`] keeps a change in a settings file.

mod agent_mode;
mod call;
mod command;
mod confine;
mod dependent_parts;
mod evaluation;
mod expand;
mod folder_contents;
mod git_contents;
mod judge_command;
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
mod sensitive;
mod settings_file;
mod shell_state;
mod source;
mod suggest;
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
pub use verdict::{Denial, Question, Reason, Unanswered, Verdict};

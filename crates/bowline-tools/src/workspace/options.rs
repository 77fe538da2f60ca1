//! Limits and switches of the tools. The engine fills them from settings and environment.

use std::{path::PathBuf, time::Duration};

/// Limits and switches of the tools.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// How long a command may run if the call does not say.
    pub default_timeout: Duration,
    /// The longest a call may ask for.
    pub max_timeout: Duration,
    /// How long a command may run in the background if the call does not say.
    pub default_background_timeout: Duration,
    /// The longest a call may ask for in the background.
    pub max_background_timeout: Duration,
    /// Whether commands may run in the background at all.
    pub background_tasks: bool,
    /// A profile of the user's shell: commands may use its aliases and functions.
    pub shell_profile: Option<PathBuf>,
    /// How many characters of a command's output the model sees.
    pub max_output_chars: usize,
    /// Whether `cd` is forgotten after each command.
    pub stay_in_start_dir: bool,
    /// Whether existing files must be read before they are changed, at the start.
    pub read_before_write: bool,
    /// How many tokens one `Read` may give, by estimate.
    pub max_read_tokens: usize,
    /// Whether `WebFetch` may reach this machine and private networks.
    pub private_addresses: bool,
    /// How long fetching a page may take in all.
    pub fetch_timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            default_timeout: Duration::from_secs(120),
            max_timeout: Duration::from_secs(600),
            default_background_timeout: Duration::from_secs(30 * 60),
            max_background_timeout: Duration::from_secs(2 * 60 * 60),
            background_tasks: true,
            shell_profile: None,
            max_output_chars: 30_000,
            stay_in_start_dir: false,
            read_before_write: true,
            max_read_tokens: 25_000,
            private_addresses: false,
            fetch_timeout: Duration::from_secs(60),
        }
    }
}

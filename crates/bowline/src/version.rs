//! Versions of Bowline and of its protocol.

/// Bowline's own version.
pub(crate) const BOWLINE: &str = env!("CARGO_PKG_VERSION");

/// The version of the official CLI whose protocol Bowline speaks.
///
/// Hosts choose their requests by it: the Python SDK warns below 2.0.0 and disables features below
/// the versions that introduced them.
pub(crate) const PROTOCOL: &str = "2.1.325";

/// The line that `--version` prints, in the form that SDKs parse.
pub(crate) fn line() -> String {
    format!("{PROTOCOL} (Claude Code)")
}

//! The versions that Bowline goes by.

/// Bowline's own version.
pub(crate) const BOWLINE: &str = env!("CARGO_PKG_VERSION");

/// The version of the official CLI whose protocol Bowline speaks.
///
/// Hosts decide by it what they may ask: the Python SDK warns below 2.0.0 and holds back
/// features below the versions that brought them.
pub(crate) const PROTOCOL: &str = "2.1.325";

/// What `--version` prints: the shape that SDKs which ask for it understand.
pub(crate) fn line() -> String {
    format!("{PROTOCOL} (Claude Code)")
}

//! Access of a call, with every path resolved to its real target.

use bowline_tools::Access;

use super::{call::ProposedCall, command::CommandLine, location::Location, policy::Policy};

/// What a call touches.
#[derive(Debug)]
pub(super) enum ResolvedAccess {
    /// Nothing outside the session.
    Nothing,
    /// It reads here.
    Read(Vec<Location>),
    /// It changes this file.
    Edit(Location),
    /// It runs this.
    Command(CommandLine),
    /// It fetches from this host.
    Fetch(String),
    /// Only the tool's name tells.
    Other,
}

impl ResolvedAccess {
    pub(super) fn of(call: &ProposedCall<'_>, policy: &Policy) -> Self {
        match call.access {
            Access::Nothing => Self::Nothing,
            Access::Read(paths) => Self::Read(paths.iter().map(|it| Location::of(it)).collect()),
            Access::Edit(path) => Self::Edit(Location::of(path)),
            Access::Command(text) => Self::Command(CommandLine::read(text, call, policy)),
            Access::Fetch(address) => Self::Fetch(host(address)),
            _ => Self::Other,
        }
    }
}

/// The host of an address, in lower case.
fn host(address: &str) -> String {
    let after_scheme = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = after_scheme.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    // An IPv6 address has colons of its own, inside brackets.
    let host = match host.find(']') {
        Some(end) => &host[..=end],
        None => host.split(':').next().unwrap_or_default(),
    };
    host.trim_end_matches('.').to_ascii_lowercase()
}

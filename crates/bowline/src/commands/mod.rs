//! Subcommands, one file each.

pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod man;
pub(crate) mod mcp_login;
pub(crate) mod mcp_serve;
mod mcp_token;
pub(crate) mod rewind;
pub(crate) mod rpc;
pub(crate) mod schema;
pub(crate) mod script_server;
pub(crate) mod trust;

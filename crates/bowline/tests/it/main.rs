//! The program as its users meet it: the built binary, real pipes, the script model.
#![expect(clippy::disallowed_methods, reason = "tests start programs and read variables")]
#![expect(clippy::unwrap_used, reason = "a test that cannot continue panics")]

mod commands;
mod crash;
mod door;
mod doors;
mod endings;
mod flags;
mod history;
mod input;
mod mcp_serve;
mod mcp_servers;
mod oneshot;
mod pipes;
mod private;
mod proxy;
mod remote;
mod remote_log;
mod rpc;
mod schema;
mod sessions;
mod spare;
mod terminal;
mod test_home;
mod trust;

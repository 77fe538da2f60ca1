//! The door over real sockets: hosts that go away, come back, repeat themselves, and fall silent.
#![expect(clippy::disallowed_methods, reason = "tests start programs and read variables")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops where it is")]

mod faults;
mod gateway;
mod plain_host;
mod proxy;
mod reconnect;
mod replay;
mod rig;
mod tls;

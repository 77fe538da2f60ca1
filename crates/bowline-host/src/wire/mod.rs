//! An agent at the other end of a link of lines, whatever carries them.

mod incoming;
mod service;

pub(crate) use self::{incoming::Incoming, service::HostService};

//! An agent at the other end of a link of lines, over any carrier.

mod incoming;
mod lines;
mod service;

use self::incoming::Incoming;
pub(crate) use self::{lines::Lines, service::HostService};

//! Hooks: events, input, output, registration and settings.

mod command;
mod event;
mod input;
mod output;
mod registration;
mod specific;

pub use command::*;
pub use event::*;
pub use input::*;
pub use output::*;
pub use registration::*;
pub use specific::*;

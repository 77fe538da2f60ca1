//! The agent itself: a loop of prompt, model, tool calls, results, and all that makes it trustworthy.
//!
//! It knows no transport and no terminal. A door hands it commands and answers the
//! questions it asks its host.

pub mod hook;
pub mod settings;

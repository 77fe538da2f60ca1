//! The control plane: questions that either end asks the other.

mod envelope;
pub use envelope::*;

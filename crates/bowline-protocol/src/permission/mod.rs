//! Permissions: modes, rules, updates, and the result of a permission request.

mod mode;
mod result;
mod rule;
mod update;

pub use mode::*;
pub use result::*;
pub use rule::*;
pub use update::*;

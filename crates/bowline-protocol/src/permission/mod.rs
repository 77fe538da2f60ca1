//! Permissions: modes, rules, changes to them, and the answer to "may this tool run?".

mod mode;
mod result;
mod rule;
mod update;

pub use mode::*;
pub use result::*;
pub use rule::*;
pub use update::*;

//! Cause of a compaction, named by a system message and by two hook events.

use crate::wire::open_enum;

open_enum! {
    /// Cause of a compaction.
    #[derive(Default)]
    CompactTrigger {
        /// The user requested it.
        #[default]
        Manual = "manual",
        /// The context window was nearly full.
        Auto = "auto",
    }
}

//! Exit codes as a shell reports them.

use std::{os::unix::process::ExitStatusExt, process::ExitStatus};

/// Returns the code that a shell would show: 128 and the signal's number for a process that a signal ended.
pub fn exit_code(status: &ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_code_of_a_signal_is_that_of_a_shell() {
        assert_eq!(exit_code(&ExitStatus::from_raw(3 << 8)), 3);
        assert_eq!(exit_code(&ExitStatus::from_raw(9)), 137);
    }
}

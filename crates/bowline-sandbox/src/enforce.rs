//! Enforcement of a confinement by the kernel: on a thread that restricts itself and starts the process.

use std::{io, sync::OnceLock};

use crate::{confinement::Confinement, linux, support::Support};

impl Support {
    /// What the running kernel can enforce. It is probed once.
    ///
    /// A probe that fails for another reason than a kernel without Landlock, such as a lack of memory,
    /// is treated as support: confining is then tried for each command, and one that cannot be confined
    /// does not run.
    pub fn of_kernel() -> &'static Self {
        static SUPPORT: OnceLock<Support> = OnceLock::new();
        static ASSUMED: Support = Support { landlock: Ok(1), seccomp: Ok(()) };
        SUPPORT.get().unwrap_or_else(|| match linux::probe() {
            Some(found) => SUPPORT.get_or_init(|| found),
            None => &ASSUMED,
        })
    }
}

impl Confinement {
    /// Runs `start`, which starts a process, on a thread under this confinement, and returns its result.
    ///
    /// # Errors
    ///
    /// If any restriction could not be set, `start` does not run: the process never runs unconfined.
    pub fn inside<T: Send>(&self, start: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        let support = Support::of_kernel();
        std::thread::scope(|scope| {
            let confined = || {
                linux::restrict_thread(self, support)
                    .map_err(|why| io::Error::other(format!("it could not be confined: {why}")))?;
                start()
            };
            let thread = std::thread::Builder::new().name("confined".to_owned());
            let thread = thread.spawn_scoped(scope, confined)?;
            thread.join().unwrap_or_else(|_| Err(io::Error::other("starting it crashed")))
        })
    }
}

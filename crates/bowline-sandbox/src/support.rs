//! Enforcement that the kernel supports, in words for `doctor`.

/// Enforcement that the kernel supports, as probed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Support {
    /// The version of Landlock, from 1 on; without it nothing is confined.
    pub landlock: Result<u32, String>,
    /// Whether system calls can be filtered.
    pub seccomp: Result<(), String>,
}

/// The versions of Landlock from which on something is enforced.
const TRUNCATE: u32 = 3;
const TCP: u32 = 4;
const DEVICES: u32 = 5;
const SIGNALS: u32 = 6;

impl Support {
    /// Whether commands can be confined at all.
    pub fn confines(&self) -> bool {
        self.landlock.is_ok()
    }

    /// What holds for a command that is confined, in words.
    pub fn enforced(&self) -> Vec<&'static str> {
        let Ok(version) = self.landlock else { return Vec::new() };
        let filtered = self.seccomp.is_ok();
        [
            (true, "no file is written, read only working and system folders"),
            (filtered, "no sockets, so no network"),
            (!filtered && version >= TCP, "no TCP"),
            (filtered, "no change of modes, owners and times"),
            (version >= SIGNALS, "no signals to others"),
            (true, "no new privileges"),
        ]
        .into_iter()
        .filter_map(|(holds, words)| holds.then_some(words))
        .collect()
    }

    /// What a newer or otherwise built kernel would enforce as well, with what follows from its lack.
    pub fn missing(&self) -> Vec<String> {
        let version = match &self.landlock {
            Ok(version) => *version,
            Err(why) => {
                return vec![format!(
                    "the kernel has no Landlock ({why}): a command that runs without approval \
                     because it only reads is not confined; only the analysis of its text restricts it. Linux from 5.13 on \
                     has it, if `landlock` is among the modules in the boot option lsm="
                )];
            }
        };
        let mut missing = Vec::new();
        if let Err(why) = &self.seccomp {
            missing.push(format!(
                "system calls cannot be filtered ({why}): modes, owners and times of files could be \
                 changed, and UDP and Unix sockets reached"
            ));
            if version < TCP {
                missing
                    .push("Landlock is older than 4 (Linux 6.7): TCP could be reached".to_owned());
            }
            if version < TRUNCATE {
                missing.push(
                    "Landlock is older than 3 (Linux 6.2): files could be truncated".to_owned(),
                );
            }
            if version < DEVICES {
                missing.push(
                    "Landlock is older than 5 (Linux 6.10): ioctl on devices is possible"
                        .to_owned(),
                );
            }
        }
        if version < SIGNALS {
            missing.push(
                "Landlock is older than 6 (Linux 6.12): other processes of the user could be sent \
                 signals"
                    .to_owned(),
            );
        }
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_features_name_their_consequence() {
        let support = |landlock, seccomp| Support { landlock, seccomp };
        assert!(support(Ok(6), Ok(())).missing().is_empty());
        assert_eq!(support(Ok(1), Ok(())).missing().len(), 1, "signals");
        assert_eq!(support(Ok(1), Err("off".to_owned())).missing().len(), 5);
        let none = support(Err("not built in".to_owned()), Ok(()));
        assert!(!none.confines() && none.enforced().is_empty());
        assert!(none.missing()[0].contains("not built in"));
    }
}

//! System files that programs need in order to run.
//!
//! Lists of what is known to be needed: `/etc` and `/proc` hold secrets beside it. The kernel keeps the memory
//! and the environment of processes outside from one that is confined, whatever is readable here.

/// Programs, their libraries and their data.
pub(crate) const PROGRAMS: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/gnu/store",
    "/snap",
    "/home/linuxbrew/.linuxbrew",
];

/// Data that programs read: names of users and hosts, locales, terminals; no keys.
pub(crate) const DATA: &[&str] = &[
    "/etc/alternatives",
    "/etc/bash.bashrc",
    "/etc/debian_version",
    "/etc/gai.conf",
    "/etc/gitattributes",
    "/etc/gitconfig",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/inputrc",
    "/etc/ld-musl-aarch64.path",
    "/etc/ld-musl-x86_64.path",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/locale.alias",
    "/etc/locale.conf",
    "/etc/localtime",
    "/etc/lsb-release",
    "/etc/magic",
    "/etc/magic.mime",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/resolv.conf",
    "/etc/terminfo",
    "/etc/timezone",
    // Rules are bound to files, and a process has its folder in here only once it runs.
    "/proc",
    "/run/utmp",
    "/run/udev/data",
    "/sys/block",
    "/sys/class",
    "/sys/dev",
    "/sys/devices",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/zero",
];

/// The one file that is written.
#[cfg(target_os = "linux")]
pub(crate) const SINK: &str = "/dev/null";

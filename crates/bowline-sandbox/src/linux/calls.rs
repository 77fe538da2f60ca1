//! System calls needed by programs that read, compute and print.
//!
//! A call that is on no list does not exist for the command: programs then take an older way, and what a newer
//! kernel adds stays closed until it is known here.

/// Verdict on a system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Permit,
    /// It fails with this error.
    Fail(i32),
}

/// It would change a file. Landlock does not cover modes, owners, times and attributes at all.
const CHANGES: Answer = Answer::Fail(libc::EROFS);
/// It would reach others. Landlock does not cover UDP.
const REACHES: Answer = Answer::Fail(libc::EACCES);
/// Its arguments ask for more than is given.
const DEMANDS: i32 = libc::EPERM;

/// What a test compares of a call: some bits of an argument.
#[derive(Debug, Clone, Copy)]
pub(super) struct Test {
    pub(super) argument: u32,
    pub(super) mask: u32,
    pub(super) values: &'static [u32],
    /// Whether it has to be one of the values, or none of them.
    pub(super) among: bool,
}

/// A call that is permitted if its arguments pass every test, and fails with an error otherwise.
pub(super) struct Tested {
    pub(super) number: i64,
    pub(super) tests: &'static [Test],
    pub(super) error: i32,
}

const ALL: u32 = u32::MAX;
/// Every kind of namespace (`CLONE_NEW*`): in one of its own a process has rights again.
const NAMESPACES: u32 = 0x7e02_0080;
/// Puts words into a terminal as if they had been typed.
const TYPES: &[u32] = &[libc::TIOCSTI as u32, libc::TIOCLINUX as u32];
/// What lies below the flags of a socket's type.
const SOCKET_TYPE: u32 = 0xf;
const ACCESS_OR_CUT: u32 = (libc::O_ACCMODE | libc::O_TRUNC) as u32;
/// Reading, and yet cutting: an old Landlock lets it pass.
const CUTS: &[u32] = &[libc::O_TRUNC as u32];

/// A file that is opened with flags in this argument.
const fn opened(number: i64, tests: &'static [Test]) -> Tested {
    Tested { number, tests, error: libc::EROFS }
}

/// Calls that depend on their arguments.
pub(super) const TESTED: &[Tested] = &[
    opened(
        libc::SYS_openat,
        &[Test { argument: 2, mask: ACCESS_OR_CUT, values: CUTS, among: false }],
    ),
    #[cfg(target_arch = "x86_64")]
    opened(
        libc::SYS_open,
        &[Test { argument: 1, mask: ACCESS_OR_CUT, values: CUTS, among: false }],
    ),
    Tested {
        number: libc::SYS_clone,
        tests: &[Test { argument: 0, mask: NAMESPACES, values: &[0], among: true }],
        error: DEMANDS,
    },
    Tested {
        number: libc::SYS_ioctl,
        tests: &[Test { argument: 1, mask: ALL, values: TYPES, among: false }],
        error: DEMANDS,
    },
    // A pair of datagram sockets could send to any other that has a name.
    Tested {
        number: libc::SYS_socketpair,
        tests: &[
            Test { argument: 0, mask: ALL, values: &[libc::AF_UNIX as u32], among: true },
            Test {
                argument: 1,
                mask: SOCKET_TYPE,
                values: &[libc::SOCK_STREAM as u32, libc::SOCK_SEQPACKET as u32],
                among: true,
            },
        ],
        error: libc::EACCES,
    },
    // Limits and priorities of its own process, which is what zeros mean.
    Tested {
        number: libc::SYS_prlimit64,
        tests: &[Test { argument: 0, mask: ALL, values: &[0], among: true }],
        error: DEMANDS,
    },
    Tested {
        number: libc::SYS_setpriority,
        tests: &[
            Test { argument: 0, mask: ALL, values: &[0], among: true },
            Test { argument: 1, mask: ALL, values: &[0], among: true },
        ],
        error: DEMANDS,
    },
];

/// Every other known call, with its verdict.
pub(super) fn known() -> impl Iterator<Item = (i64, Answer)> {
    let answered =
        |calls: &'static [i64], answer| calls.iter().map(move |number| (*number, answer));
    answered(PERMITTED, Answer::Permit)
        .chain(answered(OLD_PERMITTED, Answer::Permit))
        .chain(answered(CHANGING, CHANGES))
        .chain(answered(OLD_CHANGING, CHANGES))
        .chain(answered(REACHING, REACHES))
}

#[rustfmt::skip]
const PERMITTED: &[i64] = &[
    // Descriptors that are open, and files that Landlock lets it open.
    libc::SYS_read, libc::SYS_write, libc::SYS_readv, libc::SYS_writev, libc::SYS_pread64,
    libc::SYS_pwrite64, libc::SYS_preadv, libc::SYS_pwritev, libc::SYS_preadv2, libc::SYS_pwritev2,
    libc::SYS_close, libc::SYS_close_range, libc::SYS_lseek, libc::SYS_dup, libc::SYS_dup3,
    libc::SYS_fcntl, libc::SYS_flock, libc::SYS_fsync, libc::SYS_fdatasync, libc::SYS_ftruncate,
    libc::SYS_fallocate, libc::SYS_fadvise64, libc::SYS_readahead, libc::SYS_sendfile,
    libc::SYS_copy_file_range, libc::SYS_splice, libc::SYS_tee, libc::SYS_vmsplice,
    libc::SYS_pipe2, libc::SYS_memfd_create, libc::SYS_getdents64,
    // Names and attributes of files.
    libc::SYS_fstat, libc::SYS_newfstatat, libc::SYS_statx, libc::SYS_statfs, libc::SYS_fstatfs,
    libc::SYS_faccessat, libc::SYS_faccessat2, libc::SYS_readlinkat, libc::SYS_getcwd,
    libc::SYS_chdir, libc::SYS_fchdir, libc::SYS_umask, libc::SYS_getxattr, libc::SYS_lgetxattr,
    libc::SYS_fgetxattr, libc::SYS_listxattr, libc::SYS_llistxattr, libc::SYS_flistxattr,
    libc::SYS_inotify_init1, libc::SYS_inotify_add_watch, libc::SYS_inotify_rm_watch,
    // Memory.
    libc::SYS_brk, libc::SYS_mmap, libc::SYS_munmap, libc::SYS_mremap, libc::SYS_mprotect,
    libc::SYS_madvise, libc::SYS_msync, libc::SYS_mincore, libc::SYS_mlock, libc::SYS_mlock2,
    libc::SYS_munlock, libc::SYS_mlockall, libc::SYS_munlockall, libc::SYS_membarrier,
    libc::SYS_get_mempolicy, libc::SYS_pkey_alloc, libc::SYS_pkey_free, libc::SYS_pkey_mprotect,
    // Processes, threads and signals; Landlock keeps signals among the confined.
    libc::SYS_execve, libc::SYS_execveat, libc::SYS_exit, libc::SYS_exit_group, libc::SYS_wait4,
    libc::SYS_waitid, libc::SYS_kill, libc::SYS_tkill, libc::SYS_tgkill, libc::SYS_pidfd_open,
    libc::SYS_futex, libc::SYS_futex_waitv, libc::SYS_set_robust_list, libc::SYS_get_robust_list,
    libc::SYS_rseq, libc::SYS_set_tid_address, libc::SYS_restart_syscall, libc::SYS_prctl,
    libc::SYS_rt_sigaction, libc::SYS_rt_sigprocmask, libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigpending, libc::SYS_rt_sigtimedwait, libc::SYS_rt_sigsuspend,
    libc::SYS_sigaltstack, libc::SYS_signalfd4, libc::SYS_sched_yield, libc::SYS_getcpu,
    libc::SYS_sched_getaffinity, libc::SYS_sched_getparam, libc::SYS_sched_getscheduler,
    libc::SYS_sched_getattr, libc::SYS_getpriority,
    // Who and where it is.
    libc::SYS_getpid, libc::SYS_getppid, libc::SYS_gettid, libc::SYS_getpgid, libc::SYS_getsid,
    libc::SYS_setpgid, libc::SYS_setsid, libc::SYS_getuid, libc::SYS_geteuid, libc::SYS_getgid,
    libc::SYS_getegid, libc::SYS_getresuid, libc::SYS_getresgid, libc::SYS_getgroups,
    libc::SYS_capget, libc::SYS_getrusage,
    libc::SYS_times, libc::SYS_sysinfo, libc::SYS_uname, libc::SYS_getrandom,
    // Time, and waiting.
    libc::SYS_gettimeofday, libc::SYS_clock_gettime, libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep, libc::SYS_nanosleep, libc::SYS_getitimer, libc::SYS_setitimer,
    libc::SYS_timer_create, libc::SYS_timer_settime, libc::SYS_timer_gettime,
    libc::SYS_timer_getoverrun, libc::SYS_timer_delete, libc::SYS_timerfd_create,
    libc::SYS_timerfd_settime, libc::SYS_timerfd_gettime, libc::SYS_eventfd2,
    libc::SYS_epoll_create1, libc::SYS_epoll_ctl, libc::SYS_epoll_pwait, libc::SYS_epoll_pwait2,
    libc::SYS_ppoll, libc::SYS_pselect6,
    // Pairs of sockets.
    libc::SYS_sendmsg, libc::SYS_recvmsg, libc::SYS_sendto, libc::SYS_recvfrom,
    libc::SYS_sendmmsg, libc::SYS_recvmmsg, libc::SYS_shutdown, libc::SYS_getsockname,
    libc::SYS_getpeername, libc::SYS_getsockopt, libc::SYS_setsockopt,
    // Giving up more rights.
    libc::SYS_seccomp, libc::SYS_landlock_create_ruleset, libc::SYS_landlock_add_rule,
    libc::SYS_landlock_restrict_self,
];

#[rustfmt::skip]
const CHANGING: &[i64] = &[
    libc::SYS_unlinkat, libc::SYS_renameat2, libc::SYS_mkdirat, libc::SYS_linkat,
    libc::SYS_symlinkat, libc::SYS_mknodat, libc::SYS_fchmod, libc::SYS_fchmodat,
    libc::SYS_fchown, libc::SYS_fchownat, libc::SYS_utimensat,
    libc::SYS_truncate, libc::SYS_setxattr, libc::SYS_lsetxattr, libc::SYS_fsetxattr,
    libc::SYS_removexattr, libc::SYS_lremovexattr, libc::SYS_fremovexattr,
];

const REACHING: &[i64] = &[
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
];

/// Calls that younger processors do without.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
const OLD_PERMITTED: &[i64] = &[
    libc::SYS_stat, libc::SYS_lstat, libc::SYS_access, libc::SYS_readlink, libc::SYS_getdents,
    libc::SYS_poll, libc::SYS_select, libc::SYS_pipe, libc::SYS_dup2, libc::SYS_pause,
    libc::SYS_alarm, libc::SYS_getpgrp, libc::SYS_fork, libc::SYS_vfork, libc::SYS_time,
    libc::SYS_epoll_create, libc::SYS_epoll_wait, libc::SYS_eventfd, libc::SYS_inotify_init,
    libc::SYS_signalfd, libc::SYS_arch_prctl, libc::SYS_getrlimit, libc::SYS_setrlimit,
];
#[cfg(not(target_arch = "x86_64"))]
const OLD_PERMITTED: &[i64] = &[];

#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
const OLD_CHANGING: &[i64] = &[
    libc::SYS_unlink, libc::SYS_rename, libc::SYS_mkdir, libc::SYS_rmdir, libc::SYS_link,
    libc::SYS_symlink, libc::SYS_mknod, libc::SYS_chmod, libc::SYS_chown, libc::SYS_lchown,
    libc::SYS_utime, libc::SYS_utimes, libc::SYS_futimesat, libc::SYS_creat,
    libc::SYS_renameat, libc::SYS_fchmodat2,
];
#[cfg(not(target_arch = "x86_64"))]
const OLD_CHANGING: &[i64] = &[];

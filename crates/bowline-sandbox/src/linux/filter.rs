//! Seccomp filter: the list of system calls as a BPF program.
//!
//! `seccompiler` installs it. That crate would also compile it, but to a program that compares a call with every
//! entry of a list in turn: installing that took half a millisecond, for the kernel tries every call
//! beforehand. Here the numbers are ranges of one verdict, found by binary search.

use std::{collections::BTreeMap, sync::OnceLock};

use seccompiler::{BpfProgram, apply_filter, sock_filter};

use super::calls::{Answer, TESTED, Test, Tested, known};

/// The processor whose numbers the lists hold, as the kernel calls it.
#[cfg(target_arch = "x86_64")]
const PROCESSOR: Option<u32> = Some(0xc000_003e);
#[cfg(target_arch = "aarch64")]
const PROCESSOR: Option<u32> = Some(0xc000_00b7);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const PROCESSOR: Option<u32> = None;

// Where `struct seccomp_data` has what.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

// Instructions of classic BPF.
const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const IF_EQUAL: u16 = 0x15;
const IF_AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;

/// Verdict for a call that is on no list.
const UNKNOWN: Answer = Answer::Fail(libc::ENOSYS);

/// Filters the system calls of the calling thread, and of what it starts, for good.
pub(super) fn apply() -> Result<(), String> {
    static PROGRAM: OnceLock<Result<BpfProgram, String>> = OnceLock::new();
    let program = PROGRAM.get_or_init(program).as_ref().map_err(Clone::clone)?;
    apply_filter(program).map_err(|error| error.to_string())
}

fn program() -> Result<BpfProgram, String> {
    let processor = PROCESSOR.ok_or("the system calls of this processor are not known")?;
    let mut program = vec![
        step(LOAD, ARCHITECTURE),
        jump(IF_EQUAL, processor, 1, 0),
        // Another one's numbers mean other calls.
        step(RETURN, libc::SECCOMP_RET_KILL_PROCESS),
        step(LOAD, NUMBER),
    ];
    for tested in TESTED {
        let block = block(tested)?;
        program.push(jump(IF_EQUAL, number(tested.number)?, 0, distance(block.len())?));
        program.extend(block);
    }
    let mut answers = BTreeMap::new();
    for (call, answer) in known() {
        answers.insert(number(call)?, answer);
    }
    program.extend(search(&ranges(&answers))?);
    Ok(program)
}

/// The instructions for a call whose arguments decide. They end in a verdict.
fn block(tested: &Tested) -> Result<Vec<sock_filter>, String> {
    let mut steps = Vec::new();
    let refuse = give(Answer::Fail(tested.error));
    for Test { argument, mask, values, among } in tested.tests {
        // Both processors have the lower half first.
        steps.extend([step(LOAD, ARGUMENTS + 8 * argument), step(AND, *mask)]);
        for (place, value) in values.iter().enumerate() {
            match among {
                true => steps.push(jump(IF_EQUAL, *value, distance(values.len() - place)?, 0)),
                false => steps.extend([jump(IF_EQUAL, *value, 0, 1), refuse.clone()]),
            }
        }
        steps.extend(among.then(|| refuse.clone()));
    }
    steps.push(give(Answer::Permit));
    Ok(steps)
}

/// The start of each range of numbers, and its verdict.
fn ranges(answers: &BTreeMap<u32, Answer>) -> Vec<(u32, Answer)> {
    let mut ranges = vec![(0, UNKNOWN)];
    let mut next = 0;
    let mut begin = |from: u32, answer: Answer| match ranges.last_mut() {
        Some((start, last)) if *start == from => *last = answer,
        Some((_, last)) if *last == answer => {}
        _ => ranges.push((from, answer)),
    };
    for (&number, &answer) in answers {
        if number > next {
            begin(next, UNKNOWN);
        }
        begin(number, answer);
        next = number + 1;
    }
    begin(next, UNKNOWN);
    ranges
}

/// Finds the range of a number by halving.
fn search(ranges: &[(u32, Answer)]) -> Result<Vec<sock_filter>, String> {
    match ranges {
        [] => Err("there are no ranges".to_owned()),
        [(_, answer)] => Ok(vec![give(*answer)]),
        _ => {
            let (below, from) = ranges.split_at(ranges.len() / 2);
            let below = search(below)?;
            let mut steps = vec![jump(IF_AT_LEAST, from[0].0, distance(below.len())?, 0)];
            steps.extend(below);
            steps.extend(search(from)?);
            Ok(steps)
        }
    }
}

fn give(answer: Answer) -> sock_filter {
    let value = match answer {
        Answer::Permit => libc::SECCOMP_RET_ALLOW,
        Answer::Fail(error) => libc::SECCOMP_RET_ERRNO | error.unsigned_abs(),
    };
    step(RETURN, value)
}

fn step(code: u16, k: u32) -> sock_filter {
    sock_filter { code, jt: 0, jf: 0, k }
}

fn jump(code: u16, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

fn distance(steps: usize) -> Result<u8, String> {
    u8::try_from(steps).map_err(|_| "the list of system calls is too long".to_owned())
}

fn number(call: i64) -> Result<u32, String> {
    u32::try_from(call).map_err(|_| format!("{call} is not a system call"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the program as the kernel does.
    fn answer(program: &[sock_filter], call: u32, arguments: [u64; 6]) -> u32 {
        let (mut at, mut value) = (0, 0);
        loop {
            let sock_filter { code, jt, jf, k } = &program[at];
            at += 1;
            let taken = match *code {
                LOAD => {
                    value = match *k {
                        NUMBER => call,
                        ARCHITECTURE => PROCESSOR.unwrap(),
                        place => arguments[((place - ARGUMENTS) / 8) as usize] as u32,
                    };
                    continue;
                }
                AND => {
                    value &= k;
                    continue;
                }
                RETURN => return *k,
                IF_EQUAL => value == *k,
                IF_AT_LEAST => value >= *k,
                other => panic!("{other} is not used"),
            };
            at += usize::from(if taken { *jt } else { *jf });
        }
    }

    fn fails(error: i32) -> u32 {
        libc::SECCOMP_RET_ERRNO | error as u32
    }

    #[test]
    fn every_system_call_gets_the_verdict_of_its_list() {
        let program = program().unwrap();
        let lists: BTreeMap<u32, Answer> =
            known().map(|(call, answer)| (number(call).unwrap(), answer)).collect();
        assert_eq!(lists.len(), known().count(), "no call is on two lists");
        let tested: Vec<_> = TESTED.iter().map(|tested| number(tested.number).unwrap()).collect();
        for call in (0..1024).filter(|call| !tested.contains(call)) {
            let expected = match lists.get(&call).unwrap_or(&UNKNOWN) {
                Answer::Permit => libc::SECCOMP_RET_ALLOW,
                Answer::Fail(error) => fails(*error),
            };
            assert_eq!(answer(&program, call, [0; 6]), expected, "{call}");
        }
        // The same calls with pointers of 32 bits.
        let read = number(libc::SYS_read).unwrap();
        assert_eq!(answer(&program, read | 0x4000_0000, [0; 6]), fails(libc::ENOSYS));
    }

    #[test]
    fn arguments_decide_where_the_list_says_so() {
        let program = program().unwrap();
        let allow = libc::SECCOMP_RET_ALLOW;
        let (unix, stream, datagram) =
            (libc::AF_UNIX as u64, libc::SOCK_STREAM as u64, libc::SOCK_DGRAM as u64);
        let cut = libc::O_TRUNC as u64;
        let cloexec = libc::SOCK_CLOEXEC as u64;
        for (call, arguments, expected) in [
            (libc::SYS_clone, [libc::SIGCHLD as u64, 0, 0], allow),
            (libc::SYS_clone, [libc::CLONE_NEWUSER as u64, 0, 0], fails(libc::EPERM)),
            (libc::SYS_clone, [libc::CLONE_NEWNET as u64 | 17, 0, 0], fails(libc::EPERM)),
            (libc::SYS_ioctl, [0, libc::TCGETS, 0], allow),
            (libc::SYS_ioctl, [0, libc::TIOCSTI, 0], fails(libc::EPERM)),
            (libc::SYS_ioctl, [0, libc::TIOCSTI | 1 << 32, 0], fails(libc::EPERM)),
            (libc::SYS_ioctl, [0, libc::TIOCLINUX, 0], fails(libc::EPERM)),
            (libc::SYS_socketpair, [unix, stream | cloexec, 0], allow),
            (libc::SYS_socketpair, [unix, libc::SOCK_SEQPACKET as u64, 0], allow),
            (libc::SYS_socketpair, [unix, datagram, 0], fails(libc::EACCES)),
            (libc::SYS_socketpair, [libc::AF_TIPC as u64, stream, 0], fails(libc::EACCES)),
            (libc::SYS_openat, [0, 0, cut], fails(libc::EROFS)),
            // Whether this file may be written is for Landlock to say.
            (libc::SYS_openat, [0, 0, cut | libc::O_WRONLY as u64], allow),
            (libc::SYS_openat, [0, 0, libc::O_CLOEXEC as u64], allow),
            (libc::SYS_prlimit64, [0, 7, 0], allow),
            (libc::SYS_prlimit64, [1, 7, 0], fails(libc::EPERM)),
            (libc::SYS_setpriority, [0, 0, 10], allow),
            (libc::SYS_setpriority, [0, 1, 10], fails(libc::EPERM)),
            (libc::SYS_setpriority, [2, 0, 10], fails(libc::EPERM)),
        ] {
            let [first, second, third] = arguments;
            let number = number(call).unwrap();
            let given = answer(&program, number, [first, second, third, 0, 0, 0]);
            assert_eq!(given, expected, "{call} {arguments:?}");
        }
    }
}

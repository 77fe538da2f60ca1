//! Wrappers: programs whose operands are a command, such as `timeout`, `env` and `sudo`.
//!
//! An option that is not known might take the next word, so that the start of the command would be
//! undecidable: the nested command of such a wrapper is unknown.

use super::{Nested, shells};
use crate::{
    script::{Assignment, Command},
    synopsis::Synopsis,
    word::Word,
};

const NONE: Synopsis =
    Synopsis { flags: "", values: "", files: "", attached: "", long: "", number: false };

/// The nested command of a wrapper; `None` if the program is not a wrapper.
pub(super) fn nested(command: &Command, name: &str, words: &[Word]) -> Option<Nested> {
    let same = |synopsis: Synopsis, skip: usize| match operands(&synopsis, words, skip) {
        Some([]) => Nested::None,
        Some(rest) => Nested::Same(Command { words: rest.to_vec(), ..command.clone() }),
        None => Nested::Unknown,
    };
    let others = |synopsis: Synopsis, skip: usize| match operands(&synopsis, words, skip) {
        Some([]) => Nested::None,
        Some(rest) => Nested::Others(vec![Command::of(rest.to_vec())]),
        None => Nested::Unknown,
    };
    Some(match name {
        "timeout" => same(TIMEOUT, 1),
        "nice" => same(NICE, 0),
        "stdbuf" => same(STDBUF, 0),
        "ionice" => {
            same(Synopsis { flags: "t", values: "cn", long: "class= classdata= ignore", ..NONE }, 0)
        }
        "nohup" | "builtin" => same(NONE, 0),
        "setsid" => same(Synopsis { flags: "cfw", long: "ctty fork wait", ..NONE }, 0),
        // `time` stands before a whole pipeline, not only before a simple command.
        "time" if words.iter().any(is_reserved) => Nested::Unknown,
        // The program of that name writes where its options say; the shell's own has only `-p`.
        "time" if words.first().is_some_and(|word| !word.is("-p") && may_be_option(word)) => {
            others(
                Synopsis {
                    flags: "apqvV",
                    values: "fo",
                    long: "append portability quiet verbose format= output=",
                    ..NONE
                },
                0,
            )
        }
        "time" => same(TIME, 0),
        "exec" => same(Synopsis { flags: "cl", values: "a", ..NONE }, 0),
        "command" if words.first().is_some_and(|it| it.is("-v") || it.is("-V")) => Nested::None,
        "command" => same(TIME, 0),
        "env" => environment(words),
        "sudo" => after_assignments(SUDO.after_options(words)),
        "doas" => others(Synopsis { flags: "nL", values: "uC", ..NONE }, 0),
        "busybox" | "unbuffer" => others(Synopsis { flags: "p", ..NONE }, 0),
        "caffeinate" => others(Synopsis { flags: "disu", values: "tw", ..NONE }, 0),
        "unshare" => others(
            Synopsis {
                flags: "mnpuirUfCT",
                long: "mount net pid user uts ipc cgroup time fork map-root-user",
                ..NONE
            },
            0,
        ),
        "flock" => locked(words),
        "taskset" => others(Synopsis { flags: "ac", long: "all-tasks cpu-list", ..NONE }, 1),
        "chrt" => others(Synopsis { flags: "abdfiorRv", ..NONE }, 1),
        "strace" | "ltrace" => {
            others(Synopsis { flags: "fFcCdikqrtTvwxyYzZ", values: "oepsuPEaObIX", ..NONE }, 0)
        }
        "chroot" => others(Synopsis { long: "userspec= groups= skip-chdir", ..NONE }, 1),
        "watch" => shells::joined(
            Synopsis {
                flags: "bcCegptwx",
                values: "nq",
                attached: "d",
                long: "interval= differences? no-title beep errexit chgexit color exec precise",
                ..NONE
            }
            .after_options(words),
        ),
        // Their options are too many to know where a command begins.
        "setpriv" | "setarch" | "linux32" | "linux64" | "i386" | "x86_64" | "prlimit"
        | "nsenter" | "script" | "systemd-run" | "parallel" | "firejail" | "bwrap" | "proot"
        | "fakeroot" | "ssh" | "runcon" | "softlimit" | "choom" | "coresched"
            if !words.is_empty() =>
        {
            Nested::Unknown
        }
        _ => return None,
    })
}

pub(crate) const TIMEOUT: Synopsis = Synopsis {
    flags: "vfp",
    values: "ks",
    long: "preserve-status foreground verbose kill-after= signal=",
    ..NONE
};
pub(crate) const NICE: Synopsis =
    Synopsis { values: "n", long: "adjustment=", number: true, ..NONE };
pub(crate) const STDBUF: Synopsis =
    Synopsis { values: "ioe", long: "input= output= error=", ..NONE };
pub(crate) const TIME: Synopsis = Synopsis { flags: "p", ..NONE };
const SUDO: Synopsis = Synopsis {
    flags: "AbEHknPSv",
    values: "ughprtCTU",
    long: "preserve-env? non-interactive set-home askpass background stdin user= group= host= prompt= \
           role= type= command-timeout= other-user= close-from= reset-timestamp",
    ..NONE
};

/// The words of the command, after options and a number of operands of the wrapper's own.
fn operands<'a>(synopsis: &Synopsis, words: &'a [Word], skip: usize) -> Option<&'a [Word]> {
    let rest = synopsis.after_options(words)?;
    let own = &rest[..skip.min(rest.len())];
    // A pattern would bring words of its own, and the command would begin among them.
    own.iter().all(|word| word.fixed().is_some()).then(|| &rest[own.len()..])
}

/// `env [-i] [NAME=value…] command`. In another directory, words name other files.
fn environment(words: &[Word]) -> Nested {
    const ENV: Synopsis = Synopsis {
        flags: "i0v",
        values: "u",
        long: "ignore-environment null debug unset= ignore-signal? default-signal? block-signal? \
               list-signal-handling",
        ..NONE
    };
    let words = match words.split_first() {
        // A dash alone means `-i`.
        Some((first, rest)) if first.is("-") => rest,
        _ => words,
    };
    after_assignments(ENV.after_options(words))
}

/// `flock FILE command` and `flock FILE -c 'commands'`.
fn locked(words: &[Word]) -> Nested {
    const FLOCK: Synopsis = Synopsis {
        flags: "sxeunoFv",
        values: "wE",
        long: "shared exclusive unlock nonblock nb no-fork close verbose timeout= wait= \
               conflict-exit-code=",
        ..NONE
    };
    let Some([file, rest @ ..]) = FLOCK.after_options(words) else { return Nested::Unknown };
    if file.may_split() {
        return Nested::Unknown;
    }
    match rest {
        [] => Nested::None,
        [option, commands] if option.is("-c") || option.is("--command") => {
            shells::script_text(commands)
        }
        [option, ..] if may_be_option(option) => Nested::Unknown,
        rest => Nested::Others(vec![Command::of(rest.to_vec())]),
    }
}

/// `[NAME=value…] command`, or `None` if it is not certain where that begins.
fn after_assignments(words: Option<&[Word]>) -> Nested {
    let Some(mut rest) = words else { return Nested::Unknown };
    let mut assignments = Vec::new();
    while let Some((word, after)) = rest.split_first() {
        let Some((name, _)) = word.literal().and_then(|text| text.split_once('=')) else { break };
        assignments.push(Assignment { name: name.to_owned(), raw: word.raw().to_owned() });
        rest = after;
    }
    match rest {
        [] => Nested::None,
        [first, ..] if first.literal().is_none() => Nested::Unknown,
        rest => Nested::Others(vec![Command { assignments, ..Command::of(rest.to_vec()) }]),
    }
}

/// Whether a word is an option, or may turn out to be one.
pub(crate) fn may_be_option(word: &Word) -> bool {
    word.literal().is_none_or(|text| text.starts_with('-'))
}

fn is_reserved(word: &Word) -> bool {
    ["!", "{", "if", "while", "until", "for", "[["].iter().any(|reserved| word.raw() == *reserved)
}

//! `ps` that does not show environments.
//!
//! Its arguments have two grammars: `-e` selects every process in one and shows environments in
//! the other, and a line that the first refuses is read again by the second. So only
//! combinations are known that the first one takes, or that have no `e` at all.

use super::Reads;
use crate::word::Word;

/// Words of the grammar with dashes, none of which can fail to be read.
const DASHED: &[&str] = &[
    "-e",
    "-f",
    "-F",
    "-ef",
    "-eF",
    "-fe",
    "-elf",
    "-A",
    "-Af",
    "-a",
    "-l",
    "-j",
    "-H",
    "-L",
    "-T",
    "-w",
    "-ww",
    "--forest",
    "--no-headers",
    "--headers",
    "--no-heading",
];

/// Words of the grammar without dashes. None has an `e`.
const PLAIN: &[&str] = &[
    "a", "x", "u", "ax", "au", "ux", "aux", "axu", "auxw", "auxww", "axw", "axww", "uxw", "f",
    "axf", "auxf", "w", "ww", "-aux", "-ax", "-auxw", "-auxww", "-axww",
];

pub(super) fn reads(words: &[Word]) -> Option<Reads> {
    let mut dashed = false;
    let mut plain = false;
    let mut selects = false;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.fixed()?;
        match text {
            "-o" | "-O" | "-Ao" => columns(words.next()?.fixed()?)?,
            "-eo" => {
                dashed = true;
                columns(words.next()?.fixed()?)?;
            }
            "axo" | "-axo" => {
                plain = true;
                columns(words.next()?.fixed()?)?;
            }
            "-p" | "--pid" | "--ppid" | "-u" | "-U" | "-C" => {
                selects = true;
                words.next()?.fixed()?;
            }
            text if text.starts_with("--sort=") => {}
            text if DASHED.contains(&text) => {
                dashed |= text.starts_with("-e") || text.ends_with('e')
            }
            text if PLAIN.contains(&text) => plain = true,
            _ => return None,
        }
    }
    // A value that cannot be read sends the whole line to the other grammar.
    (!dashed || !(plain || selects)).then(Reads::nothing)
}

/// A list of columns, each possibly with a heading. Environments are a column as well.
fn columns(text: &str) -> Option<()> {
    const KNOWN: &[&str] = &[
        "pid",
        "ppid",
        "pgid",
        "pgrp",
        "sid",
        "sess",
        "tid",
        "lwp",
        "spid",
        "nlwp",
        "user",
        "uid",
        "euser",
        "euid",
        "ruser",
        "ruid",
        "group",
        "gid",
        "egroup",
        "rgroup",
        "comm",
        "cmd",
        "args",
        "command",
        "ucmd",
        "ucomm",
        "fname",
        "pcpu",
        "%cpu",
        "c",
        "pmem",
        "%mem",
        "rss",
        "rssize",
        "vsz",
        "vsize",
        "sz",
        "size",
        "stat",
        "state",
        "s",
        "tty",
        "tt",
        "tname",
        "etime",
        "etimes",
        "time",
        "cputime",
        "times",
        "start",
        "start_time",
        "stime",
        "bsdstart",
        "bsdtime",
        "lstart",
        "nice",
        "ni",
        "pri",
        "priority",
        "psr",
        "wchan",
        "f",
        "flags",
        "cls",
        "class",
        "rtprio",
        "sched",
    ];
    let (names, _heading) = text.split_once('=').unwrap_or((text, ""));
    let name = |column: &str| KNOWN.contains(&column.split(':').next().unwrap_or_default());
    names.split(',').all(name).then_some(())
}

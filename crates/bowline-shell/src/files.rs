//! Which files a command reads and writes, as far as its arguments tell.

use crate::{
    git,
    options::Arguments,
    read_only::{Edits, sed_files},
    script::{Command, RedirectionKind},
    word::Word,
};

/// The files that a command reads and writes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Touches {
    /// What it reads: files, or directories it lists.
    pub reads: Vec<Word>,
    /// What it creates, changes or removes.
    pub writes: Vec<Word>,
    /// Whether it is a simple file command (`mkdir`, `touch`, `rm`, `rmdir`, `mv`, `cp`, `sed -i`),
    /// which does nothing but that.
    pub is_file_command: bool,
}

/// A program that reads files and prints.
#[derive(Debug)]
pub(crate) struct Reader {
    /// Options that take a value.
    pub(crate) with_value: &'static [&'static str],
    /// Options that do more than read.
    pub(crate) refused: &'static [&'static str],
    /// Options that make it follow links out of the folders it is given.
    pub(crate) follows: &'static [&'static str],
    files: Files,
}

/// Which arguments of a reader are files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Files {
    None,
    All,
    /// All but the first, which is a pattern unless one is given by an option.
    AfterPattern,
}

impl Reader {
    /// The reader of this name, if it is known to do no harm.
    pub(crate) fn named(name: &str) -> Option<Self> {
        const NOTHING: &[&str] = &[];
        let (files, with_value, refused) = match name {
            "true" | "false" | ":" | "pwd" | "echo" | "sleep" | "seq" | "expr" | "whoami"
            | "id" | "groups" | "uname" | "arch" | "nproc" | "uptime" | "free" | "tty"
            | "locale" | "cal" | "ps" | "pgrep" | "which" | "type" | "tr" | "basename"
            | "dirname" | "lscpu" | "lsblk" => (Files::None, NOTHING, NOTHING),
            "printf" => (Files::None, NOTHING, &["-v"][..]),
            "cd" | "cat" | "rev" | "realpath" | "readlink" | "comm" | "md5sum" | "sha1sum"
            | "sha256sum" | "sha512sum" | "b2sum" | "cksum" | "jq" => {
                (Files::All, NOTHING, NOTHING)
            }
            "ls" => (Files::All, &["I", "w", "T", "ignore", "width", "hide"][..], NOTHING),
            "head" | "tail" => (Files::All, &["n", "c", "s", "lines", "bytes", "pid"][..], NOTHING),
            "wc" => (Files::All, NOTHING, NOTHING),
            "nl" => (Files::All, &["b", "d", "f", "h", "i", "l", "n", "s", "v", "w"][..], NOTHING),
            "tac" => (Files::All, &["s", "separator"][..], NOTHING),
            "fold" | "fmt" => (Files::All, &["w", "g", "p", "width"][..], NOTHING),
            "cut" => (
                Files::All,
                &["b", "c", "d", "f", "bytes", "characters", "delimiter", "fields"][..],
                NOTHING,
            ),
            "paste" => (Files::All, &["d", "delimiters"][..], NOTHING),
            "column" => (Files::All, &["c", "s", "o", "N", "separator"][..], NOTHING),
            "cmp" => (Files::All, &["n", "i", "bytes", "ignore-initial"][..], NOTHING),
            "diff" => (Files::All, &["U", "C", "x", "X", "F", "I", "W", "unified"][..], NOTHING),
            "base64" | "base32" => (Files::All, &["w", "wrap"][..], NOTHING),
            "strings" => (Files::All, &["n", "t", "e"][..], NOTHING),
            "od" => (Files::All, &["A", "j", "N", "S", "t", "w"][..], NOTHING),
            "hexdump" => (Files::All, &["e", "n", "s"][..], NOTHING),
            "file" => (Files::All, &["e", "F", "P"][..], &["-C", "--compile"][..]),
            "stat" => (Files::All, &["c", "format", "printf"][..], NOTHING),
            "du" => (Files::All, &["d", "B", "t", "max-depth", "exclude"][..], NOTHING),
            "df" => (Files::All, &["B", "t", "x", "type"][..], NOTHING),
            "tree" => (Files::All, &["L", "P", "I"][..], &["-o", "-R", "--output"][..]),
            "sort" => (
                Files::All,
                &["k", "t", "S", "T", "o", "key", "field-separator", "output", "parallel"][..],
                &["-o", "--output", "--compress-program", "-T", "--temporary-directory"][..],
            ),
            "uniq" => (Files::All, &["f", "s", "w"][..], NOTHING),
            "grep" | "egrep" | "fgrep" => (
                Files::AfterPattern,
                &[
                    "e",
                    "f",
                    "m",
                    "A",
                    "B",
                    "C",
                    "d",
                    "D",
                    "regexp",
                    "file",
                    "include",
                    "exclude",
                    "exclude-dir",
                    "max-count",
                    "context",
                ][..],
                NOTHING,
            ),
            "rg" => (
                Files::AfterPattern,
                &[
                    "e",
                    "f",
                    "g",
                    "t",
                    "T",
                    "A",
                    "B",
                    "C",
                    "m",
                    "j",
                    "r",
                    "M",
                    "E",
                    "d",
                    "regexp",
                    "file",
                    "glob",
                    "type",
                    "max-depth",
                    "context",
                ][..],
                &["--pre", "--hostname-bin"][..],
            ),
            "fd" => (
                Files::AfterPattern,
                &["e", "t", "d", "E", "S", "extension", "type", "max-depth", "exclude"][..],
                &["-x", "-X", "-C", "--exec", "--exec-batch", "--base-directory", "--search-path"]
                    [..],
            ),
            _ => return None,
        };
        let follows: &[&str] = match name {
            "grep" | "egrep" | "fgrep" => &["-R", "--dereference-recursive"],
            "rg" | "fd" => &["-L", "--follow"],
            "ls" | "du" => &["-L", "-H", "-D", "--dereference", "--dereference-args"],
            "tree" => &["-l"],
            "diff" => &["-r", "--recursive"],
            _ => &[],
        };
        Some(Self { with_value, refused, follows, files })
    }

    fn reads(&self, words: &[Word]) -> Vec<Word> {
        let mut arguments = Arguments::sort(words, self.with_value);
        if self.files == Files::None {
            return Vec::new();
        }
        let pattern_given = arguments.has_any(&["-e", "-f", "--regexp", "--file", "--files"]);
        if self.files == Files::AfterPattern && !pattern_given && !arguments.positionals.is_empty()
        {
            arguments.positionals.remove(0);
        }
        // `-` is the standard input. A value may be a file as well (`-f FILE`, `--files0-from=FILE`).
        let given = arguments.options.iter().filter_map(|(name, value)| {
            value.clone().filter(|it| {
                self.files == Files::AfterPattern && matches!(name.as_str(), "-f" | "--file")
                    || it.literal().is_none_or(|text| text.contains('/')) && name.starts_with("--")
            })
        });
        let mut reads: Vec<Word> = given.collect();
        reads.extend(arguments.positionals.into_iter().filter(|word| !word.is("-")));
        reads
    }
}

impl Command {
    /// Which files this command itself reads and writes. What it [carries](Self::carried) and
    /// what its substitutions do is not in it.
    pub fn touches(&self) -> Touches {
        let mut touches = self.touched_by_arguments().unwrap_or_default();
        for redirection in &self.redirections {
            let target = &redirection.target;
            match redirection.kind {
                RedirectionKind::Read => touches.reads.push(target.clone()),
                RedirectionKind::Write if !is_sink(target) => touches.writes.push(target.clone()),
                RedirectionKind::Duplicate if !is_descriptor(target) && !is_sink(target) => {
                    touches.writes.push(target.clone());
                }
                _ => {}
            }
        }
        touches
    }

    /// Every argument that may name a file, whatever the command makes of it: whole words, and
    /// what follows `=` or `@` in them.
    pub fn path_like_words(&self) -> Vec<Word> {
        let mut found = Vec::new();
        for word in self.words.iter().skip(1).filter(|word| word.literal().is_some()) {
            let text = word.literal().unwrap_or_default();
            let attached = text.find(['=', '@']).and_then(|at| word.tail(at + 1));
            found.extend(attached);
            found.push(word.clone());
        }
        found
    }

    fn touched_by_arguments(&self) -> Option<Touches> {
        let name = self.name()?;
        let words = &self.words[1..];
        let written = |values: &[&str], skip: usize| {
            let arguments = Arguments::sort(words, values);
            let targets = arguments.values(&["-t", "--target-directory"]).cloned();
            let writes: Vec<Word> =
                targets.chain(arguments.positionals.iter().skip(skip).cloned()).collect();
            Touches { is_file_command: !writes.is_empty(), writes, reads: Vec::new() }
        };
        Some(match name {
            "mkdir" => written(&["m", "mode"], 0),
            "touch" => written(&["d", "t", "r", "date", "reference", "time"], 0),
            "rm" | "rmdir" | "unlink" => written(&[], 0),
            "mv" => written(&["t", "S", "target-directory", "suffix"], 0),
            "cp" => {
                let mut touches = written(&["t", "S", "target-directory", "suffix"], 0);
                // The last one is written, the others are read; with `-t` all others are read.
                let kept = touches.writes.len().saturating_sub(1);
                let first = Arguments::sort(words, &["t", "target-directory"]);
                touches.reads = if first.has_any(&["-t", "--target-directory"]) {
                    touches.writes.split_off(1)
                } else {
                    touches.writes.drain(..kept).collect()
                };
                touches
            }
            "sed" => match sed_files(words, Edits::InPlace) {
                Some(writes) => {
                    Touches { is_file_command: !writes.is_empty(), writes, reads: Vec::new() }
                }
                None => Touches { reads: sed_files(words, Edits::Never)?, ..Touches::default() },
            },
            "tee" => Touches { is_file_command: false, ..written(&[], 0) },
            "dd" => {
                let writes = words.iter().filter_map(|word| {
                    word.literal().filter(|it| it.starts_with("of=")).and_then(|_| word.tail(3))
                });
                Touches { writes: writes.collect(), ..Touches::default() }
            }
            "git" => Touches { reads: git::looks_at(words)?, ..Touches::default() },
            "find" => {
                let is_option = |word: &&Word| {
                    let option =
                        |text: &str| matches!(text, "-H" | "-L" | "-P") || text.starts_with("-O");
                    word.literal().is_some_and(option)
                };
                let paths = words.iter().skip_while(is_option).take_while(|it| {
                    it.literal().is_none_or(|text| !text.starts_with(['-', '(', '!']))
                });
                Touches { reads: paths.cloned().collect(), ..Touches::default() }
            }
            _ => Touches { reads: Reader::named(name)?.reads(words), ..Touches::default() },
        })
    }
}

/// Files that swallow what is written to them.
fn is_sink(target: &Word) -> bool {
    ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"].iter().any(|sink| target.is(sink))
}

fn is_descriptor(target: &Word) -> bool {
    target.literal().is_some_and(|text| {
        let number = text.strip_suffix('-').unwrap_or(text);
        number.chars().all(|letter| letter.is_ascii_digit())
    })
}

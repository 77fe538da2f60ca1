//! The table of programs whose options follow the usual syntax.

use super::Reads;
use crate::{
    synopsis::{Matched, Synopsis},
    word::Word,
};

/// What the operands of a program are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operands {
    /// Text. A pattern among it still shows which files there are.
    Text,
    /// Files; without any, the standard input.
    Files,
    /// Files and directories; without any, the current directory.
    Places,
    /// Like `Files`, but a directory means the file of the same name in it.
    FilesOnly,
    /// A regular expression, unless an option gives one, and then files.
    Pattern,
}

struct Reader {
    synopsis: Synopsis,
    operands: Operands,
}

/// Whether there is a row for this program.
pub(super) fn is_known(name: &str) -> bool {
    reader(name).is_some()
}

pub(super) fn reads(name: &str, words: &[Word]) -> Option<Reads> {
    let Reader { synopsis, operands } = reader(name)?;
    if operands == Operands::Text && matches!(name, "echo" | "true" | "false" | ":" | "expr") {
        // They take no option that matters, so every word is text.
        return Some(shown_names(words));
    }
    if name == "printf" {
        // An option before the format can assign, and a subscript in it is evaluated.
        let format = words.first()?.fixed()?;
        return (!format.starts_with('-') && only_prints(format)).then(|| shown_names(words));
    }
    let has_file_of_arguments =
        |word: &Word| word.literal().is_none_or(|text| text.starts_with('@'));
    if name == "strings" && words.iter().any(has_file_of_arguments) {
        return None;
    }
    // Its values are never attached, so that letters after them are options: `-L2o FILE` writes.
    if name == "tree" && words.iter().any(|word| !is_plain_for_tree(word)) {
        return None;
    }
    let matched = synopsis.matched(words)?;
    let positionals = matched.positionals();
    // Of these, no option does more than change what is printed.
    let takes_any = matches!(name, "basename" | "dirname" | "sleep" | "seq" | "tr");
    if !matched.is_certain() && !takes_any {
        return None;
    }
    if operands == Operands::Text {
        return Some(shown_names(positionals));
    }
    let mut paths = matched.files.clone();
    // `-` is the standard input, but for `cd` the directory before.
    let named = |word: &&Word| name == "cd" || !word.is("-");
    match operands {
        Operands::Pattern => {
            let given = matched.has(&["-e", "-f", "--regexp", "--file", "--files", "--type-list"]);
            let optional = matches!(name, "fd" | "fdfind") && positionals.is_empty();
            let given = given || optional;
            let pattern = positionals.first();
            // A file name pattern where the expression belongs becomes an expression and files.
            if !given && pattern.is_none_or(Word::may_split) {
                return None;
            }
            let files = if given { positionals } else { &positionals[1..] };
            paths.extend(files.iter().filter(named).cloned());
            Some(search(name, &matched, files.is_empty(), paths))
        }
        _ => {
            paths.extend(positionals.iter().filter(named).cloned());
            special_case(name, &matched)?;
            let mut found = Reads::of(paths);
            found.files_only = operands == Operands::FilesOnly;
            match (name, operands) {
                ("cd", _) if positionals.is_empty() => Some(Reads::of(vec![home()])),
                (_, Operands::Places) if positionals.is_empty() => Some(found.or_here()),
                _ => Some(found),
            }
        }
    }
}

/// Whether a format has no conversion that assigns to a variable (`%n`), or that is not known.
fn only_prints(format: &str) -> bool {
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        let spec = rest[at + 1..]
            .trim_start_matches(|it: char| "-+ #0'.*hlLjzt".contains(it) || it.is_ascii_digit());
        let Some(conversion) = spec.chars().next().filter(|it| "sdiuxXofFeEgGcbq%".contains(*it))
        else {
            return false;
        };
        rest = &spec[conversion.len_utf8()..];
    }
    true
}

/// Where a search looks.
fn search(name: &str, matched: &Matched, without_files: bool, paths: Vec<Word>) -> Reads {
    let actions = matched.arguments.values(&["-d", "--directories"]);
    let descends = actions.into_iter().any(|action| !action.is("read") && !action.is("skip"));
    let recursive = !name.ends_with("grep") || descends || matched.has(&["-r", "--recursive"]);
    let mut found =
        Reads { recursive: recursive && !matches!(name, "fd" | "fdfind"), ..Reads::of(paths) };
    if recursive && without_files {
        found.paths.push(Word::plain("."));
    }
    found
}

/// What a table of options cannot say.
fn special_case(name: &str, matched: &Matched) -> Option<()> {
    let positionals = matched.positionals();
    match name {
        // The second operand is written.
        "uniq" => (positionals.len() < 2 && !positionals.iter().any(Word::may_split)).then_some(()),
        // `@file` is a file of further arguments.
        "strings" => {
            let plain = |word: &Word| word.literal().is_some_and(|text| !text.starts_with('@'));
            positionals.iter().all(|word| plain(word) && !starts_wild(word)).then_some(())
        }
        "cd" => (positionals.len() < 2).then_some(()),
        _ => Some(()),
    }
}

fn is_plain_for_tree(word: &Word) -> bool {
    let Some(text) = word.literal() else { return true };
    let is_short = text.len() > 2 && text.starts_with('-') && !text.starts_with("--");
    let levels = text.strip_prefix("-L").is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()));
    !is_short || levels || !text.contains(['L', 'P', 'I'])
}

fn starts_wild(word: &Word) -> bool {
    word.is_glob() && word.literal().is_none_or(|text| text.starts_with(['*', '?', '[']))
}

/// Words that are printed. Those that are patterns print names of files.
fn shown_names(words: &[Word]) -> Reads {
    Reads::of(words.iter().filter(|word| word.is_glob()).cloned().collect())
}

/// `cd` without a directory goes home.
fn home() -> Word {
    crate::parse("cd ~").commands.pop().and_then(|mut cd| cd.words.pop()).unwrap_or_default()
}

fn reader(name: &str) -> Option<Reader> {
    const NONE: Synopsis =
        Synopsis { flags: "", values: "", files: "", attached: "", long: "", number: false };
    use Operands::{Files, FilesOnly, Pattern, Places, Text};
    let (operands, synopsis) = match name {
        "true" | "false" | ":" | "echo" | "expr" | "printf" | "whoami" | "arch" | "sleep" => {
            (Text, NONE)
        }
        "pwd" => (Text, Synopsis { flags: "LP", ..NONE }),
        "seq" => (
            Text,
            Synopsis {
                flags: "w",
                values: "fs",
                long: "format= separator= equal-width",
                number: true,
                ..NONE
            },
        ),
        "id" | "groups" => {
            (Text, Synopsis { flags: "ugGnrz", long: "user group groups name real zero", ..NONE })
        }
        "uname" => (
            Text,
            Synopsis {
                flags: "asnrvmpio",
                long: "all kernel-name nodename kernel-release kernel-version machine processor \
                       hardware-platform operating-system",
                ..NONE
            },
        ),
        "nproc" => (Text, Synopsis { long: "all ignore=", ..NONE }),
        "uptime" => (Text, Synopsis { flags: "ps", long: "pretty since", ..NONE }),
        "free" => (
            Text,
            Synopsis {
                flags: "bkmghtlwv",
                values: "sc",
                long: "bytes kilo mega giga human wide total lohi kibi mebi gibi si",
                ..NONE
            },
        ),
        "tty" => (Text, Synopsis { flags: "s", long: "silent quiet", ..NONE }),
        "locale" => (Text, Synopsis { flags: "amck", ..NONE }),
        "cal" => (Text, Synopsis { flags: "13jmsy", ..NONE }),
        "pgrep" => (
            Text,
            Synopsis {
                flags: "flanovxic",
                values: "uUPgstGd",
                long: "full list-name list-full newest oldest exact ignore-case count",
                ..NONE
            },
        ),
        "which" => (Text, Synopsis { flags: "as", ..NONE }),
        "type" => (Text, Synopsis { flags: "aftpP", ..NONE }),
        "tr" => (
            Text,
            Synopsis {
                flags: "cCdst",
                long: "complement delete squeeze-repeats truncate-set1",
                ..NONE
            },
        ),
        "basename" => {
            (Text, Synopsis { flags: "az", values: "s", long: "multiple suffix= zero", ..NONE })
        }
        "dirname" => (Text, Synopsis { flags: "z", long: "zero", ..NONE }),
        "lscpu" => (
            Text,
            Synopsis {
                flags: "abcBJyr",
                attached: "ep",
                long: "json extended? parse? all",
                ..NONE
            },
        ),
        "lsblk" => (
            Text,
            Synopsis {
                flags: "abdfilmnpOrStJP",
                values: "oIex",
                long: "all bytes json fs list output= output-all paths noheadings topology nodeps",
                ..NONE
            },
        ),
        "cd" => (Files, Synopsis { flags: "LPe", ..NONE }),
        "cat" => (
            Files,
            Synopsis {
                flags: "AbeEnstTuv",
                long: "show-all number-nonblank show-ends number squeeze-blank show-tabs \
                       show-nonprinting",
                ..NONE
            },
        ),
        "rev" => (Files, Synopsis { flags: "0", ..NONE }),
        "realpath" | "readlink" => (
            Files,
            Synopsis {
                flags: "efmnqsvzLP",
                long: "canonicalize canonicalize-existing canonicalize-missing no-newline quiet \
                       silent verbose zero strip no-symlinks logical physical relative-to< \
                       relative-base<",
                ..NONE
            },
        ),
        "comm" => (
            Files,
            Synopsis {
                flags: "123z",
                long: "total check-order nocheck-order output-delimiter= zero-terminated",
                ..NONE
            },
        ),
        // Not `-c`: it reads whatever files a list names.
        "md5sum" | "sha1sum" | "sha224sum" | "sha256sum" | "sha384sum" | "sha512sum" | "b2sum"
        | "cksum" => (
            Files,
            Synopsis {
                flags: "btz",
                values: "al",
                long: "binary text tag untagged zero algorithm= length= base64 raw",
                ..NONE
            },
        ),
        "ls" => (
            Places,
            Synopsis {
                flags: "aAbBcCdfFgGhiklmnNopqQrRsStuUvxXZ1",
                values: "IwT",
                long: "all almost-all author escape block-size= ignore-backups color? directory \
                       dired classify? file-type format= full-time group-directories-first no-group \
                       human-readable si hide= hyperlink? indicator-style= inode ignore= kibibytes \
                       literal numeric-uid-gid hide-control-chars show-control-chars quote-name \
                       quoting-style= reverse recursive size sort= time= time-style= tabsize= width= \
                       context zero",
                ..NONE
            },
        ),
        "head" => (
            Files,
            Synopsis {
                flags: "qvz",
                values: "nc",
                long: "bytes= lines= quiet silent verbose zero-terminated",
                number: true,
                ..NONE
            },
        ),
        "tail" => (
            Files,
            Synopsis {
                flags: "fFqvzr",
                values: "ncs",
                long: "bytes= lines= follow? quiet silent verbose retry pid= sleep-interval= \
                       zero-terminated max-unchanged-stats=",
                number: true,
                ..NONE
            },
        ),
        "wc" => (
            Files,
            Synopsis {
                flags: "clLmw",
                long: "bytes chars lines words max-line-length total=",
                ..NONE
            },
        ),
        "nl" => (
            Files,
            Synopsis {
                flags: "p",
                values: "bdfhilnsvw",
                long: "body-numbering= section-delimiter= footer-numbering= header-numbering= \
                       line-increment= join-blank-lines= number-format= no-renumber \
                       number-separator= starting-line-number= number-width=",
                ..NONE
            },
        ),
        "tac" => {
            (Files, Synopsis { flags: "br", values: "s", long: "before regex separator=", ..NONE })
        }
        "fold" | "fmt" => (
            Files,
            Synopsis {
                flags: "bsctu",
                values: "wgp",
                long: "bytes spaces width= goal= prefix= split-only crown-margin tagged-paragraph \
                       uniform-spacing",
                number: true,
                ..NONE
            },
        ),
        "cut" => (
            Files,
            Synopsis {
                flags: "nsz",
                values: "bcdf",
                long: "bytes= characters= delimiter= fields= only-delimited complement \
                       output-delimiter= zero-terminated",
                ..NONE
            },
        ),
        "paste" => (
            Files,
            Synopsis {
                flags: "sz",
                values: "d",
                long: "delimiters= serial zero-terminated",
                ..NONE
            },
        ),
        "column" => (
            Files,
            Synopsis {
                flags: "txnedJL",
                values: "csoNRTEHWO",
                long: "table separator= output-separator= table-columns= output-width= fillrows json \
                       table-right= table-hide= table-name= keep-empty-lines",
                ..NONE
            },
        ),
        "cmp" => (
            FilesOnly,
            Synopsis {
                flags: "bls",
                values: "in",
                long: "print-bytes ignore-initial= verbose bytes= quiet silent",
                ..NONE
            },
        ),
        // Not `-l`, which runs a program, nor `-r`, which follows links.
        "diff" => (
            FilesOnly,
            Synopsis {
                flags: "qscupeynwbBEiZtTadHN0123456789",
                values: "UCFIWL",
                long: "normal brief report-identical-files context? unified? side-by-side ed rcs \
                       width= left-column suppress-common-lines show-c-function show-function-line= \
                       label= expand-tabs initial-tab ignore-case ignore-tab-expansion \
                       ignore-trailing-space ignore-space-change ignore-all-space ignore-blank-lines \
                       ignore-matching-lines= text strip-trailing-cr minimal color? \
                       speed-large-files new-file",
                number: true,
                ..NONE
            },
        ),
        "base64" | "base32" => (
            Files,
            Synopsis { flags: "di", values: "w", long: "decode ignore-garbage wrap=", ..NONE },
        ),
        "strings" => (
            Files,
            Synopsis {
                flags: "afow",
                values: "nteTs",
                long: "all print-file-name bytes= radix= encoding= include-all-whitespace \
                       output-separator=",
                number: true,
                ..NONE
            },
        ),
        "od" => (
            Files,
            Synopsis {
                flags: "abcdfhilosvx",
                values: "AjNtS",
                attached: "w",
                long: "address-radix= skip-bytes= read-bytes= format= output-duplicates width? \
                       endian= strings?",
                ..NONE
            },
        ),
        "hexdump" => (
            Files,
            Synopsis { flags: "bcCdovx", values: "ens", long: "canonical length= skip=", ..NONE },
        ),
        "file" => (
            Files,
            Synopsis {
                flags: "bhikLNnrv0",
                values: "eF",
                long: "brief mime mime-type mime-encoding extension keep-going dereference \
                       no-dereference raw exclude= separator= no-pad print0",
                ..NONE
            },
        ),
        "stat" => (
            Files,
            Synopsis {
                flags: "fLtx",
                values: "c",
                long: "dereference file-system format= printf= terse",
                ..NONE
            },
        ),
        "du" => (
            Places,
            Synopsis {
                flags: "abchklmsSx0P",
                values: "dBt",
                long: "all apparent-size block-size= bytes total human-readable inodes max-depth= \
                       null si summarize separate-dirs threshold= time? time-style= exclude= \
                       one-file-system no-dereference count-links",
                ..NONE
            },
        ),
        "df" => (
            Files,
            Synopsis {
                flags: "ahHiklPTv",
                values: "Btx",
                long: "all block-size= human-readable si inodes local no-sync output? portability \
                       sync total type= print-type exclude-type=",
                ..NONE
            },
        ),
        "tree" => (
            Places,
            Synopsis {
                flags: "adfipsughDFqNQrtvcUnCAJxS",
                values: "LPI",
                long: "dirsfirst filesfirst noreport gitignore prune du si filelimit= charset= sort? \
                       matchdirs ignore-case metafirst inodes device timefmt=",
                ..NONE
            },
        ),
        // Not `--random-source`, `--files0-from`, `-T`, `-o` and `--compress-program`.
        "sort" => (
            Files,
            Synopsis {
                flags: "bcCdfghiMmnrRsuVz",
                values: "ktS",
                long: "ignore-leading-blanks check? dictionary-order ignore-case general-numeric-sort \
                       human-numeric-sort ignore-nonprinting month-sort merge numeric-sort \
                       random-sort reverse stable unique version-sort zero-terminated key= \
                       field-separator= buffer-size= parallel= sort= debug batch-size=",
                ..NONE
            },
        ),
        "uniq" => (
            Files,
            Synopsis {
                flags: "cdDiuz",
                values: "fsw",
                long: "count repeated all-repeated? skip-fields= ignore-case skip-chars= unique \
                       zero-terminated check-chars= group?",
                ..NONE
            },
        ),
        // Not `-R`, which follows links.
        "grep" | "egrep" | "fgrep" => (
            Pattern,
            Synopsis {
                flags: "EFGPivwxcLlqsbHhnTuZazoIrUy",
                values: "emABCdD",
                files: "f",
                long: "extended-regexp fixed-strings basic-regexp perl-regexp regexp= file< \
                       ignore-case no-ignore-case invert-match word-regexp line-regexp count color? \
                       colour? files-without-match files-with-matches max-count= only-matching quiet \
                       silent no-messages byte-offset with-filename no-filename label= line-number \
                       initial-tab null after-context= before-context= context= text binary-files= \
                       directories= devices= exclude= exclude-from< exclude-dir= include= recursive line-buffered \
                       null-data binary group-separator= no-group-separator",
                number: true,
                ..NONE
            },
        ),
        // Not `-L`, which follows links, `-z` and `--pre`, which run programs.
        "rg" => (
            Pattern,
            Synopsis {
                flags: "nNisSvwxclHIoFPUubapq0.",
                values: "egtTABCmjrMEd",
                files: "f",
                long: "files hidden no-hidden no-ignore no-ignore-vcs no-ignore-parent no-ignore-dot \
                       no-ignore-global glob= iglob= type= type-not= type-list type-add= json stats \
                       sort= sortr= count count-matches files-with-matches files-without-match \
                       line-number no-line-number ignore-case smart-case case-sensitive \
                       fixed-strings word-regexp line-regexp invert-match multiline \
                       multiline-dotall pcre2 heading no-heading color= colors= context= \
                       after-context= before-context= max-count= max-depth= max-columns= \
                       max-columns-preview max-filesize= only-matching replace= with-filename \
                       no-filename vimgrep column no-column no-messages unrestricted text trim \
                       pretty passthru null null-data crlf encoding= threads= no-config \
                       one-file-system path-separator= quiet regexp= file< engine= byte-offset \
                       line-buffered block-buffered include-zero sort-files glob-case-insensitive",
                ..NONE
            },
        ),
        // Not `-l`, `-x` and `-X`, which run programs, nor `-L`, which follows links.
        "fd" | "fdfind" => (
            Pattern,
            Synopsis {
                flags: "HIusiFapgq01",
                values: "etdESjoc",
                long: "hidden no-ignore no-ignore-vcs unrestricted case-sensitive ignore-case glob \
                       regex fixed-strings absolute-path full-path print0 max-depth= min-depth= \
                       exact-depth= exclude= prune type= extension= size= changed-within= \
                       changed-before= newer= older= owner= max-results= quiet show-errors \
                       one-file-system color= threads= strip-cwd-prefix path-separator=",
                ..NONE
            },
        ),
        _ => return None,
    };
    Some(Reader { synopsis, operands })
}

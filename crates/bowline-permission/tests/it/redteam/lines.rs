//! Command lines: parts around a payload.

use super::{
    ground::Ground,
    parts::{
        CDS, DENIED, FOLDERS, HARMLESS, INSIDE, OPTIONS, READERS, RUNNERS, SECRETS, TARGETS, THERE,
        TOUCH, WRAPPERS, WRITERS,
    },
    random::Random,
    spelling::{pattern, respell},
};

/// A line and what kind it is.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) class: &'static str,
    pub(super) text: String,
}

/// The line of one try.
pub(super) fn line(random: &mut Random, ground: &Ground) -> Line {
    let (class, text) = match random.below(24) {
        0..=2 => ("running", running(random)),
        3..=8 => ("reading", reading(random, SECRETS)),
        9..=10 => ("listing", reading(random, FOLDERS)),
        11..=13 => ("denied", reading(random, DENIED)),
        14..=16 => ("inside", reading(random, INSIDE)),
        17..=18 => ("going", going(random)),
        19..=20 => ("writing", writing(random)),
        21 => ("variables", variables(random)),
        22 => ("forbidden", forbidden(random)),
        _ => ("harmless", random.of(HARMLESS).to_owned()),
    };
    let text = surrounded(random, text);
    Line { class, text: ground.text(&text) }
}

fn running(random: &mut Random) -> String {
    // The harmless ones keep the class honest: some of it has to run.
    if random.once_in(4) {
        return random.of(HARMLESS).to_owned();
    }
    let line = random.of(RUNNERS).replace("RUN", TOUCH);
    if random.once_in(4) { format!("{} {line}", random.of(WRAPPERS)) } else { line }
}

fn reading(random: &mut Random, files: &[&str]) -> String {
    let mut before = String::new();
    let mut words = vec![random.of(READERS).to_owned()];
    for _ in 0..random.below(3) {
        words.push(option(random));
    }
    let count = if random.once_in(4) { 2 } else { 1 };
    for number in 0..count {
        let file = if number == 0 { random.of(files) } else { random.of(INSIDE) };
        // Quotes around a pattern, or a tilde, make it another word.
        let spelled = match file.contains(['*', '~', '[', '{']) {
            true if random.once_in(2) => format!("'{file}'"),
            true => file.to_owned(),
            false => {
                let spelled = respell(random, file);
                before.push_str(&spelled.before);
                spelled.word
            }
        };
        match random.below(10) {
            0 => words.push(format!("< {spelled}")),
            1 => words.insert(1, spelled),
            2 => words.push(format!("-- {spelled}")),
            _ => words.push(spelled),
        }
    }
    if words[0].starts_with("[[") {
        words.push("]]".to_owned());
    } else if words[0].starts_with('[') {
        words.push("]".to_owned());
    }
    let command = words.join(" ");
    let command = match random.below(8) {
        0 => format!("{} {command}", random.of(WRAPPERS)),
        1 => format!("printf 'list\\0' | {command}"),
        2 => format!("{command} 2>/dev/null"),
        _ => command,
    };
    before + &command
}

/// An option, now and then as a pattern that a file may fit.
fn option(random: &mut Random) -> String {
    let option = random.of(OPTIONS);
    if random.once_in(8) && !option.contains([' ', '=', '/', '[']) {
        return pattern(random, option);
    }
    option.to_owned()
}

fn going(random: &mut Random) -> String {
    let (go, there) = (random.of(CDS), random.of(THERE));
    match random.below(7) {
        0 => format!("({go}; {there})"),
        1 => format!("{{ {go}; {there}; }}"),
        2 => format!("if {go}; then {there}; fi"),
        3 => format!("{go} && {} && {there}", random.of(CDS)),
        4 => format!("for i in 1 2; do {go}; {there}; done"),
        5 => format!("{go}; {there}"),
        _ => format!("{go} && {there}"),
    }
}

fn writing(random: &mut Random) -> String {
    let line = random.of(WRITERS);
    let target = random.of(TARGETS);
    // No spelling but one of its own for what removes: it must never name anything else.
    if line.starts_with("rm") {
        let inside = ["a.txt", "src/new", "new", "link", ".mcp.jso[n]", ".claud[e]/settings.json"];
        return line.replace('W', random.of(&inside));
    }
    let spelled = respell(random, target);
    // A path inside quotes keeps none of its own.
    let word = if line.contains("'W") { target.to_owned() } else { spelled.word };
    spelled.before + &line.replace('W', &word)
}

fn variables(random: &mut Random) -> String {
    const NAMES: &[&str] = &["AWS_SECRET_ACCESS_KEY", "HOME", "x", "PWD", "PATH"];
    const USES: &[&str] = &[
        "echo $NAME",
        "echo \"${NAME}\"",
        "echo ${NAME%x}",
        "echo ${NAME^^}",
        "echo ${x:-$NAME}",
        "cat <<X\n$NAME\nX",
        "cat <<< $NAME",
        "x=$NAME; echo $x",
        "printf %s $NAME",
        "ls $NAME",
        "for x in $NAME; do echo $x; done",
        "[[ $NAME == a* ]] && echo yes",
        "x=NAME; echo ${!x}",
        "echo ${NAME:0:30}",
        "echo ${NAME@Q}",
        "jq -n env.NAME",
        "jq -n '$ENV.NAME'",
        "jq -n '\"\\(env)\"'",
        "touch new; echo $NAME",
        "echo a > new; echo $NAME",
        "cat a.txt; echo $NAME",
        "env",
        "printenv NAME",
        "declare -p NAME",
        "grep $NAME a.txt",
        "x='BEGIN @OUT@/secret'; grep $x",
        "x='-rh BEGIN @OUT@'; grep $x",
        "echo() { grep \"$@\"; }; echo -rh BEGIN @OUT@",
    ];
    random.of(USES).replace("NAME", random.of(NAMES))
}

/// A denied command in disguise. Its file is the ground's own, and named in full.
fn forbidden(random: &mut Random) -> String {
    const RM: &str = "rm -f @OUT@/doomed";
    match random.below(9) {
        0 => format!("{} {RM}", random.of(WRAPPERS)),
        1 => format!("{} {} {RM}", random.of(WRAPPERS), random.of(WRAPPERS)),
        2 => format!(
            "{} 'RM'",
            random.of(&[
                "bash -c",
                "bash -lc",
                "bash -O extglob -c",
                "bash -eo pipefail -c",
                "env bash -c",
                "timeout 5 bash -c"
            ])
        )
        .replace("RM", RM),
        3 => format!(
            "echo '{RM}' | {}",
            random.of(&["bash", "bash -s", "bash -", "env bash", "timeout 5 bash", "xargs env"])
        ),
        4 => format!(
            "bash {} '{RM}'",
            random.of(&[
                "<<<",
                "--norc -c",
                "--rcfile /dev/null -c",
                "+O extglob -c",
                "-co errexit"
            ])
        ),
        5 => format!("find a.txt -exec {RM} \\;"),
        6 => format!(
            "echo @OUT@/doomed | xargs {} rm -f",
            random.of(&[
                "",
                "-n 1",
                "--max-proc 2",
                "-I{} ",
                "--process-slot-var X",
                "env",
                "timeout 5"
            ])
        ),
        7 => format!("cat <<X | bash\n{RM}\nX"),
        _ => random
            .of(&["bash -c 'ls'", "timeout 5 ls", "env A=b ls", "echo a | xargs ls -d ."])
            .to_owned(),
    }
}

/// The line among others, or inside something.
fn surrounded(random: &mut Random, line: String) -> String {
    match random.below(14) {
        0 => format!("ls; {line}"),
        1 => format!("{line}; ls"),
        2 => format!("true && {line}"),
        3 => format!("({line}\n)"),
        4 => format!("{{ {line}\n}}"),
        5 => format!("{line} | cat"),
        6 => format!("for i in 1; do {line}\ndone"),
        7 => format!("if true; then {line}\nfi"),
        8 => format!("cat a.txt; {line}"),
        _ => line,
    }
}

//! Every option of the official SDKs, its name here, and what it becomes.
//!
//! The table of `docs/sdk-options.md` is made from these rows: `UPDATE_DOCS=1 cargo test -p
//! bowline-host table` writes it.

mod rows;

use serde_json::{Value, json};

use super::{
    Options,
    arguments::{arguments, variables},
    opening::opening,
};
use rows::rows;

/// What an option becomes.
#[derive(Clone, Copy)]
enum Becomes {
    /// These words of the command line.
    Flag(&'static str),
    /// This field of `initialize`, with this value.
    Field(&'static str, &'static str),
    /// This variable, with this value.
    Variable(&'static str, &'static str),
    /// The same, as an example of what may be any flag or variable.
    AnyFlag(&'static str),
    AnyVariable(&'static str, &'static str),
    /// Nothing: it is for this side of the connection.
    Here,
}

use Becomes::{AnyFlag, AnyVariable, Field, Flag, Here, Variable};

/// The version of the official CLI that knows what an option becomes.
#[derive(Clone, Copy)]
enum Since {
    /// 2.1.7, the oldest we have looked at.
    Old,
    /// Not 2.1.7, but 2.1.325.
    New,
    /// This one, according to the official SDKs.
    From(&'static str),
    /// It does not depend on the CLI.
    Any,
}

/// An option.
struct Row {
    /// Here.
    ours: &'static str,
    /// In the Python SDK; empty if it has none.
    python: &'static str,
    /// In the TypeScript SDK; empty if it has none.
    typescript: &'static str,
    since: Since,
    set: fn(&mut Options),
    becomes: &'static [Becomes],
}

fn row(
    ours: &'static str,
    python: &'static str,
    typescript: &'static str,
    since: Since,
    set: fn(&mut Options),
    becomes: &'static [Becomes],
) -> Row {
    Row { ours, python, typescript, since, set, becomes }
}

#[test]
fn every_option_becomes_what_the_table_says() {
    for Row { ours, set, becomes, .. } in rows() {
        let mut options = Options::default();
        set(&mut options);
        let words = arguments(&options).expect("the options go together");
        let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        let line = format!("{} ", words.join(" "));
        let (opening, _) = opening(&options);
        let opening = json!(opening);
        let variables = variables(&options);
        for becomes in becomes {
            match becomes {
                Flag(flag) | AnyFlag(flag) => {
                    assert!(line.contains(&format!("{flag} ")), "{ours}: {line}")
                }
                Field(name, value) => {
                    let value: Value = serde_json::from_str(value).expect("it is JSON");
                    assert_eq!(opening[name], value, "{ours}");
                }
                Variable(name, value) | AnyVariable(name, value) => {
                    let found = variables.get(*name).and_then(Option::as_deref);
                    assert_eq!(found, Some(*value), "{ours}");
                }
                Here => assert_eq!(becomes_nothing(), line, "{ours}"),
            }
        }
    }
}

/// Options that do not reach an agent elsewhere are reported: every flag, every variable, and nothing else.
#[test]
fn options_of_a_started_agent_without_effect_are_named() {
    let none: Vec<_> = Options::default().start_only().collect();
    assert!(none.is_empty(), "{none:?}");
    for Row { ours, set, becomes, .. } in rows() {
        let mut options = Options::default();
        set(&mut options);
        let named: Vec<_> = options.start_only().collect();
        let is_start_only = becomes.iter().any(|it| !matches!(it, Field(..) | Here));
        let expected: Vec<_> = ours.split(", ").take(1).filter(|_| is_start_only).collect();
        assert_eq!(named, expected, "{ours}");
    }
}

/// The command line of default options.
fn becomes_nothing() -> String {
    let words = arguments(&Options::default()).expect("they go together");
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    format!("{} ", words.join(" "))
}

#[test]
#[expect(clippy::disallowed_methods, reason = "rewrites the document on request")]
fn the_table_for_users_is_this_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/sdk-options.md");
    let text = std::fs::read_to_string(path).expect("the table is there");
    let (before, rest) = text.split_once("<!-- table -->\n").expect("the table begins");
    let (table, after) = rest.split_once("<!-- end -->\n").expect("the table ends");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let text = format!("{before}<!-- table -->\n{}<!-- end -->\n{after}", written());
        std::fs::write(path, text).expect("the table can be written");
        return;
    }
    assert_eq!(table, written(), "UPDATE_DOCS=1 rewrites it");
}

fn written() -> String {
    let mut table =
        "| here | Python | TypeScript | becomes | CLI |\n|---|---|---|---|---|\n".to_owned();
    let code = |name: &str| match name {
        "" => "–".to_owned(),
        inside if inside.starts_with('(') => inside.to_owned(),
        names => {
            let names: Vec<_> = names.split(", ").map(|name| format!("`{name}`")).collect();
            names.join(", ")
        }
    };
    for Row { ours, python, typescript, since, becomes, .. } in rows() {
        let becomes: Vec<_> = becomes
            .iter()
            .map(|becomes| match becomes {
                Flag(flag) => {
                    let name = flag.split([' ', '=']).next().unwrap_or(flag);
                    format!("`{name}`")
                }
                Field(name, _) => format!("`{name}` of `initialize`"),
                Variable(name, _) => format!("`{name}`"),
                AnyFlag(_) => "(any flag)".to_owned(),
                AnyVariable(..) => "(any variable)".to_owned(),
                Here => "(this side)".to_owned(),
            })
            .collect();
        let since = match since {
            Since::Old => "2.1.7",
            Since::New => "later",
            Since::From(version) => version,
            Since::Any => "any",
        };
        let (ours, python, typescript) = (code(ours), code(python), code(typescript));
        let becomes = becomes.join(", ");
        table.push_str(&format!("| {ours} | {python} | {typescript} | {becomes} | {since} |\n"));
    }
    table
}

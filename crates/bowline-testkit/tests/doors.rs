//! The table of doors in ARCHITECTURE.md, checked: how large each is, and what of `Host` it overrides.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// The doors as the table names them, and where they are.
const DOORS: &[(&str, &[&str])] = &[
    ("`doorway`, with stdio", &["bowline-doorway/src"]),
    ("`doorway` + `door-ws`, which adds", &["bowline-door-ws/src"]),
    ("`door-rpc`", &["bowline-door-rpc/src"]),
    ("`door-mcp`", &["bowline-door-mcp/src"]),
    ("embedded (in `bowline-host`)", &["bowline-host/src/embedded"]),
    ("one-shot (in `bowline`)", &["bowline/src/oneshot"]),
];

/// What the engine asks of a host.
const ASKS: [&str; 6] =
    ["emit", "can_use_tool", "hook_callback", "mcp_message", "in_process_server", "elicit"];

#[test]
fn the_table_of_doors_is_true() {
    let table = table();
    for (door, folders) in DOORS {
        let row = table.iter().find(|row| row[0] == *door).unwrap_or_else(|| panic!("no {door}"));
        let folders: Vec<_> = folders.iter().map(|folder| crates().join(folder)).collect();
        let lines: usize = folders.iter().map(|folder| lines_of_code(folder)).sum();
        let said: usize = row[1].parse().expect("a number of lines");
        let differ = lines.abs_diff(said);
        assert!(differ * 10 <= lines, "{door} has {lines} lines, the table says {said}");
        let overrides: BTreeSet<_> = folders.iter().flat_map(|folder| overridden(folder)).collect();
        let said = match &*row[2] {
            "all six" => BTreeSet::from(ASKS),
            named => ASKS.into_iter().filter(|ask| named.contains(&format!("`{ask}`"))).collect(),
        };
        assert_eq!(overrides, said, "what {door} overrides");
    }
    assert_eq!(table.len(), DOORS.len(), "a door is missing here");
}

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("it lies among the others").to_owned()
}

/// The rows of the table, without the head.
fn table() -> Vec<Vec<String>> {
    let text = fs::read_to_string(crates().join("../ARCHITECTURE.md")).expect("the map is there");
    let (_, behind) = text.split_once("| door | lines |").expect("the table of doors");
    let rows = behind.lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| row.split('|').skip(1).map(|cell| cell.trim().to_owned()).collect()).collect()
}

/// Lines that are code: not empty, no comment, no test.
fn lines_of_code(folder: &Path) -> usize {
    let is_code = |line: &&str| !line.is_empty() && !line.starts_with("//");
    sources(folder).iter().map(|text| text.lines().map(str::trim).filter(is_code).count()).sum()
}

/// What the implementations of `Host` in a folder override.
fn overridden(folder: &Path) -> Vec<&'static str> {
    let sources = sources(folder);
    let hosts = sources.iter().flat_map(|text| text.split("impl Host for ").skip(1));
    let hosts = hosts.map(|behind| behind.split("\n}").next().unwrap_or_default());
    let overrides = |host: &str, ask: &str| {
        let behind = host.split(&format!("fn {ask}")).nth(1);
        behind.is_some_and(|behind| behind.starts_with(['(', '<']))
    };
    hosts.flat_map(|host| ASKS.into_iter().filter(move |ask| overrides(host, ask))).collect()
}

/// The sources of a folder, each up to its tests.
fn sources(folder: &Path) -> Vec<String> {
    let mut sources = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be listed").path();
        if path.is_dir() {
            sources.extend(self::sources(&path));
        } else if path.extension().is_some_and(|it| it == "rs") && !path.ends_with("tests.rs") {
            let text = fs::read_to_string(&path).expect("it can be read");
            sources.push(text.split("#[cfg(test)]").next().unwrap_or_default().to_owned());
        }
    }
    sources
}

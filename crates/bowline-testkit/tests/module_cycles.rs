//! Module cycles of every crate, computed from the sources.
//!
//! A cycle between top-level modules means that none of them can be read, tested or moved alone. Paths
//! through names that the crate root re-exports count as well: `crate::Options` is an import from the
//! module that defines `Options`.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Cycles that may stay, each with its reason.
const ACCEPTED: &[(&str, &[&str], &str)] = &[];

#[test]
fn no_crate_has_a_module_cycle() {
    let mut problems = Vec::new();
    for folder in crate_folders() {
        let name = folder.file_name().expect("a crate has a name").to_string_lossy().into_owned();
        let modules = Modules::read(&folder.join("src"));
        for cycle in modules.cycles() {
            let accepted = ACCEPTED.iter().any(|(of, allowed, _)| {
                *of == name && cycle.iter().all(|module| allowed.contains(&&**module))
            });
            if !accepted {
                problems.push(format!("{name}: {}", modules.explain(&cycle)));
            }
        }
    }
    assert!(problems.is_empty(), "module cycles:\n{}", problems.join("\n"));
}

#[test]
fn imports_are_found_in_every_spelling() {
    let imports = |text: &str| {
        let found = paths(&strip(text), &["session".into(), "actor".into()]);
        found.into_iter().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(imports("use crate::turn::Run;"), "turn");
    assert_eq!(imports("use crate::{a::{b, c}, d, e::*};"), "a d e");
    assert_eq!(imports("use super::super::{x::Y, z};"), "x z");
    assert_eq!(imports("use super::queue::Queue;"), "session");
    assert_eq!(imports("fn f() { crate::clock::now() }"), "clock");
    assert_eq!(imports("// crate::comment\nlet s = \"crate::text\";"), "");
    assert_eq!(imports("#[cfg(test)]\nmod tests { use crate::only_in_tests; }"), "");
    assert_eq!(imports("pub(in crate::agent) fn f() {}"), "agent");
}

#[test]
fn a_cycle_is_reported_with_the_files_that_close_it() {
    let edge = |from: &str, to: &str| {
        ((from.to_owned(), to.to_owned()), BTreeSet::from([format!("{from}.rs")]))
    };
    let modules =
        Modules { edges: BTreeMap::from([edge("a", "b"), edge("b", "a"), edge("b", "c")]) };
    assert_eq!(modules.cycles(), [["a", "b"]]);
    assert_eq!(modules.explain(&modules.cycles()[0]), "a -> b (a.rs), b -> a (b.rs)");
}

/// The top-level modules of a crate: which imports which, and in which files.
struct Modules {
    edges: BTreeMap<(String, String), BTreeSet<String>>,
}

impl Modules {
    fn read(root: &Path) -> Self {
        let files = source_files(root);
        let re_exports = ReExports::read(root, &files);
        let mut edges: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for file in &files {
            let Some(from) = file.module.first() else { continue };
            for name in paths(&file.text, &file.module) {
                let Some(to) = re_exports.module_of(&name).filter(|to| *to != *from) else {
                    continue;
                };
                edges.entry((from.clone(), to)).or_default().insert(file.name.clone());
            }
        }
        Self { edges }
    }

    /// Strongly connected components of more than one module.
    fn cycles(&self) -> Vec<Vec<String>> {
        let nodes: BTreeSet<_> = self.edges.keys().flat_map(|(from, to)| [from, to]).collect();
        let reach: BTreeMap<_, _> =
            nodes.iter().map(|node| (*node, self.reachable(node))).collect();
        let mut cycles = BTreeSet::new();
        for node in &nodes {
            let back = |other: &&&String| reach[**other].contains(*node);
            let cycle: Vec<_> =
                reach[*node].iter().filter(|other| back(other)).map(|m| (*m).clone()).collect();
            if cycle.len() > 1 {
                cycles.insert(cycle);
            }
        }
        cycles.into_iter().collect()
    }

    fn reachable<'a>(&'a self, from: &'a String) -> BTreeSet<&'a String> {
        let mut seen = BTreeSet::new();
        let mut open = vec![from];
        while let Some(node) = open.pop() {
            let next = self.edges.keys().filter(|(source, _)| source == node).map(|(_, to)| to);
            open.extend(next.filter(|to| seen.insert(*to)));
        }
        seen
    }

    fn explain(&self, cycle: &[String]) -> String {
        let inside = |(from, to): &(String, String)| cycle.contains(from) && cycle.contains(to);
        let edges =
            self.edges.iter().filter(|(edge, _)| inside(edge)).map(|((from, to), files)| {
                let files: Vec<_> = files.iter().take(4).map(String::as_str).collect();
                format!("{from} -> {to} ({})", files.join(", "))
            });
        edges.collect::<Vec<_>>().join(", ")
    }
}

/// Names at the crate root, and the modules that define them.
struct ReExports {
    modules: BTreeSet<String>,
    names: BTreeMap<String, String>,
}

impl ReExports {
    fn read(root: &Path, files: &[SourceFile]) -> Self {
        let modules = files.iter().filter_map(|file| file.module.first().cloned()).collect();
        let root_file = ["lib.rs", "main.rs"].map(|name| root.join(name));
        let text = root_file.iter().find_map(|path| fs::read_to_string(path).ok());
        let text = strip(&text.unwrap_or_default());
        let mut this = Self { modules, names: BTreeMap::new() };
        for tree in text.split("use ").skip(1) {
            let tree = tree.split(';').next().unwrap_or_default();
            for path in expand(tree) {
                let Some((module, item)) = path.split_first() else { continue };
                let Some(item) = item.last().filter(|_| this.modules.contains(module)) else {
                    continue;
                };
                if item == "*" {
                    let defined = files.iter().filter(|file| file.module.first() == Some(module));
                    let items: Vec<_> = defined.flat_map(|file| public_items(&file.text)).collect();
                    this.names.extend(items.into_iter().map(|item| (item, module.clone())));
                } else {
                    this.names.insert(item.clone(), module.clone());
                }
            }
        }
        this
    }

    fn module_of(&self, name: &str) -> Option<String> {
        let module = self.modules.get(name).or_else(|| self.names.get(name));
        module.cloned()
    }
}

/// Names of `pub` items in a text.
fn public_items(text: &str) -> Vec<String> {
    const KINDS: [&str; 7] = ["struct", "enum", "trait", "fn", "type", "const", "static"];
    let words: Vec<_> = text.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()).collect();
    let items = words.windows(3).filter(|w| w[0] == "pub" && KINDS.contains(&w[1]));
    items.map(|w| w[2].to_owned()).collect()
}

struct SourceFile {
    /// Relative to `src`.
    name: String,
    module: Vec<String>,
    text: String,
}

/// The product sources below a folder: without tests, comments and strings.
fn source_files(root: &Path) -> Vec<SourceFile> {
    let mut files = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a source folder").filter_map(Result::ok) {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                let name = path.strip_prefix(root).expect("it is below").display().to_string();
                let module: Vec<_> =
                    name.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
                if module.iter().any(|part| part == "tests" || part == "bin") {
                    continue;
                }
                let is_index = |part: &&String| ["lib", "main", "mod"].contains(&part.as_str());
                let module = module.iter().filter(|part| !is_index(part)).cloned().collect();
                let text = strip(&fs::read_to_string(&path).expect("a source file"));
                files.push(SourceFile { name, module, text });
            }
        }
    }
    let test_only: BTreeSet<_> = files.iter().flat_map(test_modules).collect();
    files.retain(|file| !test_only.iter().any(|module| file.module.starts_with(module)));
    files.sort_by(|a, b| a.name.cmp(&b.name));
    files
}

/// Modules in files of their own that only tests have.
fn test_modules(file: &SourceFile) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for (_, after) in
        file.text.match_indices("#[cfg(test)]").map(|(at, m)| (at, &file.text[at + m.len()..]))
    {
        let Some(name) = after.trim_start().strip_prefix("mod ") else { continue };
        let Some((name, _)) = name.split_once(';') else { continue };
        if name.chars().all(is_word) {
            found.push(file.module.iter().cloned().chain([name.to_owned()]).collect());
        }
    }
    found
}

fn crate_folders() -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder of crates");
    let folders = fs::read_dir(crates).expect("a folder of crates").filter_map(Result::ok);
    let mut folders: Vec<_> =
        folders.map(|entry| entry.path()).filter(|path| path.join("src").is_dir()).collect();
    folders.sort();
    folders
}

/// The first segments, below the crate root, of all paths into the crate.
fn paths(text: &str, module: &[String]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let starts = text.match_indices("crate::").map(|(at, m)| (at, m.len(), 0));
    let supers = text.match_indices("super::").map(|(at, m)| (at, m.len(), 1));
    for (at, length, up) in starts.chain(supers) {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|c| is_word(c) || c == ':') {
            continue;
        }
        let mut rest = &text[at + length..];
        let mut up = up;
        while let Some(further) = rest.strip_prefix("super::") {
            (rest, up) = (further, up + 1);
        }
        let base = if up == 0 { &[][..] } else { &module[..module.len().saturating_sub(up)] };
        match base.first() {
            Some(top) => {
                found.insert(top.clone());
            }
            None => found
                .extend(expand(tree(rest)).into_iter().filter_map(|path| path.into_iter().next())),
        }
    }
    found
}

/// What of a text is one use tree or path.
fn tree(text: &str) -> &str {
    if !text.starts_with('{') {
        return text.split(|c: char| !is_word(c)).next().unwrap_or_default();
    }
    &text[..=matching(text, '{', '}')]
}

/// All paths of a use tree.
fn expand(tree: &str) -> Vec<Vec<String>> {
    let tree = tree.trim().trim_start_matches("crate::").trim_start_matches("self::");
    let Some(open) = tree.find('{') else {
        let path = tree.split(" as ").next().unwrap_or_default();
        return vec![path.split("::").map(|part| part.trim().to_owned()).collect()];
    };
    let prefix = tree[..open].split("::").map(str::trim).filter(|part| !part.is_empty());
    let prefix: Vec<_> = prefix.map(str::to_owned).collect();
    let inside = &tree[open + 1..open + matching(&tree[open..], '{', '}')];
    let mut paths = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, c) in inside.char_indices().chain([(inside.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let part = &inside[start..at];
                start = (at + 1).min(inside.len());
                if !part.trim().is_empty() {
                    let joined = |path: Vec<String>| prefix.iter().cloned().chain(path).collect();
                    paths.extend(expand(part).into_iter().map(joined));
                }
            }
            _ => {}
        }
    }
    paths
}

/// Where the bracket that a text begins with is closed.
fn matching(text: &str, open: char, close: char) -> usize {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        depth += i32::from(c == open) - i32::from(c == close);
        if depth == 0 {
            return at;
        }
    }
    text.len() - 1
}

/// A source without comments, strings and inline test modules.
fn strip(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |at| at + 2)
        } else if let Some(hashes) = raw_string(rest) {
            let end = format!("\"{}", "#".repeat(hashes));
            let body = hashes + 2;
            rest[body..].find(&end).map_or(rest.len(), |at| body + at + end.len())
        } else if c == '"' {
            string_length(rest)
        } else if rest.starts_with("'\"'") {
            3
        } else if rest.starts_with("'\\\"'") {
            4
        } else {
            0
        };
        if skipped > 0 {
            rest = &rest[skipped..];
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    without_inline_tests(&out)
}

fn raw_string(text: &str) -> Option<usize> {
    let after = text.strip_prefix('r')?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    after[hashes..].starts_with('"').then_some(hashes)
}

fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn without_inline_tests(text: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(MARK) {
        let after = &rest[at + MARK.len()..];
        let item = after.find(['{', ';']).unwrap_or(after.len());
        let end = if after[item..].starts_with('{') {
            out.push_str(&rest[..at]);
            item + matching(&after[item..], '{', '}') + 1
        } else {
            out.push_str(&rest[..at + MARK.len() + item]);
            item
        };
        rest = &after[end.min(after.len())..];
    }
    out.push_str(rest);
    out
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

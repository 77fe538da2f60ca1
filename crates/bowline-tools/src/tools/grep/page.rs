//! Paged search results, as text and as an object.

use serde_json::{Map, Value, json};

use super::{Input, Mode, count};
use crate::{
    output::ToolOutput,
    search::{FileHits, HitLine, Show},
    workspace::Workspace,
};

/// Lines or entries per page, if the call does not say.
const DEFAULT_LIMIT: usize = 250;

/// Text for a page after the last.
const PAST_THE_END: &str = "No entries at this offset";

/// The page of the results that the call requests.
pub(super) fn page(
    input: &Input,
    found: Vec<FileHits>,
    named_file: bool,
    workspace: &Workspace,
) -> ToolOutput {
    let limit = match count(input.head_limit) {
        None => DEFAULT_LIMIT,
        Some(0) => usize::MAX,
        Some(limit) => limit,
    };
    let window = Window { offset: count(input.offset).unwrap_or(0), limit };
    match input.mode() {
        Mode::FilesWithMatches => files(found, window, workspace),
        Mode::Count => counts(&found, window, workspace),
        Mode::Content => content(input, &found, named_file, window, workspace),
    }
}

#[derive(Clone, Copy)]
struct Window {
    offset: usize,
    limit: usize,
}

impl Window {
    fn of<T>(self, all: Vec<T>) -> Vec<T> {
        all.into_iter().skip(self.offset).take(self.limit).collect()
    }

    /// `limit: 3, offset: 2`, as far as it makes a difference among `total`.
    fn words(self, total: usize) -> String {
        let mut words = Vec::new();
        if self.limits(total) {
            words.push(format!("limit: {}", self.limit));
        }
        if self.offset > 0 {
            words.push(format!("offset: {}", self.offset));
        }
        words.join(", ")
    }

    /// Which part of the results is shown.
    fn shown(self, total: usize) -> String {
        format!("[Showing results with pagination = {}]", self.words(total))
    }

    fn limits(self, total: usize) -> bool {
        total.saturating_sub(self.offset) > self.limit
    }

    fn note(self, total: usize, object: &mut Map<String, Value>) {
        if self.limits(total) {
            object.insert("appliedLimit".to_owned(), self.limit.into());
        }
        if self.offset > 0 {
            object.insert("appliedOffset".to_owned(), self.offset.into());
        }
    }
}

fn files(mut found: Vec<FileHits>, window: Window, workspace: &Workspace) -> ToolOutput {
    found.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
    let total = found.len();
    let shown: Vec<String> =
        window.of(found).iter().map(|hits| workspace.display(&hits.path)).collect();
    let text = match (total, shown.len()) {
        (0, _) => "No files found".to_owned(),
        (_, 0) => format!("{PAST_THE_END}. {}", window.shown(total)),
        (_, number) => {
            let noun = if number == 1 { "file" } else { "files" };
            let words = window.words(total);
            let gap = if words.is_empty() { "" } else { " " };
            format!("Found {number} {noun}{gap}{words}\n{}", shown.join("\n"))
        }
    };
    let mut object = Map::new();
    object.insert("mode".to_owned(), json!(Mode::FilesWithMatches));
    object.insert("filenames".to_owned(), json!(shown));
    object.insert("numFiles".to_owned(), shown.len().into());
    window.note(total, &mut object);
    object.insert("totalFiles".to_owned(), total.into());
    ToolOutput::text(text).structured(Value::Object(object))
}

fn counts(found: &[FileHits], window: Window, workspace: &Workspace) -> ToolOutput {
    let total = found.len();
    let matches: u64 = found.iter().map(|hits| hits.matches).sum();
    let lines: Vec<String> = found
        .iter()
        .map(|hits| format!("{}:{}", workspace.display(&hits.path), hits.matches))
        .collect();
    let content = window.of(lines).join("\n");
    let body = match (total, content.is_empty()) {
        (0, _) => "No matches found".to_owned(),
        (_, true) => PAST_THE_END.to_owned(),
        (_, false) => content.clone(),
    };
    let words = match window.words(total) {
        words if words.is_empty() => words,
        words => format!(" with pagination = {words}"),
    };
    let occurrences = if matches == 1 { "occurrence" } else { "occurrences" };
    let noun = if total == 1 { "file" } else { "files" };
    let text =
        format!("{body}\n\nFound {matches} total {occurrences} across {total} {noun}.{words}");
    let mut object = Map::new();
    object.insert("mode".to_owned(), json!(Mode::Count));
    object.insert("numFiles".to_owned(), total.into());
    object.insert("filenames".to_owned(), json!([]));
    object.insert("content".to_owned(), content.into());
    object.insert("numMatches".to_owned(), matches.into());
    window.note(total, &mut object);
    ToolOutput::text(text).structured(Value::Object(object))
}

fn content(
    input: &Input,
    found: &[FileHits],
    named_file: bool,
    window: Window,
    workspace: &Workspace,
) -> ToolOutput {
    let grouped = matches!(
        input.show(),
        Show::Lines { contexts, .. } if contexts.before + contexts.after > 0
    );
    let mut lines = Vec::new();
    for hits in found {
        if grouped && !lines.is_empty() {
            lines.push("--".to_owned());
        }
        let path = (!named_file).then(|| workspace.display(&hits.path));
        lines.extend(hits.lines.iter().map(|line| written(line, path.as_deref())));
    }
    let total = lines.len();
    let shown = window.of(lines);
    let number = shown.len();
    let content = shown.join("\n");
    let mut text = match (total, number) {
        (0, _) => "No matches found".to_owned(),
        (_, 0) => PAST_THE_END.to_owned(),
        _ => content.clone(),
    };
    if total > 0 && !window.words(total).is_empty() {
        text.push_str(&format!("\n\n{}", window.shown(total)));
    }
    let mut object = Map::new();
    object.insert("mode".to_owned(), json!(Mode::Content));
    object.insert("numFiles".to_owned(), 0.into());
    object.insert("filenames".to_owned(), json!([]));
    object.insert("content".to_owned(), content.into());
    object.insert("numLines".to_owned(), number.into());
    window.note(total, &mut object);
    object.insert("totalLines".to_owned(), total.into());
    ToolOutput::text(text).structured(Value::Object(object))
}

/// `path:line:text` for a match, `path-line-text` for what is around it.
fn written(line: &HitLine, path: Option<&str>) -> String {
    let (mark, number, text) = match line {
        HitLine::Break => return "--".to_owned(),
        HitLine::Binary { offset } => {
            let path = path.map(|path| format!("{path}: ")).unwrap_or_default();
            return format!(
                "{path}binary file matches (found \"\\0\" byte around offset {offset})"
            );
        }
        HitLine::Match { number, text } => (':', number, text),
        HitLine::Context { number, text } => ('-', number, text),
    };
    let mut written = String::new();
    if let Some(path) = path {
        written.push_str(path);
        written.push(mark);
    }
    if let Some(number) = number {
        written.push_str(&number.to_string());
        written.push(mark);
    }
    written.push_str(text);
    written
}

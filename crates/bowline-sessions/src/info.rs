//! Listing entry of a session, from the two ends of its transcript.
//!
//! Listings must be quick with thousands of sessions, so only the first and the
//! last 64 KiB are read and fields are found by searching for their text. They
//! may therefore come from a line that is cut off.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    ops::Range,
    path::Path,
};

use bowline_protocol::{Content, ContentBlock, SessionId};
use memchr::memmem;
use serde::Deserialize;

use crate::clock;

/// Bytes read of each end.
pub(crate) const END: u64 = 64 * 1024;

/// Fields with titles, in order of precedence.
pub(crate) const TITLE_KEYS: [&str; 2] = ["customTitle", "aiTitle"];

/// A first prompt is shown up to here.
const LONGEST_PROMPT: usize = 200;

/// Listing entry of a session. Times are milliseconds since the epoch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionInfo {
    /// The session.
    pub session_id: SessionId,
    /// In one line: its title, else its last prompt, else a generated summary, else its first prompt.
    pub summary: String,
    /// When it was written to last.
    pub last_modified: i64,
    /// The bytes of its transcript; `None` if it is not a file.
    pub file_size: Option<u64>,
    /// Its title: given by the user, else generated.
    pub custom_title: Option<String>,
    /// The first prompt.
    pub first_prompt: Option<String>,
    /// The branch it worked on last.
    pub git_branch: Option<String>,
    /// The directory it began in.
    pub cwd: Option<String>,
    /// Its label.
    pub tag: Option<String>,
    /// When it began.
    pub created_at: Option<i64>,
    /// Through which door it was started.
    pub entrypoint: Option<String>,
    /// Whether it is put aside; `None` if it never was.
    pub archived: Option<bool>,
}

impl SessionInfo {
    /// Whether a program started it, not a person.
    pub fn is_programmatic(&self) -> bool {
        self.entrypoint
            .as_deref()
            .is_some_and(|door| door.starts_with("sdk-") || door.contains("daemon"))
    }

    /// Reads it from the two ends of a transcript. `None` for a subagent's transcript, and for one in
    /// which there is no prompt.
    pub(crate) fn from_ends(id: &str, ends: &Ends, project: Option<&str>) -> Option<Self> {
        let Ends { head, .. } = ends;
        let tail = ends.tail();
        let first_line = head.lines().next().unwrap_or_default();
        if has_true(first_line, "isSidechain") {
            return None;
        }
        let title = TITLE_KEYS.iter().find_map(|key| ends.last_text(key));
        let first_prompt = first_prompt(head);
        let summary = title
            .clone()
            .or_else(|| last_text(tail, "lastPrompt"))
            .or_else(|| last_text(tail, "summary"))
            .or_else(|| first_prompt.clone())?;
        let tag_line = last_line_with(tail, "{\"type\":\"tag\"");
        Some(Self {
            session_id: SessionId::from(id),
            summary,
            last_modified: ends.modified,
            file_size: ends.size,
            custom_title: title,
            first_prompt,
            git_branch: last_text(tail, "gitBranch").or_else(|| first_text(head, "gitBranch")),
            cwd: first_text(head, "cwd").or_else(|| project.map(str::to_owned)),
            tag: tag_line.and_then(|line| last_text(line, "tag")),
            created_at: first_text(head, "timestamp").and_then(|time| clock::to_millis(&time)),
            entrypoint: first_text(head, "entrypoint"),
            archived: None,
        })
    }
}

/// The two ends of a transcript.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    pub(crate) head: String,
    /// Empty when the head is all there is.
    tail: String,
    pub(crate) modified: i64,
    pub(crate) size: Option<u64>,
}

impl Ends {
    /// Reads them; `None` if the file is empty.
    pub(crate) fn read(path: &Path) -> io::Result<Option<Self>> {
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        let size = metadata.len();
        let head = read_text(&mut file, END.min(size))?;
        if head.is_empty() {
            return Ok(None);
        }
        let tail = match size.checked_sub(END) {
            None | Some(0) => String::new(),
            Some(start) => {
                file.seek(SeekFrom::Start(start))?;
                read_text(&mut file, END)?
            }
        };
        let modified = metadata.modified().map(clock::system_millis).unwrap_or_default();
        Ok(Some(Self { head, tail, modified, size: Some(size) }))
    }

    /// The last text of a field in the tail, else in the head.
    pub(crate) fn last_text(&self, key: &str) -> Option<String> {
        let in_tail = if self.tail.is_empty() { None } else { last_text(&self.tail, key) };
        in_tail.or_else(|| last_text(&self.head, key))
    }

    /// Both ends, the later one first.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &str> {
        [self.tail.as_str(), self.head.as_str()].into_iter()
    }

    /// The end; the whole of a short transcript.
    pub(crate) fn tail(&self) -> &str {
        if self.tail.is_empty() { &self.head } else { &self.tail }
    }
}

fn read_text(file: &mut File, size: u64) -> io::Result<String> {
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    Read::take(file, size).read_to_end(&mut bytes)?;
    // An end may cut a character in two.
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// The first text of the field `key`, wherever in the text it is. An empty one is ignored.
pub(crate) fn first_text(text: &str, key: &str) -> Option<String> {
    // As the other readers do: the usual spelling is looked for first.
    let first = ["\":\"", "\": \""].iter().find_map(|separator| {
        let mark = format!("\"{key}{separator}");
        let start = memmem::find(text.as_bytes(), mark.as_bytes())? + mark.len();
        string_at(text, start)
    });
    first.map(|value| unescape(text, value)).filter(|found| !found.is_empty())
}

/// The last text of the field `key`. An empty one is ignored.
pub(crate) fn last_text(text: &str, key: &str) -> Option<String> {
    let mark = format!("\"{key}\":");
    let (mut usual, mut loose) = (None, None);
    // From the front, because that search is many times faster than the one from the end.
    for offset in memmem::find_iter(text.as_bytes(), mark.as_bytes()) {
        let rest = &text[offset + mark.len()..];
        if rest.starts_with('"') {
            usual = string_at(text, offset + mark.len() + 1).or(usual);
        } else if rest.starts_with(" \"") {
            loose = string_at(text, offset + mark.len() + 2).or(loose);
        }
    }
    // As the other readers do: the last one with a space wins over all without.
    loose.or(usual).map(|value| unescape(text, value)).filter(|found| !found.is_empty())
}

/// The last line that begins with `mark`.
fn last_line_with<'a>(text: &'a str, mark: &str) -> Option<&'a str> {
    let begins_line = |&offset: &usize| offset == 0 || text.as_bytes()[offset - 1] == b'\n';
    let offset = memmem::find_iter(text.as_bytes(), mark).filter(begins_line).last()?;
    text[offset..].lines().next()
}

/// The range of the JSON string whose first character is at `start`; `None` if it is cut off.
fn string_at(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut end = start;
    loop {
        end += memchr::memchr2(b'"', b'\\', bytes.get(end..)?)?;
        if bytes[end] == b'"' {
            return Some(start..end);
        }
        end += 2;
    }
}

fn unescape(text: &str, value: Range<usize>) -> String {
    let raw = &text[value.clone()];
    if !raw.contains('\\') {
        return raw.to_owned();
    }
    serde_json::from_str(&text[value.start - 1..=value.end]).unwrap_or_else(|_| raw.to_owned())
}

fn has_true(line: &str, key: &str) -> bool {
    ["\":true", "\": true"].iter().any(|value| line.contains(&format!("\"{key}{value}")))
}

/// The first prompt, truncated to one line.
pub(crate) fn first_prompt(head: &str) -> Option<String> {
    let mut prompts = FirstPrompt::default();
    for line in head.lines() {
        if may_be_prompt(line) && prompts.offer(line) {
            break;
        }
    }
    prompts.found.or(prompts.command)
}

fn may_be_prompt(line: &str) -> bool {
    (line.contains("\"type\":\"user\"") || line.contains("\"type\": \"user\""))
        && !line.contains("\"tool_result\"")
        && !has_true(line, "isMeta")
        && !has_true(line, "isCompactSummary")
}

/// Whether a line is a prompt or command after this time.
pub(crate) fn is_prompt_after(line: &str, time: i64) -> bool {
    #[derive(Deserialize)]
    struct When {
        timestamp: String,
        origin: Option<Origin>,
    }
    #[derive(Deserialize)]
    struct Origin {
        kind: String,
    }

    if !may_be_prompt(line) || has_true(line, "isSidechain") {
        return false;
    }
    let Ok(When { timestamp, origin }) = serde_json::from_str(line) else { return false };
    let is_later = clock::to_millis(&timestamp).is_some_and(|at| at > time);
    if !is_later || origin.is_some_and(|origin| origin.kind != "human") {
        return false;
    }
    let mut prompt = FirstPrompt::default();
    prompt.offer(line) || prompt.command.is_some()
}

/// Search for the first prompt.
#[derive(Debug, Default)]
pub(crate) struct FirstPrompt {
    /// It.
    pub(crate) found: Option<String>,
    /// The first slash command, used if there is no other prompt.
    pub(crate) command: Option<String>,
}

impl FirstPrompt {
    /// Checks one more candidate line; returns whether it is the one.
    pub(crate) fn offer(&mut self, line: &str) -> bool {
        #[derive(Deserialize)]
        struct Line {
            #[serde(rename = "type")]
            kind: String,
            message: Body,
        }
        #[derive(Deserialize)]
        struct Body {
            content: Content,
        }

        let Ok(Line { kind, message }) = serde_json::from_str::<Line>(line) else { return false };
        if kind != "user" {
            return false;
        }
        let blocks = message.content.into_blocks();
        for text in blocks.iter().filter_map(ContentBlock::as_text) {
            let text = text.replace('\n', " ");
            let text = text.trim();
            if let Some(command) = command_name(text) {
                self.command.get_or_insert_with(|| command.to_owned());
            } else if !text.is_empty() && !is_automatic(text) {
                self.found = Some(shorten(text));
                return true;
            }
        }
        false
    }
}

fn command_name(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("<command-name>")?;
    rest.split_once("</command-name>").map(|(name, _)| name)
}

/// Whether a program sent it.
fn is_automatic(text: &str) -> bool {
    const BEGINNINGS: [&str; 4] =
        ["<local-command-stdout>", "<session-start-hook>", "<tick>", "<goal>"];
    const ELEMENTS: [(&str, &str); 2] =
        [("<ide_opened_file>", "</ide_opened_file>"), ("<ide_selection>", "</ide_selection>")];
    BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
        || (text.starts_with("[Request interrupted by user") && text.contains(']'))
        || ELEMENTS.iter().any(|(open, close)| text.starts_with(open) && text.ends_with(close))
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(LONGEST_PROMPT) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
    }
}

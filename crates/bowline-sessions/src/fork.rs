//! Copies of a session that go their own way.
//!
//! Two kinds: [`fork`] gives every line a new id and names its origin,
//! as the SDKs do; [`branch`] keeps the names, as `--fork-session` does.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, BufRead, BufReader, BufWriter, Write},
    path::Path,
};

use bowline_protocol::{Extra, MessageUuid, RawJson, SessionId};
use memchr::memmem;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};
use tempfile::NamedTempFile;
use uuid::Uuid;

use crate::{
    SessionError, clock,
    edit::existing,
    head::{Kind, LineHead},
    info::{Ends, TITLE_KEYS, first_prompt},
    line::{ContentReplacement, CustomTitle, TranscriptLine},
    list::info,
    project::{ConfigHome, SessionFiles},
    scan::{BackwardLines, LineReader, Span},
};

/// Options of a fork.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ForkOptions {
    /// The last message to copy; `None` copies all.
    pub up_to: Option<MessageUuid>,
    /// Its title; `None` is the original's, marked as a fork.
    pub title: Option<String>,
}

/// Copies a session under new names. The original is not touched; copies of files are not copied.
pub fn fork(
    home: &ConfigHome,
    id: &SessionId,
    directory: Option<&Path>,
    options: &ForkOptions,
) -> Result<SessionFiles, SessionError> {
    let source = existing(home, id, directory)?;
    let path = source.transcript();
    let original = Original::read(&path, id).map_err(SessionError::io(&path))?;
    let lines = original.up_to(options.up_to.as_ref())?;
    if lines.iter().all(|line| line.is_link) {
        return Err(SessionError::Empty(id.clone()));
    }
    let fork = SessionFiles::in_folder(source.project_folder(), new_id());
    let mut copies = renamed(lines, id, fork.id());
    let now = clock::now();
    if let Some(last) = copies.last_mut() {
        // The newest line is where other readers resume.
        last.insert("timestamp".to_owned(), now.clone().into());
    }
    let note = |now: &str| {
        Extra::from_iter([
            ("uuid".to_owned(), Uuid::new_v4().to_string().into()),
            ("timestamp".to_owned(), now.into()),
        ])
    };
    let mut text: Vec<String> =
        copies.into_iter().map(|line| Value::Object(line).to_string()).collect();
    if !original.replacements.is_empty() {
        let (session_id, replacements) = (fork.id().clone(), original.replacements);
        let line = ContentReplacement { session_id, replacements, extra: note(&now) };
        text.push(TranscriptLine::from(line).to_json());
    }
    let given = options.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
    let custom_title = match given {
        Some(title) => title.to_owned(),
        None => format!("{} (fork)", title_of(home, id, directory, &path)),
    };
    let title = CustomTitle { custom_title, session_id: fork.id().clone(), extra: note(&now) };
    text.push(TranscriptLine::from(title).to_json());
    text.push(String::new());
    let target = fork.transcript();
    bowline_private::create_new(&target)
        .and_then(|mut file| file.write_all(text.join("\n").as_bytes()))
        .map_err(SessionError::io(&target))?;
    Ok(fork)
}

/// Copies a session's transcript into a new session, in which the lines keep their names.
pub fn branch(source: &Path, target: &SessionFiles) -> Result<(), SessionError> {
    let path = target.transcript();
    let copy = || -> io::Result<()> {
        let old = session_named_in(source)?;
        let old = format!("\"sessionId\":\"{old}\"");
        let new = format!("\"sessionId\":\"{}\"", target.id());
        bowline_private::folder(target.project_folder())?;
        let mut lines = BufReader::new(File::open(source)?);
        let mut copy = BufWriter::new(bowline_private::create_new(&path)?);
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line)? > 0 {
            // At the end a newline may be missing, or more than that: then it is not worth copying.
            if !line.ends_with(b"\n") && serde_json::from_slice::<IgnoredAny>(&line).is_ok() {
                line.push(b'\n');
            }
            if line.ends_with(b"\n") {
                let mut from = 0;
                for offset in memmem::find_iter(&line, old.as_bytes()) {
                    copy.write_all(&line[from..offset])?;
                    copy.write_all(new.as_bytes())?;
                    from = offset + old.len();
                }
                copy.write_all(&line[from..])?;
            }
            line.clear();
        }
        copy.flush()
    };
    copy().map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => SessionError::InUse(target.id().clone()),
        _ => SessionError::io(&path)(error),
    })
}

/// Writes lines that were kept elsewhere to a file that goes with the value.
pub(crate) fn fetched(lines: &[RawJson]) -> Result<NamedTempFile, SessionError> {
    let write = || -> io::Result<NamedTempFile> {
        let mut file = NamedTempFile::with_prefix("bowline-session-")?;
        let mut writer = BufWriter::new(file.as_file_mut());
        for line in lines {
            // A line has no newline but the one at its end, however it was kept.
            serde_json::to_writer(&mut writer, &line.parse::<Value>()?)?;
            writer.write_all(b"\n")?;
        }
        writer.flush()?;
        drop(writer);
        Ok(file)
    };
    write().map_err(SessionError::io(&std::env::temp_dir()))
}

/// Generates a session id.
pub fn new_id() -> SessionId {
    SessionId(Uuid::new_v4().to_string())
}

/// The session of a transcript, according to its first lines.
fn session_named_in(transcript: &Path) -> io::Result<String> {
    let head = Ends::read(transcript)?.map(|ends| ends.head).unwrap_or_default();
    let named = crate::info::first_text(&head, "sessionId");
    Ok(named.unwrap_or_else(|| {
        transcript.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
    }))
}

fn title_of(home: &ConfigHome, id: &SessionId, directory: Option<&Path>, path: &Path) -> String {
    let title = info(home, id, directory).and_then(|info| info.custom_title.or(info.first_prompt));
    title
        .or_else(|| {
            let head = Ends::read(path).ok()??.head;
            let titles = TITLE_KEYS.iter().find_map(|key| crate::info::last_text(&head, key));
            titles.or_else(|| first_prompt(&head))
        })
        .unwrap_or_else(|| "Forked session".to_owned())
}

/// The conversation of a session that is to be copied.
struct Original {
    lines: Vec<OriginalLine>,
    replacements: Vec<RawJson>,
}

struct OriginalLine {
    uuid: String,
    /// It only links others and is not copied.
    is_link: bool,
    fields: Map<String, Value>,
}

impl Original {
    fn read(path: &Path, id: &SessionId) -> io::Result<Self> {
        let mut spans: Vec<(Span, Kind)> = Vec::new();
        let mut backward = BackwardLines::open(path)?;
        while let Some(head) = backward.next(LineHead::read)? {
            let wanted = head.filter(|head| match head.kind {
                Kind::ContentReplacement => true,
                kind => kind.is_chain() && !head.is_sidechain && head.uuid.is_some(),
            });
            spans.extend(wanted.map(|head| (head.span, head.kind)));
        }
        let mut reader = LineReader::open(path)?;
        let mut original = Self { lines: Vec::new(), replacements: Vec::new() };
        for (span, kind) in spans.into_iter().rev() {
            let line = reader.line(span)?;
            if kind == Kind::ContentReplacement {
                let note = serde_json::from_slice::<ContentReplacement>(line).ok();
                let own = note.filter(|note| note.session_id == *id);
                original.replacements.extend(own.into_iter().flat_map(|note| note.replacements));
                continue;
            }
            let Ok(fields) = serde_json::from_slice::<Map<String, Value>>(line) else { continue };
            let uuid = fields.get("uuid").and_then(Value::as_str).unwrap_or_default().to_owned();
            original.lines.push(OriginalLine { uuid, is_link: kind == Kind::Link, fields });
        }
        Ok(original)
    }

    fn up_to(&self, last: Option<&MessageUuid>) -> Result<&[OriginalLine], SessionError> {
        let Some(last) = last else { return Ok(&self.lines) };
        let offset = self.lines.iter().position(|line| line.uuid == last.as_str());
        let offset = offset.ok_or_else(|| SessionError::NoSuchMessage(last.clone()))?;
        Ok(&self.lines[..=offset])
    }
}

/// The lines with new names, the links among them taken out.
fn renamed(lines: &[OriginalLine], old: &SessionId, new: &SessionId) -> Vec<Map<String, Value>> {
    let names: HashMap<&str, String> =
        lines.iter().map(|line| (line.uuid.as_str(), Uuid::new_v4().to_string())).collect();
    let by_name: HashMap<&str, &OriginalLine> =
        lines.iter().map(|line| (line.uuid.as_str(), line)).collect();
    let parent_of = |line: &OriginalLine| -> Value {
        let mut parent = line.fields.get("parentUuid").and_then(Value::as_str);
        // A loop of links cannot be longer than the file.
        for _ in 0..lines.len() {
            let Some(line) = parent.and_then(|name| by_name.get(name)) else { break };
            if !line.is_link {
                return names[line.uuid.as_str()].clone().into();
            }
            parent = line.fields.get("parentUuid").and_then(Value::as_str);
        }
        Value::Null
    };
    let copies = lines.iter().filter(|line| !line.is_link).map(|line| {
        let mut fields = line.fields.clone();
        let mut set = |key: &str, value: Value| fields.insert(key.to_owned(), value);
        let logical = line.fields.get("logicalParentUuid").and_then(Value::as_str);
        set("uuid", names[line.uuid.as_str()].clone().into());
        set("parentUuid", parent_of(line));
        if let Some(logical) = logical {
            set("logicalParentUuid", names.get(logical).cloned().into());
        }
        set("sessionId", new.as_str().into());
        set("isSidechain", false.into());
        set("forkedFrom", json!({ "sessionId": old, "messageUuid": line.uuid }));
        // These are about the original session only.
        for key in ["teamName", "agentName", "slug", "sourceToolAssistantUUID"] {
            fields.remove(key);
        }
        rename_kept(&mut fields, &names);
        fields
    });
    copies.collect()
}

/// Renames the lines that a compaction kept, so that the copy finds them.
fn rename_kept(fields: &mut Map<String, Value>, names: &HashMap<&str, String>) {
    fn rename(value: &mut Value, names: &HashMap<&str, String>) {
        match value {
            Value::String(text) => {
                if let Some(name) = names.get(text.as_str()) {
                    text.clone_from(name);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| rename(item, names)),
            Value::Object(map) => map.values_mut().for_each(|value| rename(value, names)),
            _ => {}
        }
    }
    if let Some(Value::Object(metadata)) = fields.get_mut("compactMetadata") {
        for key in ["preservedSegment", "preservedMessages"] {
            if let Some(kept) = metadata.get_mut(key) {
                rename(kept, names);
            }
        }
    }
}

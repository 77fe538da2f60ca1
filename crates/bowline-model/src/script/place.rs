//! Where in which script a request is: read off the conversation, nothing remembered.

use bowline_protocol::{ContentBlock, Role};

use super::line::{Line, has_directives, read_script};
use crate::{ModelError, ModelMessage, ModelRequest};

/// The part of a script that answers a request.
#[derive(Debug)]
pub(super) struct Place {
    /// The lines between two `NEXT`s.
    pub(super) part: Vec<Line>,
    /// Tells this place from others of this and other conversations.
    pub(super) key: u64,
}

/// A user's text longer than this is an instruction of the engine, such as the
/// request for a summary, and nothing to repeat.
const LONGEST_ECHO: usize = 1500;

impl Place {
    /// Finds the place of a request. `file` is the script of the whole session, if
    /// there is one.
    pub(super) fn find(request: &ModelRequest, file: Option<&str>) -> Result<Self, ModelError> {
        let messages: Vec<&ModelMessage> = request.messages.iter().map(|it| &**it).collect();
        let key = |script: &str, step: usize| {
            let first = messages.first().map(|first| own_texts(first)).unwrap_or_default();
            let place = format!("{} {step}", messages.len());
            first.into_iter().chain([script, &place]).fold(FNV_OFFSET, fnv)
        };
        if let Some(summary) = summary(&messages) {
            let key = key(&summary, 0);
            return Ok(Self { part: vec![Line::Say(summary)], key });
        }
        let prompt = prompt(&messages);
        let script = prompt.map(|prompt| script_of(messages[prompt])).unwrap_or_default();
        let (script, begin) = match (file, prompt) {
            (Some(file), _) if !has_directives(&script) => (file.to_owned(), 0),
            (_, Some(prompt)) => (script, prompt),
            (_, None) => (script, 0),
        };
        let step = count_answers(&messages[begin..]);
        let key = key(&script, step);
        let lines = read_script(&script)?;
        let lines = lines.into_iter().filter(|line| !matches!(line, Line::Summary(_)));
        let mut parts = parts(lines);
        let part = match step < parts.len() {
            true => parts.swap_remove(step),
            false => vec![Line::Say("done".to_owned())],
        };
        Ok(Self { part, key })
    }
}

/// Splits a script at its `NEXT` lines. One at the very end begins nothing.
fn parts(lines: impl Iterator<Item = Line>) -> Vec<Vec<Line>> {
    let mut parts = vec![Vec::new()];
    let mut lines = lines.peekable();
    while let Some(line) = lines.next() {
        match line {
            Line::Next if lines.peek().is_none() => {}
            Line::Next => parts.push(Vec::new()),
            line => parts.last_mut().expect("there is always a part").push(line),
        }
    }
    parts
}

/// The newest message of the user with text that either has directives or comes
/// without a tool result.
fn prompt(messages: &[&ModelMessage]) -> Option<usize> {
    messages.iter().rposition(|message| {
        let texts = own_texts(message);
        message.role == Role::User
            && !texts.is_empty()
            && (texts.iter().any(|text| has_directives(text)) || !holds_result(message))
    })
}

/// The last text with directives, or all of them.
fn script_of(prompt: &ModelMessage) -> String {
    let texts = own_texts(prompt);
    match texts.iter().rfind(|text| has_directives(text)) {
        Some(script) => (*script).to_owned(),
        None => texts.join("\n"),
    }
}

/// The summary that is asked for, if the request ends in a long text.
fn summary(messages: &[&ModelMessage]) -> Option<String> {
    let newest = messages.iter().rfind(|message| message.role == Role::User)?;
    let asked = *own_texts(newest).last()?;
    if asked.len() <= LONGEST_ECHO || has_directives(asked) {
        return None;
    }
    let told = messages.iter().rev().flat_map(|message| own_texts(message)).find_map(|text| {
        read_script(text).ok()?.into_iter().find_map(|line| match line {
            Line::Summary(text) => Some(text),
            _ => None,
        })
    });
    let told = told.unwrap_or_else(|| "a scripted conversation".to_owned());
    Some(format!("<summary>{told}</summary>"))
}

/// What the model has answered, however many messages an answer was kept in.
fn count_answers(messages: &[&ModelMessage]) -> usize {
    let is_answer = |message: &&ModelMessage| message.role == Role::Assistant;
    messages.chunk_by(|a, b| is_answer(a) == is_answer(b)).filter(|run| is_answer(&run[0])).count()
}

/// The texts of a message that are the user's own.
fn own_texts(message: &ModelMessage) -> Vec<&str> {
    let texts = message.content.iter().filter_map(ContentBlock::as_text);
    let own = |text: &&str| {
        !text.trim().is_empty() && !text.trim_start().starts_with("<system-reminder>")
    };
    texts.filter(own).collect()
}

fn holds_result(message: &ModelMessage) -> bool {
    message.content.iter().any(|block| matches!(block, ContentBlock::ToolResult(_)))
}

const FNV_OFFSET: u64 = 0xCBF2_9CE4_8422_2325;

/// One step of the FNV-1a hash, which is the same on every machine.
fn fnv(hash: u64, text: &str) -> u64 {
    // The end of a text counts too, so that "ab", "c" and "a", "bc" differ.
    let bytes = text.bytes().chain([0xFF]);
    bytes.fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
}

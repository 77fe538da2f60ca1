//! Position of a request in its script: derived from the conversation, with no state but the parsed
//! newest script.

use std::sync::Arc;

use bowline_protocol::{ContentBlock, Role};
use parking_lot::Mutex;

use super::directive::{Directive, has_directives, read_script};
use crate::{ModelError, ModelMessage, ModelRequest};

/// Part of a script that responds to a request.
#[derive(Debug)]
pub(super) struct ScriptPosition {
    /// The lines between two `NEXT`s.
    pub(super) part: Vec<Directive>,
    /// Distinguishes this position from others of this and other conversations.
    pub(super) key: u64,
}

/// A user's text longer than this is an instruction of the engine, such as the
/// request for a summary, and nothing to repeat.
const LONGEST_ECHO: usize = 1500;

impl ScriptPosition {
    /// Finds the position of a request. `file` is the script of the whole session, if
    /// there is one.
    pub(super) fn find(
        request: &ModelRequest,
        file: Option<&str>,
        newest: &NewestScript,
    ) -> Result<Self, ModelError> {
        let messages = &request.messages;
        let first: Vec<&str> = messages.first().into_iter().flat_map(|it| own_texts(it)).collect();
        let key = |begun: u64, step: usize| fnv(begun, &format!("{} {step}", messages.len()));
        if let Some(summary) = summary(messages) {
            let key = key(first.into_iter().chain([&*summary]).fold(FNV_OFFSET, fnv), 0);
            return Ok(Self { part: vec![Directive::Say(summary)], key });
        }
        let prompt = prompt(messages);
        let script = prompt.map(|prompt| script_of(&messages[prompt])).unwrap_or_default();
        let (script, begin) = match (file, prompt) {
            (Some(file), _) if !has_directives(&script) => (file.to_owned(), 0),
            (_, Some(prompt)) => (script, prompt),
            (_, None) => (script, 0),
        };
        let step = count_answers(&messages[begin..]);
        let script = newest.read(&first, script)?;
        let part = match script.parts.get(step) {
            Some(part) => part.clone(),
            None => vec![Directive::Say("done".to_owned())],
        };
        Ok(Self { part, key: key(script.hash, step) })
    }
}

/// The script that was read last: a long one is read once, not once for each response.
#[derive(Debug, Default)]
pub(super) struct NewestScript(Mutex<Option<Arc<Script>>>);

/// A script, read.
#[derive(Debug)]
struct Script {
    /// The texts with which its conversation begins.
    first: Vec<String>,
    text: String,
    /// Of both.
    hash: u64,
    parts: Vec<Vec<Directive>>,
}

impl NewestScript {
    fn read(&self, first: &[&str], text: String) -> Result<Arc<Script>, ModelError> {
        let mut newest = self.0.lock();
        if let Some(known) = newest.as_ref().filter(|it| it.text == text && it.first == first) {
            return Ok(Arc::clone(known));
        }
        let lines = read_script(&text)?.into_iter();
        let parts = parts(lines.filter(|line| !matches!(line, Directive::Summary(_))));
        let hash = first.iter().copied().chain([&*text]).fold(FNV_OFFSET, fnv);
        let first = first.iter().map(|text| (*text).to_owned()).collect();
        Ok(Arc::clone(newest.insert(Arc::new(Script { first, text, hash, parts }))))
    }
}

/// Splits a script at its `NEXT` lines. One at the very end begins nothing.
fn parts(lines: impl Iterator<Item = Directive>) -> Vec<Vec<Directive>> {
    let mut parts = vec![Vec::new()];
    let mut lines = lines.peekable();
    while let Some(line) = lines.next() {
        match line {
            Directive::Next if lines.peek().is_none() => {}
            Directive::Next => parts.push(Vec::new()),
            line => parts.last_mut().expect("there is always a part").push(line),
        }
    }
    parts
}

/// The newest message of the user with text that either has directives or comes
/// without a tool result.
fn prompt(messages: &[Arc<ModelMessage>]) -> Option<usize> {
    messages.iter().rposition(|message| {
        message.role == Role::User
            && own_texts(message).next().is_some()
            && (own_texts(message).any(has_directives) || !holds_result(message))
    })
}

/// The last text with directives, or all of them.
fn script_of(prompt: &ModelMessage) -> String {
    let texts: Vec<&str> = own_texts(prompt).collect();
    match texts.iter().rfind(|text| has_directives(text)) {
        Some(script) => (*script).to_owned(),
        None => texts.join("\n"),
    }
}

/// The requested summary, if the request ends in a long text.
fn summary(messages: &[Arc<ModelMessage>]) -> Option<String> {
    let newest = messages.iter().rfind(|message| message.role == Role::User)?;
    let request_text = own_texts(newest).last()?;
    if request_text.len() <= LONGEST_ECHO || has_directives(request_text) {
        return None;
    }
    let summary = messages.iter().rev().flat_map(|message| own_texts(message)).find_map(|text| {
        read_script(text).ok()?.into_iter().find_map(|line| match line {
            Directive::Summary(text) => Some(text),
            _ => None,
        })
    });
    let summary = summary.unwrap_or_else(|| "a scripted conversation".to_owned());
    Some(format!("<summary>{summary}</summary>"))
}

/// Number of model responses, however many messages each was stored in.
fn count_answers(messages: &[Arc<ModelMessage>]) -> usize {
    let is_answer = |message: &Arc<ModelMessage>| message.role == Role::Assistant;
    messages.chunk_by(|a, b| is_answer(a) == is_answer(b)).filter(|run| is_answer(&run[0])).count()
}

/// The texts of a message that are the user's own.
fn own_texts(message: &ModelMessage) -> impl Iterator<Item = &str> {
    let texts = message.content.iter().filter_map(ContentBlock::as_text);
    texts.filter(|text| {
        !text.trim().is_empty() && !text.trim_start().starts_with("<system-reminder>")
    })
}

fn holds_result(message: &ModelMessage) -> bool {
    message.content.iter().any(|block| matches!(block, ContentBlock::ToolResult(_)))
}

const FNV_OFFSET: u64 = 0xCBF2_9CE4_8422_2325;

/// One step of the FNV-1a hash, which is the same on every machine.
fn fnv(hash: u64, text: &str) -> u64 {
    // The end of a text is hashed as well, so that "ab", "c" and "a", "bc" differ.
    let bytes = text.bytes().chain([0xFF]);
    bytes.fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
}

//! Searching all sessions for words.

use std::{io, path::Path};

use bowline_protocol::{Content, ContentBlock, MessageUuid};
use memchr::memchr2_iter;
use serde::Deserialize;

use crate::{
    info::SessionInfo,
    list::{ListOptions, list_files},
    project::ConfigHome,
    scan::BackwardLines,
};

/// A session in which the words were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchHit {
    /// The session.
    pub session: SessionInfo,
    /// The newest message with the words; `None` if they are in the title.
    pub message: Option<MessageUuid>,
    /// The words with what stands around them.
    pub excerpt: String,
}

/// Sessions whose title or messages contain `words`, in any case, newest first.
///
/// Offset and limit of `options` count hits.
pub fn search(home: &ConfigHome, words: &str, options: &ListOptions) -> Vec<SearchHit> {
    let wanted = words.trim().to_lowercase();
    if wanted.is_empty() {
        return Vec::new();
    }
    let all = ListOptions { offset: 0, limit: None, ..options.clone() };
    let hits = list_files(home, &all).into_iter().filter_map(|(session, transcript)| {
        if let Some(excerpt) = excerpt(&session.summary, &wanted) {
            return Some(SearchHit { session, message: None, excerpt });
        }
        let (message, excerpt) = search_transcript(&transcript, &wanted).ok()??;
        Some(SearchHit { session, message: Some(message), excerpt })
    });
    let limit = options.limit.filter(|&limit| limit > 0).unwrap_or(usize::MAX);
    hits.skip(options.offset).take(limit).collect()
}

fn search_transcript(path: &Path, wanted: &str) -> io::Result<Option<(MessageUuid, String)>> {
    let clue = clue(wanted);
    let mut lines = BackwardLines::open(path)?;
    while let Some(hit) = lines
        .next(|_, line| if contains_clue(line, clue) { search_line(line, wanted) } else { None })?
    {
        if hit.is_some() {
            return Ok(hit);
        }
    }
    Ok(None)
}

fn search_line(line: &[u8], wanted: &str) -> Option<(MessageUuid, String)> {
    #[derive(Deserialize)]
    struct Line {
        uuid: MessageUuid,
        message: Body,
        #[serde(rename = "isMeta", default)]
        is_meta: bool,
    }
    #[derive(Deserialize)]
    struct Body {
        content: Content,
    }

    let Line { uuid, message, is_meta } = serde_json::from_slice(line).ok()?;
    if is_meta {
        return None;
    }
    let blocks = message.content.into_blocks();
    let mut texts = blocks.iter().filter_map(ContentBlock::as_text);
    texts.find_map(|text| excerpt(text, wanted)).map(|excerpt| (uuid, excerpt))
}

/// The longest part of the words that JSON spells as it is: what to look for before parsing a line.
fn clue(wanted: &str) -> &[u8] {
    let parts = wanted.split(|c: char| !c.is_ascii_alphanumeric());
    parts.max_by_key(|part| part.len()).unwrap_or_default().as_bytes()
}

fn contains_clue(line: &[u8], clue: &[u8]) -> bool {
    let Some(&first) = clue.first() else { return true };
    memchr2_iter(first, first.to_ascii_uppercase(), line).any(|offset| {
        line[offset..].get(..clue.len()).is_some_and(|part| part.eq_ignore_ascii_case(clue))
    })
}

/// The words in the text, on one line with what stands around them; `None` if they are not in it.
fn excerpt(text: &str, wanted: &str) -> Option<String> {
    const AROUND: usize = 60;
    let lower = text.to_lowercase();
    let offset = lower.find(wanted)?;
    // Lower case may have another length, so positions are counted in characters.
    let before = lower[..offset].chars().count();
    let length = wanted.chars().count();
    let start = before.saturating_sub(AROUND);
    let part: String = text.chars().skip(start).take(before - start + length + AROUND).collect();
    Some(part.split_whitespace().collect::<Vec<_>>().join(" "))
}

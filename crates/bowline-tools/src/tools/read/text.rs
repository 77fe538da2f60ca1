//! Text files, with line numbers.

use std::path::Path;

use bowline_protocol::ContentBlock;
use serde_json::{Value, json};

use super::{Input, MAX_BYTES, MAX_WHOLE_BYTES, bytes, refuse_larger};
use crate::{
    files::TextFile,
    output::{ToolFailure, ToolOutput},
    workspace::{SeenFile, Workspace},
};

/// A token is about this many bytes of text or code.
const BYTES_PER_TOKEN: usize = 4;

const PARTS: &str = "Use offset and limit to read parts of it, or Grep to find what you need.";

pub(super) async fn read(
    input: &Input,
    path: &Path,
    size: u64,
    workspace: &Workspace,
) -> Result<ToolOutput, ToolFailure> {
    if input.limit().is_none() && !input.allows_large() {
        refuse_larger(size, MAX_WHOLE_BYTES, PARTS)?;
    }
    refuse_larger(size, MAX_BYTES, "Use head, tail or sed in Bash to see parts of it.")?;
    let on_disk = bytes(path).await?;
    let seen = SeenFile::new(&on_disk.bytes, on_disk.modified);
    let file = TextFile::decode(&on_disk.bytes);
    if file.text.is_empty() {
        workspace.seen().record(path, seen);
        let notice = "<system-reminder>Warning: the file exists but the contents are empty.\
                      </system-reminder>";
        return Ok(ToolOutput::text(notice).structured(structured(input, "", 1, 1, 1)));
    }

    let lines: Vec<&str> = lines(&file.text);
    let total = lines.len();
    // Line 0 does not exist; offset 0 reads everything, numbered from there.
    let start = input.offset().unwrap_or(1);
    let first = start.saturating_sub(1);
    if first >= total {
        let notice = format!(
            "<system-reminder>Warning: the file exists but is shorter than the provided offset \
             ({start}). The file has {total} lines.</system-reminder>"
        );
        return Ok(ToolOutput::text(notice).structured(structured(input, "", 0, start, total)));
    }
    let end = input.limit().map_or(total, |limit| first.saturating_add(limit).min(total));
    let mut shown = &lines[first..end];

    let mut cut = None;
    let max_bytes = workspace.options().max_read_tokens.saturating_mul(BYTES_PER_TOKEN);
    let asked = shown.iter().map(|line| line.len() + 1).sum::<usize>();
    if asked > max_bytes && !input.allows_large() {
        let (tokens, max) = (asked / BYTES_PER_TOKEN, workspace.options().max_read_tokens);
        let fitting = fitting(shown, max_bytes);
        if input.offset().is_some() || input.limit().is_some() || fitting == 0 {
            return Err(ToolFailure::running(format!(
                "File content ({tokens} tokens) exceeds maximum allowed tokens ({max}). {PARTS}"
            )));
        }
        shown = &shown[..fitting];
        cut = Some(format!(
            "[Truncated: PARTIAL view — lines 1 to {fitting} of {total} are shown. Read on with \
             offset {}.]",
            fitting + 1
        ));
    }

    workspace.seen().record(path, seen.partial(shown.len() < total));
    let mut text = numbered(shown, start);
    if file.damaged {
        text.push_str(
            "\n[The file has bytes that are not text; what is shown may not be exact, and the \
             file cannot be changed with Edit or Write.]",
        );
    }
    let mut object = structured(input, &shown.join("\n"), shown.len(), start, total);
    let mut output = ToolOutput::text(text);
    if let Some(notice) = cut {
        object["file"]["truncatedByTokenCap"] = true.into();
        output.follow_up.push(ContentBlock::text(notice));
    }
    Ok(output.structured(object))
}

/// The lines as people count them; the end of a last line starts one more, which is empty.
fn lines(text: &str) -> Vec<&str> {
    text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect()
}

/// The lines with their numbers, the first of which is `start`.
fn numbered(lines: &[&str], start: usize) -> String {
    /// Room for a number, a tab and the end of a line.
    const FRAME: usize = 8;
    let room = lines.iter().map(|line| line.len() + FRAME).sum();
    let mut text = String::with_capacity(room);
    for (number, line) in (start..).zip(lines) {
        if number > start {
            text.push('\n');
        }
        text.push_str(&number.to_string());
        text.push('\t');
        text.push_str(line);
    }
    text
}

/// How many lines from the start fit.
fn fitting(lines: &[&str], max_bytes: usize) -> usize {
    let mut used = 0;
    lines
        .iter()
        .take_while(|line| {
            used += line.len() + 1;
            used <= max_bytes
        })
        .count()
}

fn structured(input: &Input, content: &str, lines: usize, start: usize, total: usize) -> Value {
    json!({
        "type": "text",
        "file": {
            "filePath": input.file_path,
            "content": content,
            "numLines": lines,
            "startLine": start,
            "totalLines": total,
        },
    })
}

//! Execution of a call; a result that is too large is saved to a file or truncated.

use std::{io, path::Path};

use bowline_protocol::Content;
use serde_json::Value;

use crate::{
    output::{ToolFailure, ToolOutput},
    tool::{Tool, ToolCall},
};

/// How much of a saved result the model sees at once.
pub(crate) const PREVIEW_CHARS: usize = 2000;

/// Runs a call: saves a result text that is too large, names an empty one, and ends soon after
/// the call is cancelled even if the tool does not, unless it promises to.
///
/// # Cancel safety
///
/// As [`Tool::run`].
pub async fn run(tool: &dyn Tool, call: ToolCall) -> Result<ToolOutput, ToolFailure> {
    let spec = tool.spec();
    let (workspace, id, cancel) = (call.workspace.clone(), call.id.clone(), call.cancel.clone());
    let mut output = tokio::select! {
        biased;
        output = tool.run(call) => output?,
        () = cancel.cancelled(), if !spec.stops_itself => return Err(ToolFailure::interrupted()),
    };
    if matches!(&output.content, Content::Blocks(blocks) if blocks.is_empty()) {
        output.content = Content::Text(String::new());
    }
    if let Content::Text(text) = &mut output.content {
        if text.is_empty() {
            *text = format!("({} completed with no output)", spec.name);
        } else if text.len() > spec.max_result_chars && text.chars().count() > spec.max_result_chars
        {
            let path = workspace.result_file(id.as_str(), "txt");
            match save(&path, &*text) {
                Ok(()) => {
                    *text = persisted(text, text.len() as u64, &path, PREVIEW_CHARS);
                    output.structured.get_or_insert_with(|| Value::String(text.clone()));
                }
                Err(error) => {
                    tracing::warn!(path = %path.display(), %error, "large result is not saved");
                    let kept = text.chars().take(spec.max_result_chars).collect::<String>();
                    *text = format!("{kept}\n... [the rest was cut off]");
                }
            }
        }
    }
    Ok(output)
}

/// What stands for a text that was saved to a file.
pub(crate) fn persisted(text: &str, bytes: u64, path: &Path, preview_chars: usize) -> String {
    let preview: String = text.chars().take(preview_chars).collect();
    format!(
        "<persisted-output>\nOutput too large ({}). Full output saved to: {}\n\nPreview (first \
         {}):\n{preview}\n...\n</persisted-output>",
        size(bytes),
        path.display(),
        size(preview_chars as u64),
    )
}

/// A number of bytes for people: `29.3KB`.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 3] = ["KB", "MB", "GB"];
    if bytes < 1000 {
        return format!("{bytes} bytes");
    }
    #[expect(clippy::cast_precision_loss, reason = "one digit is shown")]
    let mut value = bytes as f64 / 1024.0;
    let mut unit = UNITS[0];
    for larger in &UNITS[1..] {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = larger;
    }
    let shown = format!("{value:.1}");
    format!("{}{unit}", shown.trim_end_matches(".0"))
}

/// Keeps a result in a file that only its owner can read.
pub(crate) fn save(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    // Result texts are written faster than a task could be handed to another thread.
    if let Some(dir) = path.parent() {
        bowline_private::folder(dir)?;
    }
    bowline_private::write(path, bytes)
}

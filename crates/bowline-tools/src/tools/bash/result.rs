//! Result of a finished command, for the model and for programs.

use std::{sync::Arc, time::Duration};

use bowline_process::exit_code;
use bowline_protocol::{ContentBlock, ImageBlock, Source};
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::{Input, exit_meaning};
use crate::{
    output::{ToolFailure, ToolOutput},
    process::Capture,
    run::{PREVIEW_CHARS, persisted, size},
    tasks::{Job, JobEnd},
    tool::ToolCall,
    workspace::Workspace,
};

/// Note for the model when the confinement may have caused a failure.
const HELD: &str = "(This command ran without approval because it only reads, so the kernel kept it from writing, \
    from the network and from files outside the working directories. If it needs more, a person has to allow \
    it, with a permission rule for example.)";

/// Whether an output complains about rights.
fn was_refused(output: &str) -> bool {
    const COMPLAINTS: &[&str] = &[
        "Permission denied",
        "Operation not permitted",
        "Read-only file system",
        "Function not implemented",
    ];
    COMPLAINTS.iter().any(|complaint| output.contains(complaint))
}

/// The result of a command that ended by itself.
pub(super) fn of(
    input: &Input,
    job: Job,
    end: JobEnd,
    call: &ToolCall,
) -> Result<ToolOutput, ToolFailure> {
    let workspace = &*call.workspace;
    let capture = Arc::clone(&job.capture);
    job.forget();
    let reset = follow_dir(&end, workspace);
    let code = exit_code(&end.status);
    let harmless = exit_meaning::harmless(&input.command, code);
    let output = shown(&capture);
    if code != 0 && harmless.is_none() {
        let mut text = format!("Exit code {code}");
        let output = both_ends(&capture).unwrap_or(output);
        let held = call.confinement.is_some() && was_refused(&output);
        let held = if held { HELD } else { "" };
        for part in [output.as_str(), held, reset.as_deref().unwrap_or_default()] {
            if !part.is_empty() {
                text.push('\n');
                text.push_str(part);
            }
        }
        return Err(ToolFailure::running(text));
    }
    if let Some(image) = image(&output) {
        let structured = json!({
            "stdout": output, "stderr": "", "interrupted": false, "isImage": true,
            "noOutputExpected": false,
        });
        return Ok(ToolOutput::blocks(vec![image]).structured(structured));
    }

    let limit = workspace.options().max_output_chars;
    let mut structured = structured(&output, exit_meaning::is_silent(&input.command));
    let mut text = output;
    let total = capture.lock().total();
    let too_long = text.len() > limit && text.chars().count() > limit;
    if too_long {
        structured["stdout"] = text.chars().take(limit).collect::<String>().into();
        let saved = capture.lock().spill();
        text = match saved {
            Ok(path) => {
                structured["persistedOutputPath"] = json!(path);
                structured["persistedOutputSize"] = total.into();
                persisted(&text, total, &path, PREVIEW_CHARS.min(limit))
            }
            Err(error) => {
                let kept: String = text.chars().take(limit).collect();
                format!("{kept}\n... [the rest could not be saved: {error}]")
            }
        };
    }
    if let Some(interpretation) = harmless {
        structured["returnCodeInterpretation"] = interpretation.into();
    }
    if let Some(asked) = input.dangerously_disable_sandbox {
        structured["dangerouslyDisableSandbox"] = asked.into();
    }
    if let Some(reset) = reset {
        structured["stderr"] = format!("\n{reset}").into();
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&reset);
    }
    Ok(ToolOutput::text(text).structured(structured).explicitly_ok())
}

/// The result of a command that was stopped because its time was over.
pub(super) fn timed_out(capture: &Mutex<Capture>, limit: Duration) -> ToolFailure {
    let output = shown(capture);
    let gap = if output.is_empty() { "" } else { "\n" };
    ToolFailure::running(format!(
        "Exit code 143\nCommand timed out after {}{gap}{output}",
        seconds(limit)
    ))
}

/// Both ends of an output that is too long for memory: the reason of a failure is mostly at the end.
fn both_ends(capture: &Mutex<Capture>) -> Option<String> {
    /// Together they stay below the longest error text.
    const END: usize = 4500;
    let capture = capture.lock();
    if capture.is_whole() {
        return None;
    }
    let head = capture.head_text();
    let head = &head[..head.floor_char_boundary(END)];
    let tail = capture.end_text(END);
    let path = capture.file().map(|path| format!("; all of it is in {}", path.display()));
    Some(format!(
        "{}\n\n... [{} of output, the middle is left out{}] ...\n\n{}",
        head.trim_start_matches('\n'),
        size(capture.total()),
        path.unwrap_or_default(),
        tail.trim_end()
    ))
}

/// The output so far as models see it: no blank lines in front, no blanks at the end.
pub(super) fn shown(capture: &Mutex<Capture>) -> String {
    let capture = capture.lock();
    let text = capture.head_text();
    let text = text.trim_end();
    let start = text.find(|c: char| !c.is_whitespace()).unwrap_or(text.len());
    let line = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    text[line..].to_owned()
}

/// What programs see, at least.
pub(super) fn structured(stdout: &str, silent: bool) -> Value {
    json!({
        "stdout": stdout,
        "stderr": "",
        "interrupted": false,
        "isImage": false,
        "noOutputExpected": silent,
    })
}

/// `90s`, `1.5s`.
pub(super) fn seconds(duration: Duration) -> String {
    format!("{}s", duration.as_secs_f64())
}

/// Moves the workspace to where the command ended, if that is inside. Otherwise back to the
/// start, with a note for the model.
fn follow_dir(end: &JobEnd, workspace: &Workspace) -> Option<String> {
    let dir = end.dir.as_ref()?;
    let current = workspace.current_dir();
    if *dir == current {
        return None;
    }
    if workspace.contains(dir) && !workspace.options().stay_in_start_dir {
        workspace.set_current_dir(dir.clone());
        return None;
    }
    let start = workspace.start_dir();
    workspace.set_current_dir(start);
    Some(format!("Shell cwd was reset to {}", start.display()))
}

/// A picture, if that is all the command printed.
fn image(output: &str) -> Option<ContentBlock> {
    let (media_type, data) = output.strip_prefix("data:")?.split_once(";base64,")?;
    let is_data = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
    if !media_type.starts_with("image/") || !data.chars().all(is_data) {
        return None;
    }
    let source = Source::base64(media_type, data);
    Some(ContentBlock::Image(ImageBlock { source, extra: Default::default() }))
}

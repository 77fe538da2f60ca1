//! Control requests about files and directories.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use bowline_protocol::{
    DirectoryAddedInput, EventInput, Extra, FileSuggestions, FileSuggestionsResponse, HookEvent,
    RawJson, ReadFile, ReadFileResponse, RegisterRepoRoot, RewindFiles, RewindFilesResponse,
    SeedReadState,
};
use bowline_sessions::{Rewind, RewindReport};
use bowline_tools::Access;
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio_util::sync::CancellationToken;

use super::{ControlError, ControlReply, ControlResult, suggest};
use crate::{
    identity::Identity,
    instructions::LoadReason,
    permission::{EvaluationContext, Location, ProposedCall, RuleSource, Verdict},
    plugin_reload,
    session_context::SessionContext,
};

/// The default limit of file content in a response.
const USUAL_BYTES: u64 = 1024 * 1024;
/// The error for rewinding without file checkpoints.
const NOT_ENABLED: &str = "File rewinding is not enabled.";

pub(super) async fn rewind_files(
    context: &Arc<SessionContext>,
    request: RewindFiles,
) -> ControlResult {
    let how = match request.dry_run {
        Some(true) => Rewind::DryRun,
        _ => Rewind::Restore,
    };
    let report = match &context.file_history {
        Some(history) => history.rewind(request.user_message_id, how).await,
        None => RewindReport { error: Some(NOT_ENABLED.to_owned()), ..RewindReport::default() },
    };
    let RewindReport { can_rewind, files_changed, insertions, deletions, skipped_links, error } =
        report;
    let unsent = RewindFilesResponse::default();
    let response = match (how, error) {
        (Rewind::Restore, Some(error)) => return Err(ControlError::new(error)),
        (Rewind::DryRun, Some(error)) if !can_rewind => {
            RewindFilesResponse { error: Some(error), ..unsent }
        }
        (Rewind::DryRun, error) => RewindFilesResponse {
            can_rewind,
            files_changed: Some(files_changed.iter().map(|path| shown(path)).collect()),
            insertions: Some(insertions),
            deletions: Some(deletions),
            error,
            ..unsent
        },
        (Rewind::Restore, None) => {
            RewindFilesResponse { can_rewind, skipped_links: Some(skipped_links), ..unsent }
        }
    };
    Ok(ControlReply::payload(&response))
}

pub(super) fn seed_read_state(
    context: &Arc<SessionContext>,
    request: SeedReadState,
) -> ControlResult {
    let millis = request.mtime.as_f64().filter(|millis| *millis >= 0.0).unwrap_or(0.0);
    let modified = Duration::try_from_secs_f64(millis / 1000.0).unwrap_or_default();
    let path = context.workspace.resolve(&request.path);
    context.workspace.seen().seed(path, UNIX_EPOCH + modified);
    Ok(ControlReply::ack())
}

/// A denied file and a missing one give the same error, so that the error reveals nothing.
pub(super) async fn read_file(context: &Arc<SessionContext>, request: ReadFile) -> ControlResult {
    let denied = || ControlError::new(format!("read denied: {}", request.path));
    let path = context.workspace.resolve(&request.path);
    if !may_read(context, &path) {
        return Err(denied());
    }
    let limit = request.max_bytes.unwrap_or(USUAL_BYTES);
    let (bytes, truncated) = read_beginning(&path, limit).await.map_err(|_| denied())?;
    let mut response = match request.encoding.as_deref() {
        Some("base64") => ReadFileResponse {
            contents: BASE64_STANDARD.encode(&bytes),
            encoding: Some("base64".to_owned()),
            ..ReadFileResponse::default()
        },
        None | Some("utf-8" | "utf8") => {
            let (contents, lossy) = as_text(&bytes, truncated);
            ReadFileResponse { contents, lossy: Some(lossy), ..ReadFileResponse::default() }
        }
        Some(other) => return Err(ControlError::new(format!("unknown encoding: {other}"))),
    };
    response.abs_path = shown(&path);
    response.truncated = truncated.then_some(true);
    response.extra.insert("requested_path".to_owned(), json!(request.path));
    Ok(ControlReply::payload(&response))
}

fn may_read(context: &SessionContext, path: &Path) -> bool {
    let current = context.workspace.current_dir();
    let call = ProposedCall {
        tool: "Read",
        input: &json!({"file_path": path}),
        access: &Access::Read(vec![path.to_owned()]),
        current_directory: &current,
        hook: None,
        needs_person: false,
    };
    // The host has the permissions of the main agent, its memory included.
    let memory = context.permissions.memory();
    let evaluation = EvaluationContext { mode: None, memory: memory.as_deref() };
    let verdict = context.permissions.policy().evaluate(&call, evaluation);
    matches!(verdict, Verdict::Allow(_))
}

/// The beginning of a file, and whether there is more.
async fn read_beginning(path: &Path, limit: u64) -> std::io::Result<(Vec<u8>, bool)> {
    let mut file = tokio::fs::File::open(path).await?;
    let mut bytes = Vec::new();
    (&mut file).take(limit).read_to_end(&mut bytes).await?;
    let more = file.read(&mut [0]).await? > 0;
    Ok((bytes, more))
}

/// Bytes as text, and whether bytes were invalid. A character truncated by the limit is left out and
/// not reported as invalid.
fn as_text(bytes: &[u8], truncated: bool) -> (String, bool) {
    match str::from_utf8(bytes) {
        Ok(text) => (text.to_owned(), false),
        Err(error) if truncated && error.error_len().is_none() => {
            (String::from_utf8_lossy(&bytes[..error.valid_up_to()]).into_owned(), false)
        }
        Err(_) => (String::from_utf8_lossy(bytes).into_owned(), true),
    }
}

pub(super) async fn file_suggestions(
    context: &Arc<SessionContext>,
    request: FileSuggestions,
) -> ControlResult {
    let folder = context.workspace.current_dir();
    let cwd = shown(&folder);
    let policy = context.permissions.policy().clone();
    let look =
        move || suggest::suggest(&folder, &request.query, |path| !policy.is_read_denied(path));
    let found = tokio::task::spawn_blocking(look).await.unwrap_or_default();
    let suggestions = found.iter().map(|suggestion| {
        let kind = if suggestion.is_folder { "directory" } else { "file" };
        RawJson::from(json!({"path": suggestion.path, "type": kind}))
    });
    let suggestions = suggestions.collect();
    Ok(ControlReply::payload(&FileSuggestionsResponse { suggestions, cwd, extra: Extra::new() }))
}

pub(super) async fn register_repo_root(
    context: &Arc<SessionContext>,
    request: RegisterRepoRoot,
) -> ControlResult {
    let directory = context.workspace.resolve(&request.directory);
    if !directory.is_dir() {
        let message = format!("register_repo_root: not a directory: {}", request.directory);
        return Err(ControlError::new(message));
    }
    let known: Vec<PathBuf> =
        context.permissions.policy().directories().map(Path::to_path_buf).collect();
    let location = Location::of(&directory);
    if known.iter().any(|known| Location::of(known) == location) {
        let already = "is already a working directory";
        let message = format!("register_repo_root: {} {already}", request.directory);
        return Err(ControlError::new(message));
    }
    context.permissions.policy().add_directory(RuleSource::Session, &directory);
    context.workspace.set_added_roots(context.permissions.added_directories());
    if request.reload_claude_md == Some(true) {
        context.model_context.forget(LoadReason::SessionStart);
    }
    if request.reload_plugins == Some(true) {
        plugin_reload::replace(context, context.plugins.get().reloaded()).await;
    } else if request.reload_skills == Some(true) {
        context.commands.reload();
    }
    if context.hooks.has(HookEvent::DirectoryAdded) {
        let event = EventInput::DirectoryAdded(DirectoryAddedInput {
            directory: shown(&directory),
            source: "register_repo_root".to_owned(),
            extra: Extra::new(),
        });
        context.hooks.run(&Identity::Main, event, &CancellationToken::new()).await;
    }
    Ok(ControlReply::payload(&json!({"directory": shown(&directory)})))
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncated_character_is_left_out() {
        let bytes = "aé".as_bytes();
        assert_eq!(as_text(&bytes[..2], true), ("a".to_owned(), false));
        assert_eq!(as_text(&bytes[..2], false), ("a\u{fffd}".to_owned(), true));
        assert_eq!(as_text(bytes, true), ("aé".to_owned(), false));
    }
}

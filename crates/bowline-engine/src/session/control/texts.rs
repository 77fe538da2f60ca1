//! Control requests whose response is a text.

use std::{fmt::Write, sync::Arc};

use bowline_model::ModelMessage;
use bowline_protocol::{
    BinaryVersionResponse, ContentBlock, ExportConversationResponse, Extra, PlanResponse, RawJson,
    Role, SessionCostResponse, StatusResponse,
};
use serde_json::json;
use time::{OffsetDateTime, macros::format_description};

use super::{ControlReply, ControlResult};
use crate::{command, session_context::SessionContext};

pub(super) fn get_session_cost(context: &Arc<SessionContext>) -> ControlResult {
    let text = command::cost_text(context);
    Ok(ControlReply::payload(&SessionCostResponse { text, ..SessionCostResponse::default() }))
}

pub(super) fn get_binary_version(context: &Arc<SessionContext>) -> ControlResult {
    Ok(ControlReply::payload(&BinaryVersionResponse {
        version: context.config.version.clone(),
        build_time: match context.config.build_time.as_str() {
            "" => installed().unwrap_or_default(),
            built => built.to_owned(),
        },
        extra: Extra::new(),
    }))
}

/// The modification time of this program, as a fallback for its build time.
fn installed() -> Option<String> {
    let modified = std::fs::metadata(std::env::current_exe().ok()?).ok()?.modified().ok()?;
    let format = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]Z");
    OffsetDateTime::from(modified).format(format).ok()
}

/// The state of the session, in sections of lines.
pub(super) fn get_status(context: &Arc<SessionContext>) -> ControlResult {
    let session = vec![
        ("Version", context.config.version.clone()),
        ("Session ID", context.sink.session_id().to_string()),
        ("Title", context.title.get().unwrap_or_default()),
        ("cwd", context.workspace.current_dir().display().to_string()),
        ("State", context.turn.state().to_string()),
        ("API key", context.config.api_key_source.to_string()),
    ];
    let environment = vec![
        ("Model", context.models.name()),
        ("Effort", context.models.effort_level().unwrap_or_default()),
        ("Output style", context.output.style()),
        ("Permission mode", context.permissions.mode().to_string()),
    ];
    let servers = context.mcp.status();
    let servers: Vec<_> =
        servers.iter().map(|server| (server.name.as_str(), server.status.to_string())).collect();
    let sections = [("Session", session), ("Environment", environment), ("MCP servers", servers)];
    let sections = sections.into_iter().filter(|(_, lines)| !lines.is_empty());
    let section = |(title, lines): (&str, Vec<(&str, String)>)| {
        let lines = lines.into_iter().filter(|(_, value)| !value.is_empty());
        let line = |(label, value)| json!({"label": label, "value": value});
        RawJson::from(json!({"title": title, "rows": lines.map(line).collect::<Vec<_>>()}))
    };
    let sections = sections.map(section).collect();
    Ok(ControlReply::payload(&StatusResponse { sections, ..StatusResponse::default() }))
}

pub(super) fn get_plan(context: &Arc<SessionContext>) -> ControlResult {
    let path = context.permissions.plan_file();
    let plan = path.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
    let mut response = PlanResponse { exists: plan.is_some(), ..PlanResponse::default() };
    if let (Some(path), Some(plan)) = (path, plan) {
        response.extra.insert("path".to_owned(), json!(path));
        response.extra.insert("plan".to_owned(), json!(plan));
    }
    Ok(ControlReply::payload(&response))
}

pub(super) fn export_conversation(context: &Arc<SessionContext>) -> ControlResult {
    let text = as_text(&context.model_context.snapshot().messages);
    let format =
        format_description!("conversation-[year]-[month]-[day]-[hour][minute][second].txt");
    let default_filename = OffsetDateTime::now_utc().format(format).unwrap_or_default();
    let extra = Extra::new();
    Ok(ControlReply::payload(&ExportConversationResponse { text, default_filename, extra }))
}

/// A conversation as readable text: messages, calls and results.
fn as_text(messages: &[Arc<ModelMessage>]) -> String {
    let mut text = String::new();
    for message in messages {
        let who = if message.role == Role::Assistant { "Assistant" } else { "User" };
        for block in &message.content {
            // Writing to a string cannot fail.
            let _ = match block {
                ContentBlock::Text(block) => write!(text, "{who}:\n{}\n\n", block.text),
                ContentBlock::ToolUse(call) => {
                    write!(text, "{who} calls {}:\n{}\n\n", call.name, call.input.get())
                }
                ContentBlock::ToolResult(result) => {
                    let content = result.content.as_ref().map(|content| content.to_text());
                    write!(text, "Result:\n{}\n\n", content.unwrap_or_default())
                }
                ContentBlock::Image(_) => write!(text, "{who}: (image)\n\n"),
                ContentBlock::Document(_) => write!(text, "{who}: (document)\n\n"),
                _ => Ok(()),
            };
        }
    }
    text.truncate(text.trim_end().len());
    text
}

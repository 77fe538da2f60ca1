//! A permission question as MCP's elicitation, and its answer.

use bowline_engine::HostError;
use bowline_protocol::{
    CanUseTool, PermissionAllow, PermissionDeny, PermissionResult, printable, printable_json,
};
use rmcp::{
    RoleServer,
    model::{
        CancelledNotificationParam, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult,
        ElicitationAction, ElicitationSchema, ProtocolVersion, ServerRequest,
    },
    service::{PeerRequestOptions, RequestContext, ServiceError},
};
use serde_json::json;

/// How many bytes a person is shown of the beginning of an input, and of its end. A longer one is
/// most likely a file, and says what it is there.
const SHOWN: usize = 16 * 1024;

/// The same of a description or a reason, which are a sentence or two. Callers write them, so that they
/// must not push the input out of sight, or look like it.
const SHOWN_IN_PASSING: usize = 512;

/// How a client is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asking {
    /// It cannot be.
    Never,
    /// By a request of ours, while its own waits.
    Directly,
    /// By a result that wants its request to be made again.
    ByResult,
}

impl Asking {
    /// What the client of this request can do.
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        let capabilities = context.client_capabilities().unwrap_or_default();
        let fills_in_forms = capabilities
            .elicitation
            .is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none());
        let version = context.protocol_version();
        match version {
            _ if !fills_in_forms => Self::Never,
            Some(version) if version.as_str() >= ProtocolVersion::V_2026_07_28.as_str() => {
                Self::ByResult
            }
            _ => Self::Directly,
        }
    }
}

/// The question, as a form.
pub(crate) fn form(question: &CanUseTool) -> ElicitRequestParams {
    let schema = json!({
        "type": "object",
        "properties": {
            "decision": {
                "type": "string",
                "title": "Decision",
                "description": format!("May {} run?", question.tool_name),
                "enum": ["allow", "deny"],
            },
        },
        "required": ["decision"],
    });
    let requested_schema: ElicitationSchema =
        serde_json::from_value(schema).expect("this is a form that MCP knows");
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: words(question),
        requested_schema,
    }
}

/// The question, in words.
fn words(question: &CanUseTool) -> String {
    let mut words = format!("May {} run?", question.tool_name);
    let description = question.description.as_ref().filter(|it| !is_input(it, question));
    for more in [description, question.decision_reason.as_ref()].into_iter().flatten() {
        words.push_str("\n\n");
        words.push_str(&both_ends(&printable(&in_one_line(more)), SHOWN_IN_PASSING, " "));
    }
    words.push_str("\n\n");
    // What is approved must be what is read: nothing in it may turn or hide the rest.
    words.push_str(&both_ends(&printable_json(question.input.get()), SHOWN, "\n\n"));
    words
}

/// Whether a description says no more than the input: it is the command, or what else is to be done.
fn is_input(description: &str, question: &CanUseTool) -> bool {
    let input = question.input.to_value();
    ["command", "pattern", "url", "query"].into_iter().any(|field| input[field] == description)
}

/// A text without line breaks, and without what else moves the place where the next word is shown.
fn in_one_line(text: &str) -> String {
    let breaks = |it: char| it.is_control() || matches!(it, '\u{2028}' | '\u{2029}');
    text.replace(breaks, " ")
}

/// So many bytes of the beginning of a text and of its end, or all of it if there are no more.
fn both_ends(text: &str, shown: usize, gap: &str) -> String {
    let begin = text.floor_char_boundary(shown);
    let end = text.ceil_char_boundary(text.len().saturating_sub(shown));
    match end.checked_sub(begin) {
        None | Some(0) => text.to_owned(),
        Some(hidden) => {
            let (begin, end) = (&text[..begin], &text[end..]);
            format!("{begin}{gap}[… {hidden} bytes are not shown …]{gap}{end}")
        }
    }
}

/// What the client answered. Only a clear yes is one.
pub(crate) fn read(answer: &ElicitResult) -> PermissionResult {
    let decision = answer.content.as_ref().and_then(|content| content["decision"].as_str());
    let deny = |message: &str, interrupt| {
        let message = message.to_owned();
        PermissionResult::Deny(PermissionDeny { message, interrupt, ..PermissionDeny::default() })
    };
    match (&answer.action, decision) {
        (ElicitationAction::Accept, Some("allow")) => {
            PermissionResult::Allow(PermissionAllow::default())
        }
        (ElicitationAction::Cancel, _) => deny("The user cancelled this", Some(true)),
        _ => deny("The user denied this", None),
    }
}

/// Asks the client while its request waits; `None` if the answer is no longer wanted.
pub(crate) async fn ask(
    context: &RequestContext<RoleServer>,
    question: &CanUseTool,
    withdrawn: impl Future<Output = ()>,
) -> Option<Result<PermissionResult, HostError>> {
    let refused = |error: ServiceError| HostError::Refused(error.to_string());
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(form(question)));
    let options = PeerRequestOptions::no_options();
    let asked = match context.peer.send_cancellable_request(request, options).await {
        Ok(asked) => asked,
        Err(error) => return Some(Err(refused(error))),
    };
    let id = asked.id.clone();
    tokio::select! {
        biased;
        answer = asked.await_response() => Some(match answer {
            Ok(ClientResult::ElicitResult(answer)) => Ok(read(&answer)),
            Ok(_) => Err(HostError::Malformed("no answer to a form".to_owned())),
            Err(error) => Err(refused(error)),
        }),
        () = withdrawn => {
            let reason = Some("the answer is no longer wanted".to_owned());
            let withdrawal = CancelledNotificationParam::new(Some(id), reason);
            context.peer.notify_cancelled(withdrawal).await.ok();
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_one() {
        let accept = |content| ElicitResult::new(ElicitationAction::Accept).with_content(content);
        let cases = [
            (accept(json!({"decision": "allow"})), true),
            (accept(json!({"decision": "deny"})), false),
            (accept(json!({"decision": "maybe"})), false),
            (accept(json!({})), false),
            (ElicitResult::new(ElicitationAction::Accept), false),
            (ElicitResult::new(ElicitationAction::Decline), false),
            (ElicitResult::new(ElicitationAction::Cancel), false),
        ];
        for (answer, allowed) in cases {
            let read = read(&answer);
            assert_eq!(matches!(read, PermissionResult::Allow(_)), allowed, "{answer:?}");
        }
    }

    #[test]
    fn a_long_input_is_shown_from_both_ends() {
        let shown = |text: &str| {
            let input = json!(text).into();
            words(&CanUseTool { tool_name: "Bash".to_owned(), input, ..CanUseTool::default() })
        };
        let short = "x".repeat(2 * SHOWN - 2);
        assert_eq!(shown(&short), format!("May Bash run?\n\n\"{short}\""));
        // The quotes make both cuts fall into a character.
        let long = shown(&"é".repeat(SHOWN + 2));
        let (begin, rest) = long.split_once("\n\n[… ").unwrap();
        let (hidden, end) = rest.split_once(" bytes are not shown …]\n\n").unwrap();
        let half = "é".repeat(SHOWN / 2 - 1);
        assert_eq!(begin, format!("May Bash run?\n\n\"{half}"));
        assert_eq!(end, format!("{half}\""));
        assert_eq!(hidden, (2 * (SHOWN + 2) - 4 * (SHOWN / 2 - 1)).to_string());
    }

    #[test]
    fn a_description_cannot_push_the_input_out_of_sight() {
        let asked = |description: &str, reason: &str| {
            words(&CanUseTool {
                tool_name: "Bash".to_owned(),
                input: json!({"command": "rm -r ~"}).into(),
                description: Some(description.to_owned()),
                decision_reason: Some(reason.to_owned()),
                ..CanUseTool::default()
            })
        };
        let input = r#"{"command":"rm -r ~"}"#;
        let heading = "May Bash run?";
        let plain = asked("Lists\r\n\n{\"command\":\"ls\"}", "a\u{2028}rule");
        let shown = r#"Lists   {"command":"ls"}"#;
        assert_eq!(plain, format!("{heading}\n\n{shown}\n\na rule\n\n{input}"));
        // The command alone says nothing that the input does not.
        assert_eq!(asked("rm -r ~", "a rule"), format!("{heading}\n\na rule\n\n{input}"));
        let turned = asked("a \u{202e}b", "\u{9b}2J");
        assert_eq!(turned, format!("{heading}\n\na \\u{{202e}}b\n\n 2J\n\n{input}"));
        let long = asked(&"x".repeat(1024 * 1024), &"y\n".repeat(1024 * 1024));
        assert!(long.len() < 4 * 1024 && long.ends_with(input), "{}", long.len());
        assert_eq!(long.matches(" bytes are not shown …] ").count(), 2);
    }
}

//! A permission question as MCP's elicitation, and its answer.

use bowline_engine::HostError;
use bowline_protocol::{CanUseTool, PermissionAllow, PermissionDeny, PermissionResult};
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
    for more in [&question.description, &question.decision_reason].into_iter().flatten() {
        words.push_str("\n\n");
        words.push_str(more);
    }
    words.push_str("\n\n");
    let input = question.input.get();
    let begin = input.floor_char_boundary(SHOWN);
    let end = input.ceil_char_boundary(input.len().saturating_sub(SHOWN));
    match end.checked_sub(begin) {
        None | Some(0) => words.push_str(input),
        Some(hidden) => {
            let (begin, end) = (&input[..begin], &input[end..]);
            words.push_str(&format!("{begin}\n\n[… {hidden} bytes are not shown …]\n\n{end}"));
        }
    }
    words
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
}

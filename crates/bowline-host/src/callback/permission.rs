//! Callback for permission requests of tool calls.

use std::ops::Deref;

use bowline_protocol::{PermissionResult, RequestId};
use futures_util::future::BoxFuture;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use super::IntoAnswer;

/// Decides whether tools may run, where neither rules nor the permission mode do.
///
/// Requests are decided concurrently: a slow decision delays only its own
/// call. If the agent cancels the request, the future is dropped.
///
/// A future that never ends leaves the decision to others, as `null` does in TypeScript: a
/// hook, another program at the same session, or a cancellation. No response is sent
/// then, unless [`limits.permission`](crate::Limits::permission) has passed.
///
/// ```
/// use bowline_host::{Options, PermissionResult, ToolRequest};
///
/// let options = Options::default().can_use_tool(async |request: ToolRequest| {
///     match request.tool_name.as_str() {
///         "Read" | "Grep" => PermissionResult::allow(),
///         other => PermissionResult::deny(format!("{other} is not for you")),
///     }
/// });
/// ```
pub trait CanUseTool: Send + Sync + 'static {
    /// Decides. An error is sent to the agent, which then does not run the tool.
    fn decide(&self, request: ToolRequest) -> BoxFuture<'_, Result<PermissionResult, String>>;
}

impl<F, Fut> CanUseTool for F
where
    F: Fn(ToolRequest) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoAnswer<PermissionResult>> + Send + 'static,
{
    fn decide(&self, request: ToolRequest) -> BoxFuture<'_, Result<PermissionResult, String>> {
        let decision = self(request);
        Box::pin(async move { decision.await.into_answer() })
    }
}

/// A permission request for a tool call. It derefs to the request on the wire.
///
/// ```
/// use bowline_host::{
///     PermissionBehavior, PermissionResult, PermissionRule, PermissionUpdate, ToolRequest,
///     UpdateDestination,
/// };
/// use serde_json::json;
///
/// #[derive(serde::Deserialize)]
/// struct Bash {
///     command: String,
/// }
///
/// async fn decide(request: ToolRequest) -> serde_json::Result<PermissionResult> {
///     Ok(match (request.tool_name.as_str(), &request.permission_suggestions) {
///         ("Read", Some(changes)) => PermissionResult::allow_from_now_on(changes.clone()),
///         ("Bash", _) if request.parse_input::<Bash>()?.command.contains("rm ") => {
///             let harmless = PermissionRule::scoped("Bash", "echo *");
///             let from_now_on = PermissionUpdate::add_rules(
///                 UpdateDestination::Session,
///                 PermissionBehavior::Allow,
///                 [harmless],
///             );
///             PermissionResult::allow_with(json!({"command": "echo no", "description": "Say no"}))
///                 .and_from_now_on([from_now_on])
///         }
///         ("WebFetch", _) => PermissionResult::deny_and_stop("nothing leaves this machine"),
///         _ => PermissionResult::allow(),
///     })
/// }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolRequest {
    /// The request.
    pub request: bowline_protocol::CanUseTool,
    /// Id of the request on the wire. Requests of an agent in this process have none.
    pub request_id: Option<RequestId>,
    /// Fires when the response is no longer wanted; for work that outlives the callback.
    pub cancel: CancellationToken,
}

impl ToolRequest {
    pub(crate) fn new(
        request: bowline_protocol::CanUseTool,
        request_id: Option<RequestId>,
        cancel: CancellationToken,
    ) -> Self {
        Self { request, request_id, cancel }
    }

    /// The input of the call, read into a type of yours.
    pub fn parse_input<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        self.request.input.parse()
    }
}

impl Deref for ToolRequest {
    type Target = bowline_protocol::CanUseTool;

    fn deref(&self) -> &Self::Target {
        &self.request
    }
}

#[cfg(test)]
mod tests {
    use bowline_protocol::{PermissionMode, PermissionUpdate, UpdateDestination};
    use serde_json::json;

    use super::*;

    #[test]
    fn decisions_have_the_form_of_the_wire() {
        let input = json!({"command": "ls"});
        let expected = json!({"behavior": "allow", "updatedInput": input});
        assert_eq!(json!(PermissionResult::allow_with(input)), expected);
        let mode = PermissionMode::AcceptEdits;
        let change = PermissionUpdate::set_mode(UpdateDestination::Session, mode);
        let expected = json!({"behavior": "allow", "updatedPermissions": [
            {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
        ]});
        assert_eq!(json!(PermissionResult::allow_from_now_on(vec![change])), expected);
        let expected = json!({"behavior": "deny", "message": "no", "interrupt": true});
        assert_eq!(json!(PermissionResult::deny_and_stop("no")), expected);
    }
}

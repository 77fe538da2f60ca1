//! Callback for dialogs that the agent wants the user to see.

use std::ops::Deref;

use bowline_protocol::{
    DialogCancelled, DialogCompleted, RawJson, RequestUserDialog, UserDialogResponse,
};
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::IntoAnswer;

/// Shows dialogs to the user. The agent waits for what becomes of them.
///
/// ```
/// use bowline_host::{DialogAnswer, DialogRequest, Options};
/// use serde_json::json;
///
/// let kinds = ["refusal_fallback_prompt"];
/// let options = Options::default().on_user_dialog(kinds, async |dialog: DialogRequest| {
///     match dialog.dialog_kind.as_str() {
///         "refusal_fallback_prompt" => DialogAnswer::Completed(json!({"choice": "retry"})),
///         _ => DialogAnswer::Cancelled,
///     }
/// });
/// ```
pub trait OnUserDialog: Send + Sync + 'static {
    /// Shows one. An error is sent to the agent.
    fn show(&self, request: DialogRequest) -> BoxFuture<'_, Result<DialogAnswer, String>>;
}

impl<F, Fut> OnUserDialog for F
where
    F: Fn(DialogRequest) -> Fut + Send + Sync + 'static,
    Fut: Future<Output: IntoAnswer<DialogAnswer>> + Send + 'static,
{
    fn show(&self, request: DialogRequest) -> BoxFuture<'_, Result<DialogAnswer, String>> {
        let response = self(request);
        Box::pin(async move { response.await.into_answer() })
    }
}

/// A dialog to show. It derefs to the request on the wire.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DialogRequest {
    /// The dialog.
    pub request: RequestUserDialog,
    /// Fires when the response is no longer wanted.
    pub cancel: CancellationToken,
}

impl DialogRequest {
    pub(crate) fn new(request: RequestUserDialog, cancel: CancellationToken) -> Self {
        Self { request, cancel }
    }
}

impl Deref for DialogRequest {
    type Target = RequestUserDialog;

    fn deref(&self) -> &RequestUserDialog {
        &self.request
    }
}

/// What became of a dialog.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum DialogAnswer {
    /// The user filled it in.
    Completed(Value),
    /// The user went away.
    Cancelled,
}

impl DialogAnswer {
    /// As the wire has it.
    pub(crate) fn into_wire(self) -> UserDialogResponse {
        match self {
            Self::Completed(value) => UserDialogResponse::Completed(DialogCompleted {
                result: RawJson::from(value),
                ..DialogCompleted::default()
            }),
            Self::Cancelled => UserDialogResponse::Cancelled(DialogCancelled::default()),
        }
    }
}

//! One run: a session that answers one prompt.

use std::{pin::pin, sync::Arc};

use bowline_engine::{
    BoxFuture, OpenError, PermissionPrompts, Session, SessionConfig, SessionEnd, SessionRequest,
    Sessions,
};
use bowline_protocol::{
    Content, Message, RawJson, ResultMessage, SessionId, UserMessage,
    jsonrpc::{ErrorObject, Id},
};
use serde::Deserialize;
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use crate::{
    host::{MessageDelivery, Questions, RunHost},
    output::{Output, Response},
    wire::{Params, cancelled, internal_error, invalid_params},
};

/// What `run` takes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunParams {
    /// A text, or content blocks.
    prompt: Content,
    /// The session to go on with.
    session_id: Option<SessionId>,
    /// Whether the client wants to see answers grow.
    #[serde(default)]
    stream: bool,
    /// How it gets the messages.
    #[serde(default)]
    delivery: MessageDelivery,
}

impl RunParams {
    pub(crate) fn read(params: Params) -> Result<Self, ErrorObject> {
        let params = params.named(&["prompt", "session_id"])?;
        let params: Self = serde_json::from_value(params).map_err(invalid_params)?;
        let is_empty = match &params.prompt {
            Content::Text(text) => text.trim().is_empty(),
            Content::Blocks(blocks) => blocks.is_empty(),
        };
        match is_empty {
            true => Err(invalid_params("the prompt is empty")),
            false => Ok(params),
        }
    }
}

/// A run under way.
pub(crate) struct Run {
    /// The request that began it.
    pub(crate) id: Option<Id>,
    pub(crate) session: SessionId,
    /// The responses of the batch it came in.
    pub(crate) batch: Option<Vec<Response>>,
    /// Stops it, and lets it say how far it came.
    pub(crate) cancel: CancellationToken,
    task: AbortOnDropHandle<Option<Box<ResultMessage>>>,
}

impl Run {
    /// Begins a run.
    pub(crate) async fn begin(
        id: Option<Id>,
        params: RunParams,
        sessions: &dyn Sessions,
        output: &Output,
        questions: &Arc<Questions>,
    ) -> Result<Self, ErrorObject> {
        let config = configured(&params, sessions)?;
        let (delivery, output) = (params.delivery, output.clone());
        let host = RunHost::new(id.clone(), delivery, output, Arc::clone(questions));
        let host = Arc::new(host);
        let (session, work) = Session::start(config, host.clone()).map_err(internal_error)?;
        session.prompt(UserMessage::prompt(params.prompt)).await;
        session.end_of_input().await;
        let cancel = CancellationToken::new();
        let named = session.id();
        let driven = drive(session, Box::pin(work), host, cancel.clone());
        let task = AbortOnDropHandle::new(tokio::spawn(driven));
        Ok(Self { id, session: named, batch: None, cancel, task })
    }

    /// Waits for the end.
    ///
    /// Cancel safety: nothing is lost when the future is dropped.
    pub(crate) async fn ended(&mut self) -> Result<Box<ResultMessage>, ErrorObject> {
        let result = match (&mut self.task).await {
            Ok(result) => result,
            Err(error) => return Err(internal_error(error)),
        };
        match result {
            _ if self.cancel.is_cancelled() => {
                let result = result.and_then(|it| RawJson::from_value(&Message::Result(it)).ok());
                Err(cancelled(result))
            }
            Some(result) => Ok(result),
            None => Err(internal_error("the session ended without a result")),
        }
    }
}

/// The session that a run wants.
fn configured(params: &RunParams, sessions: &dyn Sessions) -> Result<SessionConfig, ErrorObject> {
    let request = match &params.session_id {
        Some(id) => SessionRequest::resume(id.clone()),
        None => SessionRequest::new(),
    };
    let mut config = sessions.open(request).map_err(|error| match error {
        OpenError::NotFound(_) => invalid_params(error),
        error => internal_error(error),
    })?;
    config.include_partial_messages = params.stream;
    if config.permission_prompts == PermissionPrompts::Nobody {
        config.permission_prompts = PermissionPrompts::Host;
    }
    Ok(config)
}

/// Polls a session to its end; one that is cancelled stops what it does, and says how far it came.
async fn drive(
    session: Session,
    work: BoxFuture<'static, SessionEnd>,
    host: Arc<RunHost>,
    cancel: CancellationToken,
) -> Option<Box<ResultMessage>> {
    let mut work = pin!(work);
    let stopped = async {
        cancel.cancelled().await;
        session.shutdown();
        std::future::pending().await
    };
    tokio::select! {
        _ = &mut work => {}
        () = stopped => {}
    }
    host.take_result()
}

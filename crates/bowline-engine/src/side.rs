//! Requests to a model beside the conversation, which leave no trace in it.

use std::{sync::Arc, time::Duration};

use bowline_model::{
    ModelError, ModelMessage, ModelRequest, RetryPolicy, Thinking, ToolChoice, ToolDefinition,
};
use bowline_protocol::{ApiMessage, ContentBlock, TextBlock};

use crate::{
    config::SessionConfig,
    response::{ModelResponse, Step, Target},
    state::ModelSelection,
    usage::{Account, SessionUsage},
};

/// A request beside the conversation.
#[derive(Debug, Clone, Default)]
pub(crate) struct SideRequest {
    /// The model, if it is not the session's.
    pub(crate) model: Option<String>,
    /// The system prompt.
    pub(crate) instructions: String,
    /// The messages, of which the last is the task.
    pub(crate) messages: Vec<Arc<ModelMessage>>,
    /// What it may call.
    pub(crate) tools: Vec<Arc<ToolDefinition>>,
    /// Whether it must.
    pub(crate) tool_choice: Option<ToolChoice>,
    /// The most tokens of the response.
    pub(crate) max_tokens: u64,
}

impl SideRequest {
    /// A request of one message.
    pub(crate) fn new(instructions: &str, content: Vec<ContentBlock>, max_tokens: u64) -> Self {
        Self {
            instructions: instructions.to_owned(),
            messages: vec![Arc::new(ModelMessage::user(content))],
            max_tokens,
            ..Self::default()
        }
    }
}

/// An attempt that follows a failed one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Retry {
    pub(crate) attempt: u32,
    pub(crate) max_retries: u32,
    pub(crate) delay: Duration,
    pub(crate) status: Option<u16>,
}

/// Sends requests to models beside the conversation. The session's model unless a request names one.
pub(crate) struct SideModel {
    models: Arc<ModelSelection>,
    usage: Arc<SessionUsage>,
    retry: RetryPolicy,
    betas: Vec<String>,
}

impl SideModel {
    pub(crate) fn new(
        config: &SessionConfig,
        models: &Arc<ModelSelection>,
        usage: &Arc<SessionUsage>,
    ) -> Self {
        Self {
            models: Arc::clone(models),
            usage: Arc::clone(usage),
            retry: config.retry.clone(),
            betas: config.betas.clone(),
        }
    }

    /// Sends a request. A response that broke off is better than none.
    ///
    /// Cancel safety: dropping the future closes the connection; what was used until then is billed.
    pub(crate) async fn request(&self, request: SideRequest) -> Result<ApiMessage, ModelError> {
        self.request_with_retries(request, |_| std::future::ready(())).await
    }

    /// The same for callers that report failed attempts.
    pub(crate) async fn request_with_retries<F>(
        &self,
        side: SideRequest,
        mut retried: impl FnMut(Retry) -> F,
    ) -> Result<ApiMessage, ModelError>
    where
        F: Future<Output = ()>,
    {
        let connected = match &side.model {
            Some(name) => self.models.connect(name)?,
            None => self.models.connect_selected()?,
        };
        let mut request = ModelRequest::new(connected.wire_name);
        request.system = vec![TextBlock { text: side.instructions, ..TextBlock::default() }];
        request.messages = side.messages;
        request.tools = side.tools;
        request.tool_choice = side.tool_choice;
        request.max_tokens = Some(side.max_tokens);
        request.thinking = Some(Thinking::Disabled);
        request.betas = self.betas.clone();
        let target =
            Target { model: connected.model, name: connected.name, request: Arc::new(request) };
        let response = ModelResponse::new(target, Vec::new(), self.retry.clone());
        let mut billed = Billed { usage: &self.usage, response };
        loop {
            match billed.response.next().await {
                Step::Event(..) | Step::Fallback { .. } => {}
                Step::Retry { error, attempt, delay } => {
                    billed.record();
                    let max_retries = billed.response.max_retries();
                    retried(Retry { attempt, max_retries, delay, status: error.status }).await;
                }
                Step::Done | Step::Cut(_) => return Ok(billed.response.message().clone()),
                Step::Failed(error) => return Err(error),
            }
        }
    }
}

/// The text of a response, without anything else.
pub(crate) fn text_of(response: &ApiMessage) -> String {
    response.content.iter().filter_map(ContentBlock::as_text).collect()
}

/// A response whose usage is recorded however it ends.
struct Billed<'a> {
    usage: &'a SessionUsage,
    response: ModelResponse,
}

impl Billed<'_> {
    fn record(&mut self) {
        let (took, used) = (self.response.take_api_time(), self.response.take_usage());
        self.usage.record(Account::Side, took, used);
    }
}

impl Drop for Billed<'_> {
    fn drop(&mut self) {
        self.record();
    }
}

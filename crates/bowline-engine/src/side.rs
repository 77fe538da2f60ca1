//! Questions to a model beside the conversation: one request, one answer, no trace in what was said.

use std::{sync::Arc, time::Duration};

use bowline_model::{ModelError, ModelMessage, ModelRequest, Thinking, ToolChoice, ToolDefinition};
use bowline_protocol::{ApiMessage, ContentBlock, TextBlock};

use crate::{
    response::{ModelResponse, Step, Target},
    session::Shared,
    usage::Account,
};

/// What is asked.
#[derive(Debug, Clone, Default)]
pub(crate) struct Question {
    /// The model, if it is not the session's.
    pub(crate) model: Option<String>,
    /// What the model is told first.
    pub(crate) instructions: String,
    /// What it is asked; the last message is the question.
    pub(crate) messages: Vec<Arc<ModelMessage>>,
    /// What it may call.
    pub(crate) tools: Vec<Arc<ToolDefinition>>,
    /// Whether it must.
    pub(crate) tool_choice: Option<ToolChoice>,
    /// The most it may say, in tokens.
    pub(crate) max_tokens: u64,
}

impl Question {
    /// A question that one message tells completely.
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

/// Asks. What there is of an answer that broke off is better than none.
///
/// Cancel safety: dropping the future closes the connection; what was used until then is billed.
pub(crate) async fn ask(shared: &Shared, question: Question) -> Result<ApiMessage, ModelError> {
    ask_patiently(shared, question, |_| std::future::ready(())).await
}

/// The same for somebody who wants to hear of failed attempts.
pub(crate) async fn ask_patiently<F>(
    shared: &Shared,
    question: Question,
    mut retried: impl FnMut(Retry) -> F,
) -> Result<ApiMessage, ModelError>
where
    F: Future<Output = ()>,
{
    let connected = match &question.model {
        Some(name) => shared.config.models.connect(name)?,
        None => shared.model()?,
    };
    let mut request = ModelRequest::new(connected.wire_name);
    request.system = vec![TextBlock { text: question.instructions, ..TextBlock::default() }];
    request.messages = question.messages;
    request.tools = question.tools;
    request.tool_choice = question.tool_choice;
    request.max_tokens = Some(question.max_tokens);
    request.thinking = Some(Thinking::Disabled);
    request.betas = shared.config.betas.clone();
    let target =
        Target { model: connected.model, name: connected.name, request: Arc::new(request) };
    let answer = ModelResponse::new(target, Vec::new(), shared.retry_policy());
    let mut billed = Billed { shared, answer };
    loop {
        match billed.answer.next().await {
            Step::Event(..) | Step::Fallback { .. } => {}
            Step::Retry { error, attempt, delay } => {
                billed.enter();
                let max_retries = billed.answer.max_retries();
                retried(Retry { attempt, max_retries, delay, status: error.status }).await;
            }
            Step::Done | Step::Cut(_) => return Ok(billed.answer.message().clone()),
            Step::Failed(error) => return Err(error),
        }
    }
}

/// All that was said, without anything else.
pub(crate) fn text_of(answer: &ApiMessage) -> String {
    answer.content.iter().filter_map(ContentBlock::as_text).collect()
}

/// An answer that is entered in the books however it ends.
struct Billed<'a> {
    shared: &'a Shared,
    answer: ModelResponse,
}

impl Billed<'_> {
    fn enter(&mut self) {
        self.shared.enter_answer(Account::Side, &mut self.answer);
    }
}

impl Drop for Billed<'_> {
    fn drop(&mut self) {
        self.enter();
    }
}

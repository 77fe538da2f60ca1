//! Model request for a summary of the conversation.

use std::sync::Arc;

use bowline_model::ModelMessage;
use bowline_protocol::{ContentBlock, Role};
use tokio_util::sync::CancellationToken;

use super::{CompactError, texts};
use crate::{
    agent::Agent,
    conversation::Conversation,
    response::{ModelResponse, Step},
    usage::Account,
};

/// How often the older half is dropped when even the request for a summary is too long.
const MOST_HALVINGS: u32 = 3;

/// Requests a summary of `messages` that follows the `wishes`. Returns the model's text.
///
/// The request has the conversation as its prefix, so that the API's cache applies.
pub(super) async fn request(
    agent: &Agent,
    messages: &[Arc<ModelMessage>],
    wishes: &[String],
    cancel: &CancellationToken,
) -> Result<String, CompactError> {
    let mut messages = messages;
    let mut halvings = 0;
    loop {
        match request_once(agent, messages, wishes, cancel).await {
            Err(CompactError::Model(error))
                if error.is_context_overflow() && halvings < MOST_HALVINGS =>
            {
                halvings += 1;
                messages = newer_half(messages).ok_or(CompactError::Model(error))?;
            }
            result => return result,
        }
    }
}

async fn request_once(
    agent: &Agent,
    messages: &[Arc<ModelMessage>],
    wishes: &[String],
    cancel: &CancellationToken,
) -> Result<String, CompactError> {
    let mut conversation = Conversation::from_shared(messages.to_vec());
    conversation.push_user(vec![ContentBlock::text(texts::request(wishes))]);
    let (target, fallbacks) = agent.target_for(&conversation).map_err(CompactError::Model)?;
    let mut response = ModelResponse::new(target, fallbacks, agent.session.config.retry.clone());
    let ended = loop {
        let step = tokio::select! {
            biased;
            () = cancel.cancelled() => break Err(CompactError::Interrupted),
            step = response.next() => step,
        };
        match step {
            Step::Event(..) | Step::Fallback { .. } => {}
            Step::Retry { .. } => {
                agent.session.usage.record(
                    Account::Side,
                    response.take_api_time(),
                    response.take_usage(),
                );
            }
            Step::Done => break Ok(()),
            Step::Cut(error) | Step::Failed(error) => break Err(CompactError::Model(error)),
        }
    };
    agent.session.usage.record(Account::Side, response.take_api_time(), response.take_usage());
    ended?;
    let texts = response.message().content.iter().filter_map(ContentBlock::as_text);
    let text = texts.collect::<Vec<_>>().join("\n");
    match text.trim().is_empty() {
        true => Err(CompactError::NoSummary),
        false => Ok(text),
    }
}

/// The newer half, beginning at a prompt: the API refuses results without their calls.
fn newer_half(messages: &[Arc<ModelMessage>]) -> Option<&[Arc<ModelMessage>]> {
    let is_prompt = |message: &&Arc<ModelMessage>| {
        let holds_result = |block: &ContentBlock| matches!(block, ContentBlock::ToolResult(_));
        message.role == Role::User && !message.content.iter().any(holds_result)
    };
    let middle = messages.len().div_ceil(2);
    let from = messages.iter().enumerate().skip(middle.max(1)).find(|(_, it)| is_prompt(it))?.0;
    Some(&messages[from..])
}

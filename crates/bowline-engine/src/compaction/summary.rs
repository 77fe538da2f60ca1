//! Asking the model for a summary of the conversation.

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

/// How often the older half is left out when even the request for a summary is too long.
const MOST_HALVINGS: u32 = 3;

/// Asks for a summary of `messages` that heeds the wishes. Returns what the model said.
///
/// The request repeats the conversation as it is, so that the API has it in its cache.
pub(super) async fn ask(
    agent: &Agent,
    messages: &[Arc<ModelMessage>],
    wishes: &[String],
    cancel: &CancellationToken,
) -> Result<String, CompactError> {
    let mut messages = messages;
    let mut halvings = 0;
    loop {
        match ask_once(agent, messages, wishes, cancel).await {
            Err(CompactError::Model(error))
                if error.is_context_overflow() && halvings < MOST_HALVINGS =>
            {
                halvings += 1;
                messages = newer_half(messages).ok_or(CompactError::Model(error))?;
            }
            answered => return answered,
        }
    }
}

async fn ask_once(
    agent: &Agent,
    messages: &[Arc<ModelMessage>],
    wishes: &[String],
    cancel: &CancellationToken,
) -> Result<String, CompactError> {
    let mut asked = Conversation::from_shared(messages.to_vec());
    asked.push_user(vec![ContentBlock::text(texts::request(wishes))]);
    let (target, fallbacks) = agent.target_for(&asked).map_err(CompactError::Model)?;
    let mut answer = ModelResponse::new(target, fallbacks, agent.session.config.retry.clone());
    let ended = loop {
        let step = tokio::select! {
            biased;
            () = cancel.cancelled() => break Err(CompactError::Interrupted),
            step = answer.next() => step,
        };
        match step {
            Step::Event(..) | Step::Fallback { .. } => {}
            Step::Retry { .. } => {
                agent.session.usage.record(
                    Account::Side,
                    answer.take_api_time(),
                    answer.take_usage(),
                );
            }
            Step::Done => break Ok(()),
            Step::Cut(error) | Step::Failed(error) => break Err(CompactError::Model(error)),
        }
    };
    agent.session.usage.record(Account::Side, answer.take_api_time(), answer.take_usage());
    ended?;
    let texts = answer.message().content.iter().filter_map(ContentBlock::as_text);
    let said = texts.collect::<Vec<_>>().join("\n");
    match said.trim().is_empty() {
        true => Err(CompactError::NoSummary),
        false => Ok(said),
    }
}

/// The newer half, from a prompt on: results without their calls would be refused.
fn newer_half(messages: &[Arc<ModelMessage>]) -> Option<&[Arc<ModelMessage>]> {
    let is_prompt = |message: &&Arc<ModelMessage>| {
        let holds_result = |block: &ContentBlock| matches!(block, ContentBlock::ToolResult(_));
        message.role == Role::User && !message.content.iter().any(holds_result)
    };
    let middle = messages.len().div_ceil(2);
    let from = messages.iter().enumerate().skip(middle.max(1)).find(|(_, it)| is_prompt(it))?.0;
    Some(&messages[from..])
}

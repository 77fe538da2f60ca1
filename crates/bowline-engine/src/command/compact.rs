//! `/compact`: summarizes the conversation on request.

use bowline_protocol::{CompactTrigger, Content, ResultMessage, UserMessage};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{local, texts};
use crate::{agent::Agent, clock::timestamp, compaction::CompactError, library::Invocation};

pub(super) async fn run(
    agent: &mut Agent,
    name: &str,
    invocation: &Invocation,
    prompt: &UserMessage,
    cancel: &CancellationToken,
) -> ResultMessage {
    let began = Instant::now();
    let session = std::sync::Arc::clone(&agent.session);
    let instructions = Some(invocation.args.as_str()).filter(|args| !args.is_empty());
    match agent.compact(CompactTrigger::Manual, instructions, cancel).await {
        Ok(compacted) => {
            local::announce(agent, prompt).await;
            agent.announce_compaction(&compacted).await;
            let mut message = UserMessage::prompt(Content::from(texts::stdout(&format!(
                "Compacted {}",
                compacted.hook_lines.join("\n")
            ))));
            message.is_replay = Some(true);
            message.timestamp = Some(timestamp());
            session.sink.send(message).await;
            local::result(&session, invocation, "", began)
        }
        Err(error) => {
            let text = match &error {
                CompactError::Empty => error.to_string(),
                CompactError::Interrupted => {
                    "Compaction was interrupted; nothing has changed.".to_owned()
                }
                error => {
                    format!("The conversation could not be compacted and is as it was: {error}")
                }
            };
            local::announce(agent, prompt).await;
            let report = local::Report::new(name, invocation, text).failed();
            let mut result = local::send_report(agent, report).await;
            // A hook that objects works as intended, and an empty conversation needs no compaction: no error.
            result.is_error = !matches!(error, CompactError::Blocked(_) | CompactError::Empty);
            if matches!(error, CompactError::Empty) {
                result.result = Some(String::new());
            }
            result
        }
    }
}

//! Prompts of MCP servers, called like commands: `/mcp__server__prompt words`.

use bowline_mcp::McpPrompt;
use bowline_protocol::Content;
use tokio_util::sync::CancellationToken;

use super::{Expanding, Expansion, Outcome, expansion_hooks, local, refuse};
use crate::{agent::Agent, library::Invocation};

/// The mark that hosts list after the name of such a command.
const MARK: &str = "(MCP)";

/// Requests the prompt from its server, and passes it to the model.
pub(super) async fn run(
    agent: &mut Agent,
    called: &McpPrompt,
    invocation: &Invocation,
    cancel: &CancellationToken,
) -> Outcome {
    let expanding =
        Expanding { kind: "mcp_prompt", name: &called.command, source: &called.server, invocation };
    let context = match expansion_hooks(&agent.session, &expanding, cancel).await {
        Ok(context) => context,
        Err(refusal) => {
            let result = refuse(agent, refusal, Vec::new()).await;
            return Outcome::Completed(Box::new(result));
        }
    };
    let words = invocation.args.strip_prefix(MARK).unwrap_or(&invocation.args);
    let filled = tokio::select! {
        filled = agent.session.mcp.get_prompt(&called.command, words) => {
            filled.map_err(|error| error.to_string())
        }
        () = cancel.cancelled() => Err("The prompt was interrupted.".to_owned()),
    };
    match filled {
        Ok(messages) => {
            let contents = messages.into_iter().map(|message| message.content);
            let blocks = contents.flat_map(Content::into_blocks).collect();
            Outcome::Expanded(Expansion { blocks, context, model: None })
        }
        Err(problem) => {
            let report = local::Report::new(&called.command, invocation, problem);
            Outcome::Completed(Box::new(local::send_report(agent, report).await))
        }
    }
}

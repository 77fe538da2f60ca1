//! MCP servers of tools inside the engine's own process, called without JSON-RPC.

use std::{path::Path, pin::pin, time::Duration};

use bowline_protocol::{McpServerInfo, ToolListing, ToolResult};
use bowline_tools::{FailureStage, ToolFailure, ToolOutput, ToolSpec};
use tokio::{sync::Notify, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::{
    result,
    spec::{ServerTool, tool_spec},
};

/// The error of a call whose server went away before there was a result.
const INTERRUPTED: &str = "The tool call was interrupted before a result was received. \
    It may or may not have completed on the server — verify before assuming it succeeded, and \
    retry if needed.";

/// An MCP server of tools inside this process.
#[derive(Debug)]
#[non_exhaustive]
pub struct InProcessServer {
    /// Its name and version.
    pub info: McpServerInfo,
    /// How the model should use it.
    pub instructions: Option<String>,
    /// Its tools.
    pub tools: Vec<ServerTool>,
}

impl InProcessServer {
    /// A server with these tools.
    pub fn new(info: McpServerInfo, tools: Vec<ServerTool>) -> Self {
        Self { info, instructions: None, tools }
    }
}

/// Limits of the calls of one server's tools.
#[derive(Debug, Clone)]
pub struct CallLimits {
    pub(crate) server: String,
    /// How long a call may run without reporting progress.
    pub(crate) timeout: Duration,
    /// How many characters a result may have, unless its tool says otherwise.
    pub(crate) max_result_chars: usize,
    /// Fires when the server is disabled or removed, or the session ends.
    pub(crate) closed: CancellationToken,
}

impl CallLimits {
    /// A tool of the server as the engine knows it: `mcp__<server>__<tool>`.
    pub fn spec(&self, listing: &ToolListing) -> ToolSpec {
        tool_spec(&self.server, listing, self.max_result_chars)
    }

    /// The output of a call of `tool`, which `work` performs. `progress` restarts the timeout.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops `work`.
    pub async fn run(
        &self,
        tool: &str,
        spec: &ToolSpec,
        results_dir: &Path,
        progress: &Notify,
        work: impl Future<Output = ToolResult>,
    ) -> Result<ToolOutput, ToolFailure> {
        let mut work = pin!(work);
        let result = loop {
            tokio::select! {
                biased;
                result = timeout(self.timeout, &mut work) => match result {
                    Ok(result) => break result,
                    Err(_) => return Err(timed_out(&self.server, tool, self.timeout)),
                },
                () = progress.notified() => {}
                () = self.closed.cancelled() => return Err(interrupted()),
            }
        };
        result::output(result, &self.server, results_dir, spec.max_result_chars).await
    }
}

/// The server went away during the call.
pub(crate) fn interrupted() -> ToolFailure {
    let mut failure = ToolFailure::running(INTERRUPTED);
    failure.stage = FailureStage::Interrupted;
    failure
}

/// The call took longer than it may.
pub(crate) fn timed_out(server: &str, tool: &str, limit: Duration) -> ToolFailure {
    let seconds = limit.as_secs_f64();
    ToolFailure::running(format!(
        "MCP server \"{server}\" tool \"{tool}\" timed out after {seconds}s"
    ))
}

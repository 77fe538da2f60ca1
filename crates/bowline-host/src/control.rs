//! What a client may ask of its agent while it works.

use std::collections::BTreeMap;

use bowline_protocol::{
    AccountInfo, AgentInfo, ApplyFlagSettings, BackgroundTasks, BackgroundTasksResponse, Call,
    ContextUsage, GetContextUsage, HostRequest, InitializeResponse, Interrupt, InterruptResponse,
    Maybe, McpReconnect, McpServerConfig, McpSetServers, McpSetServersResponse, McpStatus,
    McpStatusResponse, McpToggle, MessageUuid, ModelInfo, PermissionMode, RenameSession,
    RewindFiles, RewindFilesResponse, SetMaxThinkingTokens, SetModel, SetModelResponse,
    SetPermissionMode, SlashCommand, StopTask, TaskId,
};

use crate::{Client, Error};

impl Client {
    /// Asks anything the protocol knows, also what has no method here.
    ///
    /// ```no_run
    /// # async fn run(client: bowline_host::Client) -> Result<(), bowline_host::Error> {
    /// use bowline_host::protocol::GetSessionCost;
    ///
    /// let cost = client.ask(GetSessionCost::default()).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn ask<C: Call<Request = HostRequest>>(&self, call: C) -> Result<C::Response, Error> {
        self.connection.ask(call).await
    }

    /// Stops the turn that runs. Prompts that wait are still worked on; the answer names them.
    pub async fn interrupt(&self) -> Result<InterruptResponse, Error> {
        self.ask(Interrupt::default()).await
    }

    /// Uses another model from now on; `None` goes back to the one it started with.
    pub async fn set_model(&self, model: Option<&str>) -> Result<SetModelResponse, Error> {
        let model = model.map_or(Maybe::Null, |model| Maybe::Value(model.to_owned()));
        self.ask(SetModel { model, ..SetModel::default() }).await
    }

    /// Is more or less strict about tools from now on. Returns the mode that is set.
    pub async fn set_permission_mode(&self, mode: PermissionMode) -> Result<PermissionMode, Error> {
        let call = SetPermissionMode { mode, ..SetPermissionMode::default() };
        Ok(self.ask(call).await?.mode)
    }

    /// Lets the model think this long from now on; `None` leaves it to the model.
    pub async fn set_max_thinking_tokens(&self, tokens: Option<u64>) -> Result<(), Error> {
        let max_thinking_tokens = tokens.map_or(Maybe::Null, Maybe::Value);
        let call = SetMaxThinkingTokens { max_thinking_tokens, ..SetMaxThinkingTokens::default() };
        self.ask(call).await.map(|_| ())
    }

    /// How the MCP servers are doing.
    pub async fn mcp_status(&self) -> Result<McpStatusResponse, Error> {
        self.ask(McpStatus::default()).await
    }

    /// Uses these MCP servers in place of those set before.
    pub async fn set_mcp_servers(
        &self,
        servers: BTreeMap<String, McpServerConfig>,
    ) -> Result<McpSetServersResponse, Error> {
        self.ask(McpSetServers { servers, ..McpSetServers::default() }).await
    }

    /// Connects to an MCP server again.
    pub async fn reconnect_mcp_server(&self, name: impl Into<String>) -> Result<(), Error> {
        let call = McpReconnect { server_name: name.into(), ..McpReconnect::default() };
        self.ask(call).await.map(|_| ())
    }

    /// Switches an MCP server on.
    pub async fn enable_mcp_server(&self, name: impl Into<String>) -> Result<(), Error> {
        self.toggle_mcp_server(name.into(), true).await
    }

    /// Switches an MCP server off.
    pub async fn disable_mcp_server(&self, name: impl Into<String>) -> Result<(), Error> {
        self.toggle_mcp_server(name.into(), false).await
    }

    async fn toggle_mcp_server(&self, server_name: String, enabled: bool) -> Result<(), Error> {
        self.ask(McpToggle { server_name, enabled, ..McpToggle::default() }).await.map(|_| ())
    }

    /// Puts files back as they were before a prompt. Needs
    /// [`file_checkpointing`](crate::Options::file_checkpointing) and the prompt's uuid.
    pub async fn rewind_files(
        &self,
        prompt: impl Into<MessageUuid>,
    ) -> Result<RewindFilesResponse, Error> {
        self.ask(RewindFiles { user_message_id: prompt.into(), ..RewindFiles::default() }).await
    }

    /// What [`rewind_files`](Self::rewind_files) would do.
    pub async fn preview_rewind(
        &self,
        prompt: impl Into<MessageUuid>,
    ) -> Result<RewindFilesResponse, Error> {
        let dry_run = Some(true);
        self.ask(RewindFiles { user_message_id: prompt.into(), dry_run, ..RewindFiles::default() })
            .await
    }

    /// What fills the context.
    pub async fn context_usage(&self) -> Result<ContextUsage, Error> {
        self.ask(GetContextUsage::default()).await
    }

    /// Stops a background task.
    pub async fn stop_task(&self, task: impl Into<TaskId>) -> Result<(), Error> {
        self.ask(StopTask { task_id: task.into(), ..StopTask::default() }).await.map(|_| ())
    }

    /// Lets everything that runs go on in the background.
    pub async fn background_tasks(&self) -> Result<BackgroundTasksResponse, Error> {
        self.ask(BackgroundTasks::default()).await
    }

    /// Uses these settings above those of files from now on.
    pub async fn apply_flag_settings(&self, call: ApplyFlagSettings) -> Result<(), Error> {
        self.ask(call).await.map(|_| ())
    }

    /// Gives the session another title.
    pub async fn rename_session(&self, title: impl Into<String>) -> Result<(), Error> {
        self.ask(RenameSession { title: title.into(), ..RenameSession::default() })
            .await
            .map(|_| ())
    }

    /// What the agent said when it was started.
    pub fn initialization(&self) -> &InitializeResponse {
        &self.connection.initialized
    }

    /// The models there are.
    pub fn supported_models(&self) -> &[ModelInfo] {
        &self.initialization().models
    }

    /// The slash commands there are.
    pub fn supported_commands(&self) -> &[SlashCommand] {
        &self.initialization().commands
    }

    /// The kinds of subagents there are.
    pub fn supported_agents(&self) -> &[AgentInfo] {
        &self.initialization().agents
    }

    /// Who pays.
    pub fn account_info(&self) -> &AccountInfo {
        &self.initialization().account
    }
}

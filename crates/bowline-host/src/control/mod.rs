//! Control requests of a client. Methods have the names they have in the
//! official SDKs.

mod files;
mod servers;
mod settings;
mod tasks;

use bowline_protocol::{
    AccountInfo, AgentInfo, Call, CancelAsyncMessage, ContextDetail, ContextUsage,
    GenerateSessionTitle, GetContextUsage, GetSessionCost, GetUsage, HostRequest,
    InitializeResponse, Interrupt, InterruptResponse, Maybe, MessageUuid, ModelInfo,
    PermissionMode, RenameSession, SessionCostResponse, SetMaxThinkingTokens, SetModel,
    SetModelResponse, SetPermissionMode, SideQuestion, SlashCommand, UsageResponse,
};

use crate::{Client, Error};

impl Client {
    /// Sends any request of the protocol, also one that has no method here, and with all the fields that its
    /// method does not take.
    ///
    /// ```no_run
    /// # async fn run(client: bowline_host::Client) -> Result<(), bowline_host::Error> {
    /// use bowline_host::protocol::{GetStatus, SetModel};
    ///
    /// let status = client.request(GetStatus::default()).await?;
    /// let back_to_the_first = client.request(SetModel::default()).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn request<C: Call<Request = HostRequest>>(
        &self,
        call: C,
    ) -> Result<C::Response, Error> {
        self.connection.request(call).await
    }

    /// Stops the turn that runs. Queued prompts are still worked on; the response names them.
    pub async fn interrupt(&self) -> Result<InterruptResponse, Error> {
        self.request(Interrupt::default()).await
    }

    /// Cancels a queued prompt, by the uuid it was sent with. Returns whether it was still queued.
    pub async fn cancel_message(&self, prompt: impl Into<MessageUuid>) -> Result<bool, Error> {
        let call =
            CancelAsyncMessage { message_uuid: prompt.into(), ..CancelAsyncMessage::default() };
        Ok(self.request(call).await?.cancelled)
    }

    /// Uses another model from now on; `None` goes back to the one it started with.
    pub async fn set_model(&self, model: Option<&str>) -> Result<SetModelResponse, Error> {
        let model = model.map_or(Maybe::Null, |model| Maybe::Value(model.to_owned()));
        self.request(SetModel { model, ..SetModel::default() }).await
    }

    /// Is more or less strict about tools from now on. Returns the mode that is set.
    pub async fn set_permission_mode(&self, mode: PermissionMode) -> Result<PermissionMode, Error> {
        let call = SetPermissionMode { mode, ..SetPermissionMode::default() };
        Ok(self.request(call).await?.mode)
    }

    /// Lets the model think this long from now on; `None` leaves it to the model.
    pub async fn set_max_thinking_tokens(&self, tokens: Option<u64>) -> Result<(), Error> {
        let max_thinking_tokens = thinking_tokens(tokens);
        let call = SetMaxThinkingTokens { max_thinking_tokens, ..SetMaxThinkingTokens::default() };
        self.request(call).await.map(|_| ())
    }

    /// The same, and shows what it thinks like this from now on: `summarized`,
    /// `highlights` or `omitted`.
    pub async fn set_max_thinking_tokens_shown(
        &self,
        tokens: Option<u64>,
        display: impl Into<String>,
    ) -> Result<(), Error> {
        let call = SetMaxThinkingTokens {
            max_thinking_tokens: thinking_tokens(tokens),
            thinking_display: Maybe::Value(display.into()),
            ..SetMaxThinkingTokens::default()
        };
        self.request(call).await.map(|_| ())
    }

    /// What fills the context.
    pub async fn context_usage(&self) -> Result<ContextUsage, Error> {
        self.request(GetContextUsage::default()).await
    }

    /// Usage of the context by category, counted with the requested precision.
    pub async fn context_usage_in_detail(
        &self,
        detail: ContextDetail,
    ) -> Result<ContextUsage, Error> {
        self.request(GetContextUsage { detail: Some(detail), ..GetContextUsage::default() }).await
    }

    /// How much of the user's allowance is used.
    pub async fn usage(&self) -> Result<UsageResponse, Error> {
        self.request(GetUsage::default()).await
    }

    /// What the session has cost.
    pub async fn session_cost(&self) -> Result<SessionCostResponse, Error> {
        self.request(GetSessionCost::default()).await
    }

    /// Gets a response from the model without making it part of the conversation.
    pub async fn side_question(
        &self,
        question: impl Into<String>,
    ) -> Result<<SideQuestion as Call>::Response, Error> {
        self.request(SideQuestion { question: question.into(), ..SideQuestion::default() }).await
    }

    /// Gives the session another title.
    pub async fn rename_session(&self, title: impl Into<String>) -> Result<(), Error> {
        self.request(RenameSession { title: title.into(), ..RenameSession::default() })
            .await
            .map(|_| ())
    }

    /// Thinks of a title for a session that is about this.
    pub async fn generate_session_title(
        &self,
        about: impl Into<String>,
    ) -> Result<<GenerateSessionTitle as Call>::Response, Error> {
        let description = about.into();
        self.request(GenerateSessionTitle { description, ..GenerateSessionTitle::default() }).await
    }

    /// The agent's response to `initialize`: `get_server_info`, `initializationResult`.
    pub fn initialization(&self) -> &InitializeResponse {
        &self.connection.initialized
    }

    /// Sends `initialize` again, and returns the response.
    pub async fn reinitialize(&self) -> Result<InitializeResponse, Error> {
        self.request(self.connection.opening.clone()).await
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

/// What stands for this many tokens, or for as many as the model likes.
fn thinking_tokens(tokens: Option<u64>) -> Maybe<i64> {
    // More than fits is more than any model thinks.
    let tokens = tokens.map(|tokens| i64::try_from(tokens).unwrap_or(i64::MAX));
    tokens.map_or(Maybe::Null, Maybe::Value)
}

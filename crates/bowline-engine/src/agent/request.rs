//! What an agent asks its model: the conversation, the tools, and how to answer.

use std::sync::Arc;

use bowline_model::{ModelError, ModelRequest, Thinking};
use bowline_protocol::TextBlock;
use serde_json::json;

use super::Agent;
use crate::{config::ConnectedModel, conversation::Conversation, ledger, turn::answer::Target};

/// The most a model is asked to write at once: enough for any answer, and no reason to be refused.
const MAX_OUTPUT: u64 = 64_000;

impl Agent {
    /// Where the next request goes, and where else if that is overloaded.
    pub(crate) fn target(&self) -> Result<(Target, Vec<Target>), ModelError> {
        self.target_for(&self.conversation)
    }

    /// The same for another conversation than its own.
    pub(crate) fn target_for(
        &self,
        conversation: &Conversation,
    ) -> Result<(Target, Vec<Target>), ModelError> {
        let session = &self.session;
        let first = match &self.instructions.model {
            Some(name) => session.config.models.connect(name)?,
            None => session.model()?,
        };
        let fallbacks = session.config.fallback_models.iter();
        let fallbacks = fallbacks.filter_map(|name| session.config.models.connect(name).ok());
        let fallbacks =
            fallbacks.map(|connected| self.target_of(connected, conversation)).collect();
        Ok((self.target_of(first, conversation), fallbacks))
    }

    fn target_of(&self, connected: ConnectedModel, conversation: &Conversation) -> Target {
        let ConnectedModel { model, wire_name, name } = connected;
        let live = self.session.live();
        let mut request = ModelRequest::new(wire_name);
        request.system = self.system_blocks();
        request.messages = conversation.messages().to_vec();
        request.tools = self.tools.definitions().to_vec();
        request.max_tokens = Some(ledger::max_output(&name).min(MAX_OUTPUT));
        request.thinking = live.thinking.or(Some(Thinking::Adaptive { display: None }));
        request.effort = self.instructions.effort.or(live.effort);
        request.betas = self.session.config.betas.clone();
        if let Some(total) = self.session.config.task_budget {
            let budget = json!({"task_budget": {"type": "tokens", "total": total}});
            request.extra.insert("output_config".to_owned(), budget);
        }
        Target { model, name, request: Arc::new(request) }
    }

    fn system_blocks(&self) -> Vec<TextBlock> {
        let block = |text: &String| TextBlock { text: text.clone(), ..TextBlock::default() };
        let said = self.instructions.system.iter().filter(|text| !text.is_empty());
        said.map(block).collect()
    }
}

//! Request of an agent to its model: conversation, tools, thinking and effort.

use std::sync::Arc;

use bowline_model::{KnownModel, ModelError, ModelRequest, Thinking, Thinks, known_model};
use bowline_protocol::TextBlock;
use serde_json::json;

use super::Agent;
use crate::{config::ConnectedModel, conversation::Conversation, response::Target, usage};

/// The default output limit of a request: enough for any response, and no reason to
/// be refused.
const MAX_OUTPUT: u64 = 64_000;
/// The API refuses smaller budgets for thinking.
const LEAST_THINKING: u64 = 1024;

impl Agent {
    /// Drops, before a request, reasoning that the model now in use could not verify.
    pub(crate) fn forget_foreign_thinking(&mut self) {
        if self.identity.is_main() && self.session.pending.take_foreign_thinking() {
            self.conversation.drop_thinking();
        }
    }

    /// The target of the next request, and its fallbacks.
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
            Some(name) => session.models.connect(name)?,
            None => session.models.connect_selected()?,
        };
        let fallbacks = session.config.fallback_models.iter();
        let fallbacks = fallbacks.filter_map(|name| session.models.connect(name).ok());
        let fallbacks =
            fallbacks.map(|connected| self.target_of(connected, conversation)).collect();
        Ok((self.target_of(first, conversation), fallbacks))
    }

    fn target_of(&self, connected: ConnectedModel, conversation: &Conversation) -> Target {
        let ConnectedModel { model, wire_name, name } = connected;
        let mut request = ModelRequest::new(wire_name);
        request.system = self.system_blocks();
        request.messages = conversation.messages().to_vec();
        request.tools = self.tools.definitions().to_vec();
        let most = self.max_output(&name);
        request.max_tokens = Some(most);
        let known = known_model(&name);
        request.thinking = thinking(self.session.models.thinking(), known, most);
        request.effort = self.instructions.effort.or_else(|| self.session.models.effort());
        request.effort = request.effort.filter(|_| known.is_none_or(|known| known.takes_effort));
        request.betas = self.session.config.betas.clone();
        if let Some(total) = self.session.config.task_budget {
            let budget = json!({"task_budget": {"type": "tokens", "total": total}});
            request.extra.insert("output_config".to_owned(), budget);
        }
        Target { model, name, request: Arc::new(request) }
    }

    /// The output limit of a request to this model, in tokens.
    pub(crate) fn max_output(&self, model: &str) -> u64 {
        match (self.session.config.max_output_tokens, known_model(model)) {
            (Some(wanted), None) => wanted,
            (Some(wanted), Some(known)) => wanted.min(known.max_output),
            (None, _) => usage::max_output(model).min(MAX_OUTPUT),
        }
    }

    fn system_blocks(&self) -> Vec<TextBlock> {
        let block = |text: &String| TextBlock { text: text.clone(), ..TextBlock::default() };
        let texts = self.instructions.system.iter().filter(|text| !text.is_empty());
        texts.map(block).collect()
    }
}

/// The thinking configuration of a request, reduced to what the model supports.
fn thinking(
    wanted: Option<Thinking>,
    model: Option<&KnownModel>,
    max_output: u64,
) -> Option<Thinking> {
    let wanted = wanted.unwrap_or(Thinking::Adaptive { display: None });
    // The API requires the budget to be less than the output limit.
    let bounded = |budget: u64, display| {
        let budget_tokens = budget.max(LEAST_THINKING).min(max_output.saturating_sub(1));
        let enough = budget_tokens >= LEAST_THINKING;
        enough.then_some(Thinking::Enabled { budget_tokens, display })
    };
    match (model.map(|known| known.thinks), wanted) {
        (Some(Thinks::Never), _) => None,
        (Some(Thinks::WithBudget), Thinking::Adaptive { display }) => {
            // The largest budget that fits: the model need not use all of it.
            bounded(u64::MAX, display)
        }
        (_, Thinking::Enabled { budget_tokens, display }) => bounded(budget_tokens, display),
        (_, wanted) => Some(wanted),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinking_is_reduced_to_what_the_model_supports() {
        let adaptive = Thinking::Adaptive { display: None };
        let requested = |wanted, model| thinking(wanted, known_model(model), 32_000);
        assert_eq!(requested(None, "opus"), Some(adaptive));
        assert_eq!(requested(None, "a-model-of-tomorrow"), Some(adaptive));
        assert_eq!(requested(Some(adaptive), "claude-3-5-haiku-20241022"), None);
        let all = Thinking::Enabled { budget_tokens: 31_999, display: None };
        assert_eq!(requested(None, "claude-haiku-4-5"), Some(all));
        assert_eq!(
            thinking(None, known_model("claude-haiku-4-5"), 1_024),
            None,
            "no room to think"
        );
        let some = Thinking::Enabled { budget_tokens: 2_000, display: None };
        assert_eq!(requested(Some(some), "claude-haiku-4-5"), Some(some));
        assert_eq!(
            requested(Some(Thinking::Disabled), "claude-opus-4-5"),
            Some(Thinking::Disabled)
        );
    }
}

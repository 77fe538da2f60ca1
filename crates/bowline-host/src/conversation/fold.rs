//! Folding of messages into a conversation.

use bowline_protocol::{
    AssistantMessage, Message, MessageUuid, Role, StreamEvent, StreamEventMessage, SystemMessage,
    Usage, UserMessage,
};

use super::{Conversation, Utterance};
use crate::Prompt;

impl Conversation {
    /// Adds a prompt. Agents repeat prompts only with
    /// [`replay_user_messages`](crate::MessageOptions::replay_user_messages); one that is named and
    /// repeated is not added twice.
    pub fn say(&mut self, prompt: &Prompt) {
        self.user(&prompt.0);
    }

    /// Folds in a message of the agent.
    pub fn receive(&mut self, message: &Message) {
        match message {
            Message::User(user) => self.user(user),
            Message::Assistant(message) => self.assistant(message),
            Message::StreamEvent(event) => self.event(event),
            Message::System(SystemMessage::Init(init)) => {
                self.session_id = Some(init.session_id.clone());
            }
            Message::ConversationReset(reset) => {
                *self = Self {
                    session_id: Some(reset.new_conversation_id.clone()),
                    cost_usd: self.cost_usd,
                    model_usage: std::mem::take(&mut self.model_usage),
                    ..Self::default()
                };
            }
            Message::Result(result) => {
                self.turn_usage = result.usage.clone();
                self.model_usage.clone_from(&result.model_usage);
                self.cost_usd = result.total_cost_usd;
                self.session_id = Some(result.session_id.clone());
                // The partial blocks of the attempt will not continue.
                for utterance in &mut self.messages {
                    utterance.is_partial = false;
                }
            }
            _ => {}
        }
    }

    fn user(&mut self, user: &UserMessage) {
        let known = |uuid: &MessageUuid| {
            self.messages.iter().any(|utterance| utterance.uuids.contains(uuid))
        };
        if user.uuid.as_ref().is_some_and(known) {
            return;
        }
        let content = user.message.content.clone().into_blocks();
        self.messages.push(Utterance {
            role: Role::User,
            whole: content.len(),
            content,
            is_partial: false,
            id: None,
            uuids: user.uuid.iter().cloned().collect(),
            parent_tool_use_id: user.parent_tool_use_id.as_ref().cloned(),
            usage: Usage::default(),
        });
    }

    /// Adds complete blocks of a model response. They replace the partial block.
    fn assistant(&mut self, assistant: &AssistantMessage) {
        if let Some(old) = &assistant.supersedes {
            self.messages.retain(|utterance| {
                utterance.uuids.is_empty() || !utterance.uuids.iter().all(|uuid| old.contains(uuid))
            });
        }
        let message = &assistant.message;
        let utterance = self.response(&message.id, assistant.parent_tool_use_id.as_ref());
        for block in &message.content {
            match utterance.content.get_mut(utterance.whole) {
                Some(growing) => growing.clone_from(block),
                None => utterance.content.push(block.clone()),
            }
            utterance.whole += 1;
        }
        utterance.usage.clone_from(&message.usage);
        if !utterance.uuids.contains(&assistant.uuid) {
            utterance.uuids.push(assistant.uuid.clone());
        }
    }

    fn event(&mut self, frame: &StreamEventMessage) {
        let parent = frame.parent_tool_use_id.as_ref();
        if let Some(abandoned) = &frame.abandoned_blocks {
            let utterance = self.response(&abandoned.api_message_id, parent);
            utterance.content.truncate(abandoned.from_block_index);
            utterance.whole = utterance.whole.min(utterance.content.len());
            utterance.is_partial = false;
            self.messages.retain(|utterance| !utterance.content.is_empty() || utterance.is_partial);
        }
        if let StreamEvent::MessageStart(start) = &frame.event {
            let utterance = self.response(&start.message.id, parent);
            utterance.is_partial = true;
            utterance.usage.clone_from(&start.message.usage);
            return;
        }
        let growing = &mut self.growing;
        let mut open = self.messages.iter_mut().rev();
        let Some(utterance) = open.find(|utterance| {
            utterance.is_partial && utterance.parent_tool_use_id.as_ref() == parent
        }) else {
            return;
        };
        match &frame.event {
            StreamEvent::ContentBlockStart(start) if start.index >= utterance.content.len() => {
                growing.begin(parent);
                utterance.content.push(start.content_block.clone());
            }
            StreamEvent::ContentBlockDelta(delta) => {
                // A block that came whole is not grown any more.
                if delta.index >= utterance.whole
                    && let Some(block) = utterance.content.get_mut(delta.index)
                {
                    growing.grow(parent, block, &delta.delta);
                }
            }
            StreamEvent::MessageDelta(delta) => utterance.usage.clone_from(&delta.usage),
            StreamEvent::MessageStop(_) => utterance.is_partial = false,
            _ => {}
        }
    }

    /// The model response with this id, which begins now if it is new.
    fn response(
        &mut self,
        id: &str,
        parent: Option<&bowline_protocol::ToolUseId>,
    ) -> &mut Utterance {
        let is_it = |utterance: &Utterance| {
            utterance.id.as_deref() == Some(id) && utterance.parent_tool_use_id.as_ref() == parent
        };
        let index = match self.messages.iter().rposition(is_it) {
            Some(index) => index,
            None => {
                self.messages.push(Utterance {
                    role: Role::Assistant,
                    content: Vec::new(),
                    is_partial: false,
                    id: Some(id.to_owned()),
                    uuids: Vec::new(),
                    parent_tool_use_id: parent.cloned(),
                    usage: Usage::default(),
                    whole: 0,
                });
                self.messages.len() - 1
            }
        };
        &mut self.messages[index]
    }
}

#[cfg(test)]
mod tests;

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
    /// repeated is not said twice.
    pub fn say(&mut self, prompt: &Prompt) {
        self.user(&prompt.0);
    }

    /// Folds in what the agent says.
    pub fn receive(&mut self, message: &Message) {
        match message {
            Message::User(user) => self.user(user),
            Message::Assistant(answer) => self.assistant(answer),
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
                for said in &mut self.said {
                    said.is_partial = false;
                }
            }
            _ => {}
        }
    }

    fn user(&mut self, user: &UserMessage) {
        let known = |uuid: &MessageUuid| self.said.iter().any(|said| said.uuids.contains(uuid));
        if user.uuid.as_ref().is_some_and(known) {
            return;
        }
        let content = user.message.content.clone().into_blocks();
        self.said.push(Utterance {
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

    /// One or more blocks of an answer, whole. They take the place of what was growing there.
    fn assistant(&mut self, answer: &AssistantMessage) {
        if let Some(old) = &answer.supersedes {
            self.said.retain(|said| {
                said.uuids.is_empty() || !said.uuids.iter().all(|uuid| old.contains(uuid))
            });
        }
        let message = &answer.message;
        let said = self.answer(&message.id, answer.parent_tool_use_id.as_ref());
        for block in &message.content {
            match said.content.get_mut(said.whole) {
                Some(growing) => growing.clone_from(block),
                None => said.content.push(block.clone()),
            }
            said.whole += 1;
        }
        said.usage.clone_from(&message.usage);
        if !said.uuids.contains(&answer.uuid) {
            said.uuids.push(answer.uuid.clone());
        }
    }

    fn event(&mut self, frame: &StreamEventMessage) {
        let parent = frame.parent_tool_use_id.as_ref();
        if let Some(abandoned) = &frame.abandoned_blocks {
            let said = self.answer(&abandoned.api_message_id, parent);
            said.content.truncate(abandoned.from_block_index);
            said.whole = said.whole.min(said.content.len());
            said.is_partial = false;
            self.said.retain(|said| !said.content.is_empty() || said.is_partial);
        }
        if let StreamEvent::MessageStart(start) = &frame.event {
            let said = self.answer(&start.message.id, parent);
            said.is_partial = true;
            said.usage.clone_from(&start.message.usage);
            return;
        }
        let growing = &mut self.growing;
        let mut open = self.said.iter_mut().rev();
        let Some(said) =
            open.find(|said| said.is_partial && said.parent_tool_use_id.as_ref() == parent)
        else {
            return;
        };
        match &frame.event {
            StreamEvent::ContentBlockStart(start) if start.index >= said.content.len() => {
                growing.begin(parent);
                said.content.push(start.content_block.clone());
            }
            StreamEvent::ContentBlockDelta(delta) => {
                // A block that came whole is not grown any more.
                if delta.index >= said.whole
                    && let Some(block) = said.content.get_mut(delta.index)
                {
                    growing.grow(parent, block, &delta.delta);
                }
            }
            StreamEvent::MessageDelta(delta) => said.usage.clone_from(&delta.usage),
            StreamEvent::MessageStop(_) => said.is_partial = false,
            _ => {}
        }
    }

    /// The answer of this name, which begins now if it is new.
    fn answer(&mut self, id: &str, parent: Option<&bowline_protocol::ToolUseId>) -> &mut Utterance {
        let is_it = |said: &Utterance| {
            said.id.as_deref() == Some(id) && said.parent_tool_use_id.as_ref() == parent
        };
        let place = match self.said.iter().rposition(is_it) {
            Some(place) => place,
            None => {
                self.said.push(Utterance {
                    role: Role::Assistant,
                    content: Vec::new(),
                    is_partial: false,
                    id: Some(id.to_owned()),
                    uuids: Vec::new(),
                    parent_tool_use_id: parent.cloned(),
                    usage: Usage::default(),
                    whole: 0,
                });
                self.said.len() - 1
            }
        };
        &mut self.said[place]
    }
}

#[cfg(test)]
mod tests;

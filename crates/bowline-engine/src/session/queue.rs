//! Prompts that wait, and those that were already taken.

use std::collections::VecDeque;

use bowline_protocol::{MessageUuid, OriginKind, PromptPriority, UserMessage};
use bowline_sessions::KnownLines;

/// The prompts of a session that wait for their turn.
#[derive(Debug, Default)]
pub(crate) struct PromptQueue {
    waiting: VecDeque<UserMessage>,
    /// Prompts of an earlier life of the session.
    before: KnownLines,
    /// Every prompt that was ever taken: a second copy is not run.
    known: KnownLines,
}

/// What became of a prompt that was put in the queue.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Queued {
    /// It waits.
    Waiting,
    /// It was here before.
    Duplicate,
    /// It was run before the session was taken up again, and nobody here was told that it ended.
    DoneBefore,
}

impl PromptQueue {
    /// A queue that knows the prompts of an earlier life of the session.
    pub(crate) fn new(known: KnownLines) -> Self {
        Self { waiting: VecDeque::new(), before: known.clone(), known }
    }

    /// Lines a prompt up, by its priority.
    pub(crate) fn push(&mut self, prompt: UserMessage) -> Queued {
        if let Some(uuid) = &prompt.uuid
            && !self.known.insert(uuid)
        {
            return match self.before.contains(uuid) {
                true => Queued::DoneBefore,
                false => Queued::Duplicate,
            };
        }
        let place = match rank(&prompt) {
            Rank::Later => self.waiting.len(),
            rank => self.waiting.iter().take_while(|other| self::rank(other) <= rank).count(),
        };
        self.waiting.insert(place, prompt);
        Queued::Waiting
    }

    /// Takes the first prompt and those behind it that can be answered with it.
    pub(crate) fn take_batch(&mut self, alone: impl Fn(&UserMessage) -> bool) -> Vec<UserMessage> {
        let Some(first) = self.waiting.pop_front() else { return Vec::new() };
        let rank_of_all = rank(&first);
        let mut batch = vec![first];
        if alone(&batch[0]) {
            return batch;
        }
        let fits = |next: &mut UserMessage| !alone(next) && rank(next) == rank_of_all;
        while let Some(next) = self.waiting.pop_front_if(fits) {
            batch.push(next);
        }
        batch
    }

    /// Takes what may join a turn that is under way: everything that is not for later.
    pub(crate) fn take_joining(
        &mut self,
        alone: impl Fn(&UserMessage) -> bool,
    ) -> Vec<UserMessage> {
        let (joining, waiting) = self
            .waiting
            .drain(..)
            .partition(|prompt| rank(prompt) != Rank::Later && !alone(prompt));
        self.waiting = waiting;
        Vec::from(joining)
    }

    /// Takes a prompt back before it was run.
    pub(crate) fn cancel(&mut self, uuid: &MessageUuid) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|prompt| prompt.uuid.as_ref() != Some(uuid));
        self.waiting.len() < before
    }

    /// Takes all prompts back.
    pub(crate) fn clear(&mut self) -> Vec<MessageUuid> {
        self.waiting.drain(..).filter_map(|prompt| prompt.uuid).collect()
    }

    /// The prompts that wait, as far as they have names.
    pub(crate) fn uuids(&self) -> Vec<MessageUuid> {
        self.waiting.iter().filter_map(|prompt| prompt.uuid.clone()).collect()
    }

    /// How many prompts of people wait.
    pub(crate) fn of_people(&self) -> usize {
        let of_person = |prompt: &&UserMessage| {
            prompt.origin.as_ref().is_some_and(|origin| origin.kind == OriginKind::Human)
        };
        self.waiting.iter().filter(of_person).count()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether somebody does not want to wait for the turn that runs.
    pub(crate) fn is_urgent(&self) -> bool {
        self.waiting.front().is_some_and(|prompt| rank(prompt) == Rank::Now)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Now,
    /// What nobody says otherwise about.
    Next,
    Later,
}

fn rank(prompt: &UserMessage) -> Rank {
    match &prompt.priority {
        Some(PromptPriority::Now) => Rank::Now,
        Some(PromptPriority::Later) => Rank::Later,
        _ => Rank::Next,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(text: &str, priority: Option<PromptPriority>) -> UserMessage {
        let uuid = Some(MessageUuid::from(text));
        UserMessage { priority, uuid, ..UserMessage::prompt(text) }
    }

    fn texts(prompts: &[UserMessage]) -> Vec<String> {
        prompts.iter().map(|prompt| prompt.message.content.to_text()).collect()
    }

    #[test]
    fn priorities_order_the_queue_and_arrival_orders_equals() {
        let mut queue = PromptQueue::default();
        for (text, priority) in [
            ("later", Some(PromptPriority::Later)),
            ("a", None),
            ("next", Some(PromptPriority::Next)),
            ("b", None),
            ("now", Some(PromptPriority::Now)),
            ("next 2", Some(PromptPriority::Next)),
        ] {
            assert_eq!(queue.push(prompt(text, priority)), Queued::Waiting);
        }
        assert!(queue.is_urgent());
        assert_eq!(texts(&queue.take_batch(|_| false)), ["now"]);
        assert_eq!(texts(&queue.take_batch(|_| false)), ["a", "next", "b", "next 2"]);
        assert_eq!(texts(&queue.take_batch(|_| false)), ["later"]);
    }

    #[test]
    fn a_second_copy_is_recognized_even_when_the_first_is_long_gone() {
        let mut known = KnownLines::default();
        known.insert(&"old".into());
        let mut queue = PromptQueue::new(known);
        assert_eq!(queue.push(prompt("old", None)), Queued::DoneBefore);
        queue.push(prompt("new", None));
        queue.take_batch(|_| false);
        assert_eq!(queue.push(prompt("new", None)), Queued::Duplicate);
    }

    #[test]
    fn some_prompts_run_alone() {
        let mut queue = PromptQueue::default();
        for text in ["a", "/compact", "b"] {
            queue.push(prompt(text, None));
        }
        let alone = |prompt: &UserMessage| prompt.message.content.to_text().starts_with('/');
        assert_eq!(texts(&queue.take_batch(alone)), ["a"]);
        assert_eq!(texts(&queue.take_batch(alone)), ["/compact"]);
        assert_eq!(texts(&queue.take_batch(alone)), ["b"]);
    }

    #[test]
    fn what_is_for_later_does_not_join_a_running_turn() {
        let mut queue = PromptQueue::default();
        queue.push(prompt("later", Some(PromptPriority::Later)));
        queue.push(prompt("a", None));
        assert_eq!(texts(&queue.take_joining(|_| false)), ["a"]);
        assert_eq!(queue.uuids(), [MessageUuid::from("later")]);
        assert!(queue.cancel(&"later".into()));
        assert!(!queue.cancel(&"later".into()));
        assert!(queue.is_empty());
    }
}

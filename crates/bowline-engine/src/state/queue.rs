//! Queue of prompts that wait, and ids of all that were ever queued.

use std::collections::VecDeque;

use bowline_protocol::{MessageUuid, OriginKind, PromptPriority, UserMessage};
use bowline_sessions::KnownLines;
use parking_lot::Mutex;

/// The prompts of a session that wait for their turn.
#[derive(Debug, Default)]
pub(crate) struct PromptQueue(Mutex<Prompts>);

#[derive(Debug, Default)]
struct Prompts {
    waiting: VecDeque<UserMessage>,
    /// Prompts from before the session was resumed.
    before: KnownLines,
    /// Every prompt that was ever queued: a duplicate is not run.
    known: KnownLines,
}

/// The outcome of queueing a prompt.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Queued {
    /// It waits.
    Waiting,
    /// It was queued before.
    Duplicate,
    /// It was run before the session was resumed, and its end was not reported to this host.
    DoneBefore,
}

impl PromptQueue {
    /// A queue that knows the prompts from before the session was resumed.
    pub(crate) fn new(known: KnownLines) -> Self {
        Self(Mutex::new(Prompts { waiting: VecDeque::new(), before: known.clone(), known }))
    }

    /// Queues a prompt by its priority.
    pub(crate) fn push(&self, prompt: UserMessage) -> Queued {
        let mut queue = self.0.lock();
        if let Some(uuid) = &prompt.uuid
            && !queue.known.insert(uuid)
        {
            return match queue.before.contains(uuid) {
                true => Queued::DoneBefore,
                false => Queued::Duplicate,
            };
        }
        let position = match rank(&prompt) {
            Rank::Later => queue.waiting.len(),
            rank => queue.waiting.iter().take_while(|other| self::rank(other) <= rank).count(),
        };
        queue.waiting.insert(position, prompt);
        Queued::Waiting
    }

    /// Dequeues the first prompt and those after it that can run with it.
    pub(crate) fn take_batch(&self, alone: impl Fn(&UserMessage) -> bool) -> Vec<UserMessage> {
        let mut queue = self.0.lock();
        let Some(first) = queue.waiting.pop_front() else { return Vec::new() };
        let rank_of_all = rank(&first);
        let mut batch = vec![first];
        if alone(&batch[0]) {
            return batch;
        }
        let fits = |next: &mut UserMessage| !alone(next) && rank(next) == rank_of_all;
        while let Some(next) = queue.waiting.pop_front_if(fits) {
            batch.push(next);
        }
        batch
    }

    /// Dequeues the prompts that may join a running turn: all that are not for later.
    pub(crate) fn take_joining(&self, alone: impl Fn(&UserMessage) -> bool) -> Vec<UserMessage> {
        let mut queue = self.0.lock();
        let (joining, waiting) = queue
            .waiting
            .drain(..)
            .partition(|prompt| rank(prompt) != Rank::Later && !alone(prompt));
        queue.waiting = waiting;
        Vec::from(joining)
    }

    /// Removes a prompt before it was run.
    pub(crate) fn cancel(&self, uuid: &MessageUuid) -> bool {
        let mut queue = self.0.lock();
        let before = queue.waiting.len();
        queue.waiting.retain(|prompt| prompt.uuid.as_ref() != Some(uuid));
        queue.waiting.len() < before
    }

    /// Removes all prompts.
    pub(crate) fn clear(&self) -> Vec<MessageUuid> {
        let mut queue = self.0.lock();
        queue.waiting.drain(..).filter_map(|prompt| prompt.uuid).collect()
    }

    /// The ids of the prompts that wait, as far as they have one.
    pub(crate) fn uuids(&self) -> Vec<MessageUuid> {
        let queue = self.0.lock();
        queue.waiting.iter().filter_map(|prompt| prompt.uuid.clone()).collect()
    }

    /// How many prompts of the user wait.
    pub(crate) fn user_prompts(&self) -> usize {
        let queue = self.0.lock();
        let of_person = |prompt: &&UserMessage| {
            prompt.origin.as_ref().is_some_and(|origin| origin.kind == OriginKind::Human)
        };
        queue.waiting.iter().filter(of_person).count()
    }

    pub(crate) fn is_empty(&self) -> bool {
        let queue = self.0.lock();
        queue.waiting.is_empty()
    }

    /// Whether the first prompt preempts the turn that runs.
    pub(crate) fn is_urgent(&self) -> bool {
        let queue = self.0.lock();
        queue.waiting.front().is_some_and(|prompt| rank(prompt) == Rank::Now)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Now,
    /// The default.
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
        let queue = PromptQueue::default();
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
    fn duplicate_is_recognized_after_the_first_copy_was_dequeued() {
        let mut known = KnownLines::default();
        known.insert(&"old".into());
        let queue = PromptQueue::new(known);
        assert_eq!(queue.push(prompt("old", None)), Queued::DoneBefore);
        queue.push(prompt("new", None));
        queue.take_batch(|_| false);
        assert_eq!(queue.push(prompt("new", None)), Queued::Duplicate);
    }

    #[test]
    fn commands_run_alone() {
        let queue = PromptQueue::default();
        for text in ["a", "/compact", "b"] {
            queue.push(prompt(text, None));
        }
        let alone = |prompt: &UserMessage| prompt.message.content.to_text().starts_with('/');
        assert_eq!(texts(&queue.take_batch(alone)), ["a"]);
        assert_eq!(texts(&queue.take_batch(alone)), ["/compact"]);
        assert_eq!(texts(&queue.take_batch(alone)), ["b"]);
    }

    #[test]
    fn later_prompts_do_not_join_a_running_turn() {
        let queue = PromptQueue::default();
        queue.push(prompt("later", Some(PromptPriority::Later)));
        queue.push(prompt("a", None));
        assert_eq!(texts(&queue.take_joining(|_| false)), ["a"]);
        assert_eq!(queue.uuids(), [MessageUuid::from("later")]);
        assert!(queue.cancel(&"later".into()));
        assert!(!queue.cancel(&"later".into()));
        assert!(queue.is_empty());
    }
}

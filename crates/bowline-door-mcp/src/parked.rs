//! Calls that wait for an answer between two requests: newer clients are asked by a result that
//! wants the call to be made again, with the answer in it.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;
use uuid::Uuid;

use crate::call::{Call, PATIENCE, Question};

/// Calls that may wait at a time. A client that leaves more behind loses the oldest.
const MOST: usize = 64;

/// A call that waits, and what it asked.
#[derive(Debug)]
pub(crate) struct Parked {
    /// The tool, which the second request has to name again.
    pub(crate) tool: String,
    pub(crate) call: Call,
    pub(crate) question: Question,
}

/// The calls that wait.
#[derive(Debug, Default)]
pub(crate) struct ParkedCalls(Mutex<HashMap<String, (Instant, Parked)>>);

impl ParkedCalls {
    /// Lets a call wait; the ticket finds it again and cannot be guessed.
    pub(crate) fn park(&self, parked: Parked) -> String {
        let ticket = Uuid::new_v4().to_string();
        let mut calls = self.calls();
        // A question that nobody answers is answered with no before this.
        calls.retain(|_, (since, _)| since.elapsed() < PATIENCE + Duration::from_secs(60));
        if calls.len() >= MOST {
            let oldest = calls.iter().min_by_key(|(_, (since, _))| *since);
            if let Some(oldest) = oldest.map(|(ticket, _)| ticket.clone()) {
                calls.remove(&oldest);
            }
        }
        calls.insert(ticket.clone(), (Instant::now(), parked));
        ticket
    }

    /// Takes a call up again, once.
    pub(crate) fn take(&self, ticket: &str, tool: &str) -> Option<Parked> {
        let mut calls = self.calls();
        if calls.get(ticket)?.1.tool != tool {
            return None;
        }
        calls.remove(ticket).map(|(_, parked)| parked)
    }

    /// Takes all calls up, because nothing is waited for any more.
    pub(crate) fn take_all(&self) -> impl Iterator<Item = Parked> + use<> {
        std::mem::take(&mut *self.calls()).into_values().map(|(_, parked)| parked)
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<String, (Instant, Parked)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

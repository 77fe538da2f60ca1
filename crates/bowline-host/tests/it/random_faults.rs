//! Sessions under random faults: tool calls, permission requests, cancellations, pauses, interrupts and
//! deaths of the agent in an order that a seed decides. Every state change must be legal, and every
//! status consistent.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bowline_host::{
    Agent, McpServer, Message, Options, PermissionResult, Session, SessionEvent, SessionState,
    SessionStatus, Statistics, Tool, ToolContext, ToolRequest,
};
use serde_json::Value;

use crate::rig::{fake, soon};

/// Seeds for each kind of end.
const SEEDS: u64 = 12;

/// Pseudo-random numbers, the same for the same seed.
struct SeededRng(AtomicU64);

impl SeededRng {
    fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed.wrapping_mul(0xD129_42F9_6A5B_3A1D) | 1))
    }

    fn below(&self, sides: u64) -> u64 {
        let mut state = self.0.load(Ordering::Relaxed);
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        self.0.store(state, Ordering::Relaxed);
        (state >> 32) % sides
    }

    /// Yields to other tasks, for a moment or for none.
    async fn wait(&self) {
        match self.below(3) {
            0 => tokio::task::yield_now().await,
            length => tokio::time::sleep(Duration::from_millis(length)).await,
        }
    }
}

/// Random delays of the callbacks of one session, and what they have seen.
#[derive(Clone)]
struct FaultPlan {
    rng: Arc<SeededRng>,
    session: Arc<OnceLock<Session>>,
    /// Callbacks that have run to their end.
    calls: Arc<AtomicU64>,
    decisions: Arc<AtomicU64>,
}

impl FaultPlan {
    /// A session whose agent and callbacks behave as the seed decides.
    fn session(seed: u64, set: impl FnOnce(&mut Options)) -> (Session, Self) {
        let plan = Self {
            rng: Arc::new(SeededRng::new(seed)),
            session: Arc::default(),
            calls: Arc::default(),
            decisions: Arc::default(),
        };
        let mut options = fake("random_faults");
        options.process.extra_args.insert("seed".to_owned(), Some(seed.to_string()));
        set(&mut options);
        let it = plan.clone();
        let work = Tool::new("work", "", move |_: Nothing, context: ToolContext| {
            let it = it.clone();
            async move {
                let id = context.tool_use_id.expect("the fake says it");
                let is_open = |status: &SessionStatus| {
                    status.pending_tool_calls().any(|it| it.tool_use_id.as_ref() == Some(&id))
                };
                it.stays_open(is_open).await;
                it.calls.fetch_add(1, Ordering::Relaxed);
                "done"
            }
        });
        let it = plan.clone();
        let decide = move |request: ToolRequest| {
            let it = it.clone();
            async move {
                let id = &request.tool_use_id;
                let is_open = |status: &SessionStatus| {
                    status.pending_permissions().any(|it| it.tool_use_id == *id)
                };
                it.stays_open(is_open).await;
                it.decisions.fetch_add(1, Ordering::Relaxed);
                PermissionResult::allow()
            }
        };
        let options =
            options.sdk_mcp_server(McpServer::new("desk").tool(work)).can_use_tool(decide);
        let session = Agent::new(options).expect("they go together").start("go");
        plan.session.set(session.clone()).expect("there is one session");
        (session, plan)
    }

    /// What a callback works on is open from its beginning to its end, unless the session is over.
    async fn stays_open(&self, is_open: impl Fn(&SessionStatus) -> bool) {
        let session = self.session.get().expect("it was set before anything else could happen");
        for _ in 0..=self.rng.below(3) {
            let status = session.status();
            assert!(is_open(&status) || status.state().is_over(), "{status:?}");
            self.rng.wait().await;
        }
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

/// Whether a session may go from here to there.
fn is_legal(from: SessionState, to: SessionState) -> bool {
    use SessionState::{
        Cancelled, Completed, Failed, Idle, Paused, Running, Starting, WaitingPermission,
        WaitingToolCall,
    };
    let at_work = |state| matches!(state, Running | WaitingToolCall | WaitingPermission);
    match (from, to) {
        (Idle, Starting) => true,
        // An agent may send requests before it has introduced itself.
        (Starting, to) if at_work(to) => true,
        (from, to) if at_work(from) && at_work(to) => from != to,
        (from, Paused) => at_work(from),
        (Paused, to) if at_work(to) => true,
        (from, Completed) => at_work(from) || from == Paused,
        (from, Failed | Cancelled) => !from.is_over(),
        _ => false,
    }
}

/// A status cannot contradict itself.
fn is_consistent(status: &SessionStatus) -> bool {
    let (calls, questions) =
        (status.pending_tool_calls().len(), status.pending_permissions().len());
    let oldest_agree = status.pending_tool_call().is_some() == (calls > 0)
        && status.pending_permission().is_some() == (questions > 0);
    oldest_agree
        && match status.state() {
            SessionState::WaitingPermission => questions > 0,
            SessionState::WaitingToolCall => questions == 0 && calls > 0,
            SessionState::Paused | SessionState::Starting => true,
            _ => calls + questions == 0,
        }
}

/// Nothing that was counted is taken back.
fn has_grown(before: &Statistics, after: &Statistics) -> bool {
    after.tool_calls >= before.tool_calls
        && after.permissions >= before.permissions
        && after.messages >= before.messages
}

/// Follows a session to its end, checks each of its changes, and returns where it has been.
async fn follow(session: &Session, seed: u64) -> Vec<SessionState> {
    let mut events = session.events();
    let (mut states, mut before) = (vec![SessionState::Idle], Statistics::default());
    while let Some(event) = soon("an event", events.next()).await {
        match event {
            SessionEvent::StateChange { from, to, status } => {
                assert_eq!(states.last(), Some(&from), "seed {seed}: a change went unsaid");
                assert!(is_legal(from, to), "seed {seed}: {from} -> {to}");
                assert_eq!(status.state(), to, "seed {seed}");
                assert!(is_consistent(&status), "seed {seed}: {status:?}");
                assert!(has_grown(&before, &status.statistics()), "seed {seed}: {status:?}");
                before = status.statistics();
                states.push(to);
            }
            SessionEvent::Missed(count) => panic!("seed {seed}: {count} events are lost"),
            _ => {}
        }
    }
    states
}

/// Pauses and resumes now and then, until the session is over.
async fn pause_and_resume(session: &Session, plan: &FaultPlan) {
    while !session.state().is_over() {
        if session.pause().is_ok() {
            plan.rng.wait().await;
            let state = session.state();
            assert!(state == SessionState::Paused || state.is_over(), "{state}");
            assert!(session.resume().is_ok() || session.state().is_over());
        }
        plan.rng.wait().await;
    }
}

#[tokio::test]
async fn random_faults_that_end_in_order_add_up() {
    for seed in 1..=SEEDS {
        let (session, plan) = FaultPlan::session(seed, |_| {});
        let (states, ()) = tokio::join!(follow(&session, seed), pause_and_resume(&session, &plan));
        assert_eq!(states.last(), Some(&SessionState::Completed), "seed {seed}");
        let result = soon("the end", session.wait()).await.unwrap();
        let told: Value = serde_json::from_str(&result.result.unwrap()).unwrap();
        let stats = session.status().statistics();
        let told = |what: &str| told[what].as_u64().unwrap();
        let counted = stats.tool_calls + stats.permissions;
        assert!(stats.tool_calls <= told("calls"), "seed {seed}: {stats:?}");
        assert!(stats.permissions <= told("questions"), "seed {seed}: {stats:?}");
        // A request that was cancelled before it was read does not appear.
        let seen = told("calls") + told("questions") - told("withdrawn");
        assert!(counted >= seen, "seed {seed}: {stats:?}");
        assert!(plan.calls.load(Ordering::Relaxed) <= stats.tool_calls, "seed {seed}");
        assert!(plan.decisions.load(Ordering::Relaxed) <= stats.permissions, "seed {seed}");
        let (mut messages, mut words) = (session.messages(), 0);
        while let Some(message) = messages.next().await {
            words += u64::from(matches!(message, Ok(Message::Assistant(_))));
        }
        assert_eq!(words, told("words"), "seed {seed}");
        assert_eq!(stats.messages, words + 1, "seed {seed}: all words and the result");
    }
}

#[tokio::test]
async fn random_faults_with_interrupt_or_cancel_end() {
    for seed in 1..=SEEDS {
        let (session, plan) = FaultPlan::session(seed, |_| {});
        let interrupts = seed % 2 == 0;
        let stop = async {
            for _ in 0..plan.rng.below(12) {
                plan.rng.wait().await;
            }
            match interrupts {
                true => drop(session.interrupt().await),
                false => session.cancel().await,
            }
        };
        let (states, ()) =
            soon("the end", async { tokio::join!(follow(&session, seed), stop) }).await;
        let last = *states.last().unwrap();
        assert!(last.is_over() && last == session.state(), "seed {seed}: {last}");
        assert!(!interrupts || last != SessionState::Cancelled, "seed {seed}");
        assert!(is_consistent(&session.status()), "seed {seed}");
        assert_eq!(session.pause().unwrap_err().code(), "state", "seed {seed}");
    }
}

#[tokio::test]
async fn random_death_of_the_agent_fails_the_session_in_a_pause() {
    for seed in 1..=SEEDS {
        let (session, plan) = FaultPlan::session(seed, |options| {
            options.process.extra_args.insert("fatal".to_owned(), None);
            options.process.extra_args.insert("code".to_owned(), Some("3".to_owned()));
        });
        let (states, ()) = tokio::join!(follow(&session, seed), pause_and_resume(&session, &plan));
        let outcome = soon("the end", session.wait()).await;
        let status = session.status();
        assert!(is_consistent(&status), "seed {seed}: {status:?}");
        match states.last() {
            // Some are lucky.
            Some(SessionState::Completed) => assert!(outcome.is_ok(), "seed {seed}"),
            last => {
                assert_eq!(last, Some(&SessionState::Failed), "seed {seed}");
                assert_eq!(outcome.unwrap_err().code(), "process", "seed {seed}");
            }
        }
    }
}

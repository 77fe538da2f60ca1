//! Prompt to result: hooks, `init` message, turn, result.

use std::{panic::AssertUnwindSafe, sync::Arc};

use bowline_protocol::{
    Content, ContentBlock, DeferredToolUse, EventInput, HookEvent, InformationalLevel,
    InformationalMessage, MessageUuid, Origin, OriginKind, PromptSubmitOutcomeKind, ResultMessage,
    TerminalReason, UserMessage, UserPromptSubmitInput,
};
use futures_util::FutureExt;
use tokio_util::sync::CancellationToken;

use super::deferred;
use crate::{
    agent::Agent,
    catalog,
    clock::timestamp,
    command::{self, Outcome, PromptRefusal, refuse},
    conversation::prompt_blocks,
    hook::{BlockKind, texts as hook_texts},
    identity::Identity,
    library::is_from_host,
    result,
    session_context::SessionContext,
    sink::new_uuid,
    turn::{machine::Limits, report::Report, run::TurnRun, texts},
};

/// The outcome of a batch of prompts.
pub(crate) struct TurnOutcome {
    /// Boxed to keep the futures that return it small.
    pub(crate) result: Box<ResultMessage>,
    /// Prompts that joined while the turn ran.
    pub(crate) joined: Vec<MessageUuid>,
}

impl TurnOutcome {
    pub(crate) fn new(result: ResultMessage, joined: Vec<MessageUuid>) -> Self {
        Self { result: Box::new(result), joined }
    }
}

/// The outcome of prompts that no other prompt joined.
impl From<ResultMessage> for TurnOutcome {
    fn from(result: ResultMessage) -> Self {
        Self::new(result, Vec::new())
    }
}

/// The input of a turn.
pub(crate) enum Beginning {
    /// Prompts that run in one turn.
    Prompts(Vec<UserMessage>),
    /// Deferred calls.
    Deferred(Vec<DeferredToolUse>),
}

/// Runs a turn. Every path returns a result, also a panic.
pub(crate) async fn run_turn(
    agent: &mut Agent,
    beginning: Beginning,
    cancel: CancellationToken,
) -> TurnOutcome {
    let session = Arc::clone(&agent.session);
    let run = async {
        match beginning {
            Beginning::Prompts(prompts) => run(agent, prompts, cancel).await,
            Beginning::Deferred(calls) => deferred::run(agent, calls, cancel).await,
        }
    };
    let run = AssertUnwindSafe(run).catch_unwind().await;
    run.unwrap_or_else(|panic| {
        let what = panic_text(&panic);
        tracing::error!(what, "a turn crashed");
        result::crashed(&session, what).into()
    })
}

async fn run(
    agent: &mut Agent,
    prompts: Vec<UserMessage>,
    cancel: CancellationToken,
) -> TurnOutcome {
    let session = Arc::clone(&agent.session);
    begin(agent, &cancel).await;
    let mut expansion = None;
    if let [prompt] = &prompts[..] {
        if prompt.client_composed != Some(true) {
            match command::run(agent, prompt, &cancel).await {
                Outcome::NoCommand => {}
                Outcome::Completed(mut result) => {
                    result.origin = origin_of(prompt);
                    return without_turn(prompt, *result);
                }
                Outcome::Expanded(expanded) => expansion = Some(expanded),
            }
        }
        if prompt.should_query == Some(false) {
            return without_turn(prompt, note(agent, prompt).await);
        }
    }
    if prompts.iter().all(is_blank) {
        return skip_blank(agent, &prompts).await.into();
    }
    let mut context = session.pending.take_context();
    if let Some(expansion) = &mut expansion {
        context.append(&mut expansion.context);
    }
    let mut remarks = unknown_strictness(&session);
    for prompt in prompts.iter().filter(|prompt| is_from_host(prompt)) {
        match submit_hooks(&session, prompt, &mut remarks, &cancel).await {
            Submitted::Accepted(texts) => context.extend(texts),
            Submitted::Unchecked => {
                return stopped_unchecked(agent, &prompts).await.into();
            }
            Submitted::Refused(refusal) => {
                return refuse(agent, refusal, remarks).await.into();
            }
        }
    }
    let usual_model = agent.instructions.model.clone();
    if let Some(model) = expansion.as_mut().and_then(|expansion| expansion.model.take()) {
        agent.instructions.model = Some(model);
    }
    session.sink.send(catalog::init(agent, &prompts)).await;
    for remark in remarks {
        session.sink.send(remark).await;
    }
    context.extend(agent.renew_instructions(&cancel).await);
    let blocks = expansion.as_ref().map(|expansion| expansion.blocks.clone());
    add_prompts(agent, &prompts, blocks, context).await;
    let uuids: Vec<_> = prompts.iter().filter_map(|prompt| prompt.uuid.clone()).collect();
    let origin = prompts.first().and_then(origin_of);
    let report = run_model_turn(agent, uuids.clone(), cancel).await;
    agent.instructions.model = usual_model;
    let joined = agent.take_joined();
    let uuids: Vec<_> = uuids.into_iter().chain(joined.iter().cloned()).collect();
    let last_prompt = prompts.last().map(|prompt| prompt.message.content.to_text());
    session.sink.emit_notice(session.journal.last_prompt(&last_prompt.unwrap_or_default())).await;
    let mut result = result::of_turn(&session, *report, origin);
    let named = prompts.iter().rev().find_map(|prompt| prompt.uuid.clone());
    result.user_message_uuid = named.or_else(|| uuids.last().cloned());
    result.user_message_uuids = (!uuids.is_empty()).then_some(uuids);
    TurnOutcome::new(result, joined)
}

/// Begins a turn: applies pending changes and resets the state of the last turn.
pub(super) async fn begin(agent: &mut Agent, cancel: &CancellationToken) {
    agent.apply_pending(cancel).await;
    let session = &agent.session;
    session.prompt.begin();
    session.usage.ledger().begin_turn();
    let required = session.config.read_before_write;
    let required = required.unwrap_or_else(|| must_read_first(&session.models.name()));
    session.workspace.set_reads_before_writing(required);
    command::withdraw_tools(session);
}

/// Runs the turn on the conversation as it is.
pub(super) async fn run_model_turn(
    agent: &mut Agent,
    prompts: Vec<MessageUuid>,
    cancel: CancellationToken,
) -> Box<Report> {
    let session = Arc::clone(&agent.session);
    let limits = Limits {
        max_rounds: agent.instructions.max_turns.or(session.config.max_turns),
        stop_hook_blocks: session.config.stop_hook_block_cap,
        structured_output: agent.wants_structured_output(),
    };
    let report = TurnRun::new(agent, limits, prompts, cancel).run().await;
    agent.note_context();
    command::withdraw_tools(&session);
    deferred::record(&session, &report.deferred).await;
    report
}

/// The origin that a result names.
fn origin_of(prompt: &UserMessage) -> Option<Origin> {
    let unclassified = || Origin::new(OriginKind::Unclassified);
    let synthetic = (prompt.is_synthetic == Some(true)).then(unclassified);
    prompt.origin.clone().or(synthetic)
}

/// Adds prompts to the transcript and the conversation, and replays them to a host that wants it.
///
/// `expanded` replaces the text of a command, which is always alone.
async fn add_prompts(
    agent: &mut Agent,
    prompts: &[UserMessage],
    expanded: Option<Vec<ContentBlock>>,
    context: Vec<String>,
) {
    let session = Arc::clone(&agent.session);
    let mut blocks = Vec::new();
    let mut name = None;
    for prompt in prompts {
        let uuid = prompt.uuid.clone().unwrap_or_else(new_uuid);
        if prompt.uuid.is_some() || name.is_none() {
            name = Some(uuid.clone());
        }
        let mut recorded = prompt.clone();
        if let Some(expanded) = &expanded {
            recorded.message.content = Content::Blocks(expanded.clone());
        }
        let mode = session.permissions.mode();
        session.sink.emit_notice(session.journal.prompt(&uuid, &recorded, mode)).await;
        if let Some(history) = &session.file_history {
            history.begin(&uuid).await;
        }
        join(&mut blocks, prompt_blocks(&recorded));
    }
    session.prompt.set_line(name.clone());
    if session.sink.replays_prompts && prompts.iter().all(is_from_host) {
        let mark = expanded.as_ref().and_then(|blocks| blocks.first()?.as_text());
        replay(&session, prompts, mark, name.unwrap_or_default());
    }
    blocks.extend(context.into_iter().map(ContentBlock::text));
    agent.conversation.push_user(blocks);
}

/// Replays prompts to the host as one merged prompt, or as the command (`mark`).
fn replay(
    session: &SessionContext,
    prompts: &[UserMessage],
    mark: Option<&str>,
    name: MessageUuid,
) {
    let Some(mut merged) = prompts.last().cloned() else { return };
    if let Some(mark) = mark {
        merged.message.content = Content::from(mark);
    }
    if let [_, _, ..] = prompts {
        let mut blocks = Vec::new();
        prompts
            .iter()
            .for_each(|prompt| join(&mut blocks, prompt.message.content.clone().into_blocks()));
        merged.message.content = match &blocks[..] {
            [ContentBlock::Text(text)] => Content::Text(text.text.clone()),
            _ => Content::Blocks(blocks),
        };
    }
    merged.is_replay = Some(true);
    merged.timestamp.get_or_insert_with(timestamp);
    session.sink.replay(name, merged);
}

/// Appends a prompt to those before it. Adjacent texts become one, so that the model reads one
/// message.
fn join(blocks: &mut Vec<ContentBlock>, more: Vec<ContentBlock>) {
    let mut more = more.into_iter().peekable();
    if let (Some(ContentBlock::Text(last)), Some(ContentBlock::Text(next))) =
        (blocks.last_mut(), more.peek())
    {
        last.text.push('\n');
        last.text.push_str(&next.text);
        more.next();
    }
    blocks.extend(more);
}

/// Whether a prompt is only whitespace.
fn is_blank(prompt: &UserMessage) -> bool {
    let is_blank = |block: &ContentBlock| block.as_text().is_some_and(|it| it.trim().is_empty());
    prompt_blocks(prompt).iter().all(is_blank)
}

/// Skips blank prompts, which the API would refuse.
async fn skip_blank(agent: &Agent, prompts: &[UserMessage]) -> ResultMessage {
    let session = &agent.session;
    session.sink.send(catalog::init(agent, prompts)).await;
    session.sink.inform(InformationalLevel::Warning, texts::BLANK_PROMPT).await;
    result::without_turn(session, texts::BLANK_PROMPT)
}

/// Adds a prompt to the conversation without a turn (`shouldQuery: false`).
async fn note(agent: &mut Agent, prompt: &UserMessage) -> ResultMessage {
    let session = Arc::clone(&agent.session);
    session.sink.send(catalog::init(agent, std::slice::from_ref(prompt))).await;
    add_prompts(agent, std::slice::from_ref(prompt), None, Vec::new()).await;
    result::without_turn(&session, "")
}

/// The outcome of a prompt without a turn.
fn without_turn(prompt: &UserMessage, mut result: ResultMessage) -> TurnOutcome {
    result.user_message_uuid = prompt.uuid.clone();
    result.user_message_uuids = prompt.uuid.clone().map(|uuid| vec![uuid]);
    result.into()
}

/// Warnings about hooks whose failure blocks because their `on_failure` is unknown to this version.
fn unknown_strictness(session: &SessionContext) -> Vec<InformationalMessage> {
    let events = session.pending.take_strict_hooks();
    let remark = |event: HookEvent| InformationalMessage {
        content: hook_texts::unknown_on_failure(&event),
        level: InformationalLevel::Warning,
        tag: Some("hook_on_failure_unknown".to_owned()),
        ..InformationalMessage::default()
    };
    events.into_iter().map(remark).collect()
}

/// The verdict of the `UserPromptSubmit` hooks.
enum Submitted {
    /// With texts of hooks for the model.
    Accepted(Vec<String>),
    /// The turn was stopped before the hooks had decided.
    Unchecked,
    Refused(PromptRefusal),
}

async fn submit_hooks(
    session: &SessionContext,
    prompt: &UserMessage,
    remarks: &mut Vec<InformationalMessage>,
    cancel: &CancellationToken,
) -> Submitted {
    if !session.hooks.has(HookEvent::UserPromptSubmit) {
        return Submitted::Accepted(Vec::new());
    }
    let text = prompt.message.content.to_text();
    let event = EventInput::UserPromptSubmit(UserPromptSubmitInput {
        prompt: text.clone(),
        ..UserPromptSubmitInput::default()
    });
    let mut report = session.hooks.run_silently(&Identity::Main, event, None, cancel).await;
    remarks.append(&mut report.notices);
    if report.cancelled {
        return Submitted::Unchecked;
    }
    if let Some(title) = &report.session_title {
        session.title.set(title).await;
    }
    if let Some(stop) = &report.stop {
        let reason = stop.reason.clone().unwrap_or_default();
        return Submitted::Refused(PromptRefusal {
            text: hook_texts::stopped(&reason),
            kind: PromptSubmitOutcomeKind::StoppedByHook,
            reason: Some(reason),
            prompt_kept: true,
        });
    }
    if let Some(block) = report.blocks.iter().find(|block| block.kind == BlockKind::TimedOut) {
        return Submitted::Refused(PromptRefusal {
            text: hook_texts::prompt_undecided(&block.reason),
            kind: PromptSubmitOutcomeKind::NoVerdict,
            reason: None,
            prompt_kept: false,
        });
    }
    if let Some(block) = report.blocks.first() {
        let shown = if report.suppress_original_prompt { "" } else { &text };
        let named = format!("[{}]: ", block.command);
        let reason = block.reason.strip_prefix(&named).unwrap_or(&block.reason);
        return Submitted::Refused(PromptRefusal {
            text: hook_texts::prompt_blocked(&block.reason, shown),
            kind: PromptSubmitOutcomeKind::BlockedByHook,
            reason: Some(reason.to_owned()),
            prompt_kept: false,
        });
    }
    Submitted::Accepted(report.model_texts().collect())
}

/// Ends a turn that was interrupted before hooks had decided about its prompt; the model never sees it.
async fn stopped_unchecked(agent: &mut Agent, prompts: &[UserMessage]) -> ResultMessage {
    let session = Arc::clone(&agent.session);
    session.turn.interrupt_acknowledged().await;
    session.sink.send(catalog::init(agent, prompts)).await;
    let blocks = vec![ContentBlock::text(texts::INTERRUPTED)];
    agent.conversation.push_user(blocks.clone());
    agent.emit_user(UserMessage::prompt(blocks).into()).await;
    ResultMessage {
        terminal_reason: Some(TerminalReason::AbortedStreaming),
        ..result::failed(&session, "Interrupted before hooks had decided about the prompt")
    }
}

fn panic_text(panic: &Box<dyn std::any::Any + Send>) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("unknown panic")
}

/// Whether the model must read a file before it writes it. Older models overwrite files unread;
/// newer ones read by themselves where it matters.
fn must_read_first(model: &str) -> bool {
    const OLDER: [&str; 4] =
        ["claude-opus-4-5", "claude-opus-4-6", "claude-sonnet-4-5", "claude-haiku-4-5"];
    OLDER.iter().any(|older| model.starts_with(older))
}

//! Whole turns as tables: events in, effects out.

use bowline_protocol::StopReason;
use expect_test::{Expect, expect};

use super::{AfterCall::*, Event::*, *};

fn check(limits: Limits, events: impl IntoIterator<Item = Event>, expected: Expect) {
    let mut turn = Turn::new(limits);
    let mut log = String::new();
    for event in events {
        log += &format!("{event:?} ->");
        for effect in turn.step(event) {
            log += &format!(" {effect:?}");
        }
        log += "\n";
    }
    expected.assert_eq(&log);
}

fn id(n: u32) -> ToolUseId {
    ToolUseId(n.to_string())
}

fn responded(reason: StopReason) -> Event {
    ResponseEnded { stop_reason: Some(reason), empty: false }
}

#[test]
fn response_without_tools_ends_the_turn() {
    check(
        Limits::default(),
        [Prompted, responded(StopReason::EndTurn), StopAllowed],
        expect![[r#"
        Prompted -> CallModel
        ResponseEnded { stop_reason: Some(EndTurn), empty: false } -> RunStopHooks
        StopAllowed -> End(Completed)
    "#]],
    );
}

#[test]
fn tools_start_while_the_response_streams_and_their_results_return_together() {
    check(
        Limits::default(),
        [
            Prompted,
            Called(id(1)),
            Called(id(2)),
            Finished(id(2), Continue),
            responded(StopReason::ToolUse),
            Finished(id(1), Continue),
            responded(StopReason::EndTurn),
            StopAllowed,
        ],
        expect![[r#"
            Prompted -> CallModel
            Called(ToolUseId("1")) -> RunTool(ToolUseId("1"))
            Called(ToolUseId("2")) -> RunTool(ToolUseId("2"))
            Finished(ToolUseId("2"), Continue) ->
            ResponseEnded { stop_reason: Some(ToolUse), empty: false } ->
            Finished(ToolUseId("1"), Continue) -> CallModel
            ResponseEnded { stop_reason: Some(EndTurn), empty: false } -> RunStopHooks
            StopAllowed -> End(Completed)
        "#]],
    );
}

#[test]
fn tools_finished_before_the_response_do_not_end_it() {
    check(
        Limits::default(),
        [Prompted, Called(id(1)), Finished(id(1), Continue), responded(StopReason::EndTurn)],
        expect![[r#"
            Prompted -> CallModel
            Called(ToolUseId("1")) -> RunTool(ToolUseId("1"))
            Finished(ToolUseId("1"), Continue) ->
            ResponseEnded { stop_reason: Some(EndTurn), empty: false } -> CallModel
        "#]],
    );
}

#[test]
fn interrupt_stops_running_calls_and_ends_the_turn() {
    check(
        Limits::default(),
        [Prompted, Interrupted, responded(StopReason::EndTurn)],
        expect![[r#"
        Prompted -> CallModel
        Interrupted -> StopModel End(AbortedStreaming)
        ResponseEnded { stop_reason: Some(EndTurn), empty: false } ->
    "#]],
    );
    check(
        Limits::default(),
        [
            Prompted,
            Called(id(1)),
            Called(id(2)),
            responded(StopReason::ToolUse),
            Finished(id(1), Continue),
            Interrupted,
            Finished(id(2), Continue),
        ],
        expect![[r#"
            Prompted -> CallModel
            Called(ToolUseId("1")) -> RunTool(ToolUseId("1"))
            Called(ToolUseId("2")) -> RunTool(ToolUseId("2"))
            ResponseEnded { stop_reason: Some(ToolUse), empty: false } ->
            Finished(ToolUseId("1"), Continue) ->
            Interrupted -> StopTool(ToolUseId("2")) End(AbortedTools)
            Finished(ToolUseId("2"), Continue) ->
        "#]],
    );
    check(
        Limits::default(),
        [Prompted, responded(StopReason::EndTurn), Interrupted, StopAllowed],
        expect![[r#"
            Prompted -> CallModel
            ResponseEnded { stop_reason: Some(EndTurn), empty: false } -> RunStopHooks
            Interrupted -> End(Completed)
            StopAllowed ->
        "#]],
    );
}

#[test]
fn the_turn_limit_counts_round_trips() {
    let limits = Limits { max_rounds: Some(1), ..Limits::default() };
    check(
        limits,
        [Prompted, Called(id(1)), responded(StopReason::ToolUse), Finished(id(1), Continue)],
        expect![[r#"
            Prompted -> CallModel
            Called(ToolUseId("1")) -> RunTool(ToolUseId("1"))
            ResponseEnded { stop_reason: Some(ToolUse), empty: false } ->
            Finished(ToolUseId("1"), Continue) -> End(MaxTurns)
        "#]],
    );
}

#[test]
fn the_output_limit_is_recovered_from_three_times() {
    let limit = || responded(StopReason::MaxTokens);
    check(
        Limits::default(),
        [Prompted, limit(), limit(), limit(), limit()],
        expect![[r#"
        Prompted -> CallModel
        ResponseEnded { stop_reason: Some(MaxTokens), empty: false } -> Nudge(OutputLimit) CallModel
        ResponseEnded { stop_reason: Some(MaxTokens), empty: false } -> Nudge(OutputLimit) CallModel
        ResponseEnded { stop_reason: Some(MaxTokens), empty: false } -> Nudge(OutputLimit) CallModel
        ResponseEnded { stop_reason: Some(MaxTokens), empty: false } -> End(OutputLimit)
    "#]],
    );
    let mut events = vec![Prompted, limit(), limit(), limit()];
    events.extend([
        Called(id(1)),
        responded(StopReason::ToolUse),
        Finished(id(1), Continue),
        limit(),
    ]);
    check(
        Limits::default(),
        events,
        expect![[r#"
            Prompted -> CallModel
            ResponseEnded { stop_reason: Some(MaxTokens), empty: false } -> Nudge(OutputLimit) CallModel
            ResponseEnded { stop_reason: Some(MaxTokens), empty: false } -> Nudge(OutputLimit) CallModel
            ResponseEnded { stop_reason: Some(MaxTokens), empty: false } -> Nudge(OutputLimit) CallModel
            Called(ToolUseId("1")) -> RunTool(ToolUseId("1"))
            ResponseEnded { stop_reason: Some(ToolUse), empty: false } ->
            Finished(ToolUseId("1"), Continue) -> CallModel
            ResponseEnded { stop_reason: Some(MaxTokens), empty: false } -> Nudge(OutputLimit) CallModel
        "#]],
    );
}

#[test]
fn a_refusal_is_continued_once() {
    let refusal = || responded(StopReason::Refusal);
    check(
        Limits::default(),
        [Prompted, refusal(), refusal()],
        expect![[r#"
        Prompted -> CallModel
        ResponseEnded { stop_reason: Some(Refusal), empty: false } -> Nudge(Refusal) CallModel
        ResponseEnded { stop_reason: Some(Refusal), empty: false } -> End(Refused)
    "#]],
    );
}

#[test]
fn refusal_after_calls_continues_with_their_results() {
    let refusal = || responded(StopReason::Refusal);
    check(
        Limits::default(),
        [Prompted, Called(id(1)), refusal(), Finished(id(1), Continue), refusal()],
        expect![[r#"
            Prompted -> CallModel
            Called(ToolUseId("1")) -> RunTool(ToolUseId("1"))
            ResponseEnded { stop_reason: Some(Refusal), empty: false } ->
            Finished(ToolUseId("1"), Continue) -> Nudge(Refusal) CallModel
            ResponseEnded { stop_reason: Some(Refusal), empty: false } -> End(Refused)
        "#]],
    );
}

#[test]
fn empty_response_is_requested_again_once() {
    let empty = || ResponseEnded { stop_reason: Some(StopReason::EndTurn), empty: true };
    check(
        Limits::default(),
        [Prompted, empty(), empty()],
        expect![[r#"
        Prompted -> CallModel
        ResponseEnded { stop_reason: Some(EndTurn), empty: true } -> Nudge(EmptyResponse) CallModel
        ResponseEnded { stop_reason: Some(EndTurn), empty: true } -> RunStopHooks
    "#]],
    );
}

#[test]
fn paused_turn_is_sent_back_unchanged() {
    check(
        Limits::default(),
        [Prompted, responded(StopReason::PauseTurn)],
        expect![[r#"
        Prompted -> CallModel
        ResponseEnded { stop_reason: Some(PauseTurn), empty: false } -> CallModel
    "#]],
    );
}

#[test]
fn stream_cut_after_a_complete_block_continues_there() {
    check(
        Limits::default(),
        [Prompted, Cut],
        expect![[r#"
        Prompted -> CallModel
        Cut -> Nudge(CutStream) CallModel
    "#]],
    );
    check(
        Limits::default(),
        [Prompted, Called(id(1)), Cut, Finished(id(1), Continue)],
        expect![[r#"
        Prompted -> CallModel
        Called(ToolUseId("1")) -> RunTool(ToolUseId("1"))
        Cut ->
        Finished(ToolUseId("1"), Continue) -> CallModel
    "#]],
    );
}

#[test]
fn a_failure_stops_the_tools_that_run() {
    check(
        Limits::default(),
        [Prompted, Called(id(1)), Failed],
        expect![[r#"
        Prompted -> CallModel
        Called(ToolUseId("1")) -> RunTool(ToolUseId("1"))
        Failed -> StopTool(ToolUseId("1")) End(ApiError)
    "#]],
    );
}

#[test]
fn stop_hooks_send_the_model_back_up_to_their_limit() {
    let limits = Limits { stop_hook_blocks: 1, ..Limits::default() };
    let done = || responded(StopReason::EndTurn);
    check(
        limits,
        [Prompted, done(), StopBlocked, done(), StopBlocked],
        expect![[r#"
        Prompted -> CallModel
        ResponseEnded { stop_reason: Some(EndTurn), empty: false } -> RunStopHooks
        StopBlocked -> Nudge(StopFeedback) CallModel
        ResponseEnded { stop_reason: Some(EndTurn), empty: false } -> RunStopHooks
        StopBlocked -> Nudge(StopFeedback) OverrideStopHooks End(Completed)
    "#]],
    );
    check(
        Limits::default(),
        [Prompted, done(), StopPrevented],
        expect![[r#"
        Prompted -> CallModel
        ResponseEnded { stop_reason: Some(EndTurn), empty: false } -> RunStopHooks
        StopPrevented -> End(StopHookPrevented)
    "#]],
    );
}

#[test]
fn structured_output_ends_the_turn_at_once() {
    let limits = Limits { structured_output: true, ..Limits::default() };
    check(
        limits,
        [
            Prompted,
            Called(id(1)),
            responded(StopReason::ToolUse),
            Finished(id(1), StructuredOutput),
        ],
        expect![[r#"
            Prompted -> CallModel
            Called(ToolUseId("1")) -> RunTool(ToolUseId("1"))
            ResponseEnded { stop_reason: Some(ToolUse), empty: false } ->
            Finished(ToolUseId("1"), StructuredOutput) -> End(Completed)
        "#]],
    );
}

#[test]
fn structured_output_is_demanded_once() {
    let limits = Limits { structured_output: true, ..Limits::default() };
    let done = || responded(StopReason::EndTurn);
    check(
        limits,
        [Prompted, done(), done(), StopAllowed],
        expect![[r#"
        Prompted -> CallModel
        ResponseEnded { stop_reason: Some(EndTurn), empty: false } -> Nudge(StructuredOutput) CallModel
        ResponseEnded { stop_reason: Some(EndTurn), empty: false } -> RunStopHooks
        StopAllowed -> End(Completed)
    "#]],
    );
}

#[test]
fn structured_output_that_never_fits_fails() {
    let limits = Limits { structured_output: true, ..Limits::default() };
    let mut events = vec![Prompted];
    for n in 1..=5 {
        let call = [
            Called(id(n)),
            responded(StopReason::ToolUse),
            Finished(id(n), StructuredOutputRejected),
        ];
        events.extend(call);
    }
    check(
        limits,
        events,
        expect![[r#"
        Prompted -> CallModel
        Called(ToolUseId("1")) -> RunTool(ToolUseId("1"))
        ResponseEnded { stop_reason: Some(ToolUse), empty: false } ->
        Finished(ToolUseId("1"), StructuredOutputRejected) -> CallModel
        Called(ToolUseId("2")) -> RunTool(ToolUseId("2"))
        ResponseEnded { stop_reason: Some(ToolUse), empty: false } ->
        Finished(ToolUseId("2"), StructuredOutputRejected) -> CallModel
        Called(ToolUseId("3")) -> RunTool(ToolUseId("3"))
        ResponseEnded { stop_reason: Some(ToolUse), empty: false } ->
        Finished(ToolUseId("3"), StructuredOutputRejected) -> CallModel
        Called(ToolUseId("4")) -> RunTool(ToolUseId("4"))
        ResponseEnded { stop_reason: Some(ToolUse), empty: false } ->
        Finished(ToolUseId("4"), StructuredOutputRejected) -> CallModel
        Called(ToolUseId("5")) -> RunTool(ToolUseId("5"))
        ResponseEnded { stop_reason: Some(ToolUse), empty: false } ->
        Finished(ToolUseId("5"), StructuredOutputRejected) -> End(StructuredOutputRetries)
    "#]],
    );
}

#[test]
fn a_refused_call_ends_the_turn_and_stops_its_neighbors() {
    check(
        Limits::default(),
        [
            Prompted,
            Called(id(1)),
            Called(id(2)),
            responded(StopReason::ToolUse),
            Finished(id(1), Refused),
        ],
        expect![[r#"
            Prompted -> CallModel
            Called(ToolUseId("1")) -> RunTool(ToolUseId("1"))
            Called(ToolUseId("2")) -> RunTool(ToolUseId("2"))
            ResponseEnded { stop_reason: Some(ToolUse), empty: false } ->
            Finished(ToolUseId("1"), Refused) -> StopTool(ToolUseId("2")) End(AbortedTools)
        "#]],
    );
}

#[test]
fn a_hook_that_stops_the_turn_waits_for_the_other_tools() {
    check(
        Limits::default(),
        [
            Prompted,
            Called(id(1)),
            Called(id(2)),
            responded(StopReason::ToolUse),
            Finished(id(1), HookStopped),
            Finished(id(2), Continue),
        ],
        expect![[r#"
            Prompted -> CallModel
            Called(ToolUseId("1")) -> RunTool(ToolUseId("1"))
            Called(ToolUseId("2")) -> RunTool(ToolUseId("2"))
            ResponseEnded { stop_reason: Some(ToolUse), empty: false } ->
            Finished(ToolUseId("1"), HookStopped) ->
            Finished(ToolUseId("2"), Continue) -> End(HookStopped)
        "#]],
    );
}

#[test]
fn exhausted_budget_ends_the_turn() {
    check(
        Limits::default(),
        [Prompted, Called(id(1)), BudgetExhausted],
        expect![[r#"
        Prompted -> CallModel
        Called(ToolUseId("1")) -> RunTool(ToolUseId("1"))
        BudgetExhausted -> StopModel StopTool(ToolUseId("1")) End(BudgetExhausted)
    "#]],
    );
}

#[test]
fn a_refusal_does_not_wait_for_the_model_to_finish() {
    check(
        Limits::default(),
        [Prompted, Called(id(1)), Called(id(2)), Finished(id(1), Refused)],
        expect![[r#"
            Prompted -> CallModel
            Called(ToolUseId("1")) -> RunTool(ToolUseId("1"))
            Called(ToolUseId("2")) -> RunTool(ToolUseId("2"))
            Finished(ToolUseId("1"), Refused) -> StopModel StopTool(ToolUseId("2")) End(AbortedTools)
        "#]],
    );
}

#[test]
fn repeatedly_cut_stream_fails_the_turn() {
    check(
        Limits::default(),
        [
            Prompted,
            Cut,
            Cut,
            Called(id(1)),
            responded(StopReason::ToolUse),
            Finished(id(1), Continue),
        ],
        expect![[r#"
            Prompted -> CallModel
            Cut -> Nudge(CutStream) CallModel
            Cut -> Nudge(CutStream) CallModel
            Called(ToolUseId("1")) -> RunTool(ToolUseId("1"))
            ResponseEnded { stop_reason: Some(ToolUse), empty: false } ->
            Finished(ToolUseId("1"), Continue) -> CallModel
        "#]],
    );
    check(
        Limits::default(),
        [Prompted, Cut, Cut, Cut, Cut],
        expect![[r#"
            Prompted -> CallModel
            Cut -> Nudge(CutStream) CallModel
            Cut -> Nudge(CutStream) CallModel
            Cut -> Nudge(CutStream) CallModel
            Cut -> End(ApiError)
        "#]],
    );
}

#[test]
fn number_of_pauses_is_bounded() {
    let mut turn = Turn::new(Limits::default());
    let _ = turn.step(Prompted);
    for _ in 0..MAX_PAUSES {
        assert_eq!(turn.step(responded(StopReason::PauseTurn)), [Effect::CallModel]);
    }
    assert_eq!(turn.step(responded(StopReason::PauseTurn)), [Effect::RunStopHooks]);
}

//! Tables of the state machine's transitions.

use super::*;

const NOW: SystemTime = SystemTime::UNIX_EPOCH;

fn call(ticket: Ticket) -> Step {
    Step::BeginCall(
        ticket,
        PendingToolCall {
            tool_use_id: None,
            server_name: "calc".to_owned(),
            tool_name: format!("tool {ticket}"),
            arguments: RawJson::empty_object(),
            started_at: NOW,
        },
    )
}

fn request_permission(ticket: Ticket) -> Step {
    Step::Ask(
        ticket,
        PendingPermission {
            request_id: None,
            tool_use_id: "toolu_1".into(),
            tool_name: format!("tool {ticket}"),
            tool_input: RawJson::empty_object(),
            asked_at: NOW,
        },
    )
}

/// A session in each of the nine states.
fn sessions() -> Vec<SessionStatus> {
    use Step::{Cancel, Complete, Connect, Fail, Pause, Start};
    let ways: [&[Step]; 9] = [
        &[],
        &[Start],
        &[Start, Connect],
        &[Start, Connect, call(1)],
        &[Start, Connect, request_permission(2)],
        &[Start, Connect, Pause],
        &[Start, Connect, Complete],
        &[Start, Connect, Fail],
        &[Start, Connect, Cancel],
    ];
    ways.into_iter().map(reached).collect()
}

fn reached(steps: &[Step]) -> SessionStatus {
    let mut status = SessionStatus::default();
    for step in steps {
        status.step(step.clone(), NOW).unwrap();
    }
    status
}

/// Every step from every state: where it leads, or `-` where it cannot be taken.
#[test]
fn only_legal_transitions() {
    let steps = [
        ("start", Step::Start),
        ("connect", Step::Connect),
        ("receive", Step::Receive),
        ("call", call(7)),
        ("end call", Step::EndCall(1)),
        ("ask", request_permission(8)),
        ("decide", Step::Decide(2)),
        ("pause", Step::Pause),
        ("resume", Step::Resume),
        ("complete", Step::Complete),
        ("fail", Step::Fail),
        ("cancel", Step::Cancel),
    ];
    let mut table = String::new();
    for session in sessions() {
        table += &format!("{}:", session.state());
        for (name, step) in &steps {
            let mut next = session.clone();
            let to = match next.step(step.clone(), NOW) {
                Ok(()) if next.state() == session.state() => "=",
                Ok(()) => next.state().as_str(),
                Err(Illegal(state)) => {
                    assert_eq!((state, &next), (session.state(), &session), "nothing changed");
                    "-"
                }
            };
            table += &format!(" {name} {to},");
        }
        table += "\n";
    }
    let expected = "\
idle: start starting, connect -, receive -, call -, end call =, ask -, decide =, pause -, resume -, complete -, fail failed, cancel cancelled,
starting: start -, connect running, receive =, call =, end call =, ask =, decide =, pause -, resume -, complete -, fail failed, cancel cancelled,
running: start -, connect -, receive =, call waiting_tool_call, end call =, ask waiting_permission, decide =, pause paused, resume -, complete completed, fail failed, cancel cancelled,
waiting_tool_call: start -, connect -, receive =, call =, end call running, ask waiting_permission, decide =, pause paused, resume -, complete completed, fail failed, cancel cancelled,
waiting_permission: start -, connect -, receive =, call =, end call =, ask =, decide running, pause paused, resume -, complete completed, fail failed, cancel cancelled,
paused: start -, connect -, receive =, call =, end call =, ask =, decide =, pause -, resume running, complete completed, fail failed, cancel cancelled,
completed: start -, connect -, receive -, call -, end call =, ask -, decide =, pause -, resume -, complete -, fail -, cancel -,
failed: start -, connect -, receive -, call -, end call =, ask -, decide =, pause -, resume -, complete -, fail -, cancel -,
cancelled: start -, connect -, receive -, call -, end call =, ask -, decide =, pause -, resume -, complete -, fail -, cancel -,
";
    assert_eq!(table, expected);
}

#[test]
fn pending_calls_and_permissions_nest() {
    let mut status = reached(&[Step::Start, Step::Connect]);
    let walk = [
        (call(1), "waiting_tool_call"),
        (call(2), "waiting_tool_call"),
        (request_permission(3), "waiting_permission"),
        // The oldest ends first, and the others are still waited for.
        (Step::EndCall(1), "waiting_permission"),
        (Step::Pause, "paused"),
        (Step::Decide(3), "paused"),
        (Step::Resume, "waiting_tool_call"),
        (Step::EndCall(2), "running"),
        // An end that is reported twice is one.
        (Step::EndCall(2), "running"),
    ];
    for (step, state) in walk {
        status.step(step.clone(), NOW).unwrap();
        assert_eq!(status.state().as_str(), state, "{step:?}");
    }
    let stats = status.statistics();
    assert_eq!((stats.tool_calls, stats.permissions, stats.messages), (2, 1, 0));
}

#[test]
fn the_oldest_is_shown_and_the_end_forgets() {
    let mut status =
        reached(&[Step::Start, Step::Connect, call(5), call(9), request_permission(6)]);
    assert_eq!(status.pending_tool_call().unwrap().tool_name, "tool 5");
    assert_eq!(status.pending_tool_calls().len(), 2);
    assert_eq!(status.pending_permission().unwrap().tool_name, "tool 6");
    let later = NOW + std::time::Duration::from_secs(9);
    status.step(Step::Cancel, later).unwrap();
    assert_eq!((status.pending_tool_call(), status.pending_permission()), (None, None));
    let stats = status.statistics();
    assert_eq!((stats.started_at, stats.completed_at), (Some(NOW), Some(later)));
}

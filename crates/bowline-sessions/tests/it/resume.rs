//! From transcripts to conversations: the rules, as tables.

use std::{fs, iter};

use bowline_protocol::{ContentBlock, MessageUuid};
use bowline_sessions::{MessageKind, ResumeAt, SessionError, Unfinished, resume};
use serde_json::{Value, json};

use crate::transcript::{
    Home, ID, answer, assert_valid, block, boundary, brief, call, result, user, with,
};

fn check(lines: &[Value], expected: &str) -> bowline_sessions::LiveContext {
    let home = Home::new();
    let files = home.write(ID, lines);
    let context = resume(&files.transcript(), &ResumeAt::End).unwrap();
    assert_valid(&context);
    assert_eq!(brief(&context), expected);
    context
}

#[test]
fn the_branch_written_last_wins() {
    let (root, old, new) =
        (user("u", None, "hi"), answer("a", "u", "old"), answer("b", "u", "new"));
    check(&[root.clone(), old.clone(), new.clone()], "user: hi | assistant: new");
    let leaf = json!({ "type": "last-prompt", "leafUuid": "a", "lastPrompt": "hi" });
    check(&[root.clone(), old.clone(), new.clone(), leaf.clone()], "user: hi | assistant: old");
    // Lines after the note have gone on since.
    check(&[root.clone(), leaf, old.clone(), new.clone()], "user: hi | assistant: new");
    let unknown = json!({ "type": "last-prompt", "leafUuid": "nobody" });
    check(&[root, old, new, unknown], "user: hi | assistant: new");
}

#[test]
fn an_unknown_parent_is_a_root_and_unknown_links_are_followed() {
    let lines = [user("u", Some("gone"), "hi"), answer("a", "u", "yes")];
    check(&lines, "user: hi | assistant: yes");
    let link =
        json!({ "type": "later-invention", "uuid": "x", "parentUuid": "u", "timestamp": "t" });
    check(&[user("u", None, "hi"), link, answer("a", "x", "yes")], "user: hi | assistant: yes");
}

#[test]
fn a_loop_ends() {
    let lines = [user("u", Some("a"), "hi"), answer("a", "u", "yes")];
    check(&lines, "user: hi | assistant: yes");
}

#[test]
fn subagent_lines_in_the_same_file_are_skipped() {
    let side = with(user("s", Some("u"), "aside"), "isSidechain", true);
    check(&[user("u", None, "hi"), answer("a", "u", "yes"), side], "user: hi | assistant: yes");
}

#[test]
fn prompt_without_response_gets_a_synthetic_one() {
    let context = check(&[user("u", None, "hi")], "user: hi | assistant: No response requested.");
    assert_eq!(context.unfinished, Some(Unfinished::NoAnswer));
    assert_eq!(brief(&context.without_synthetic_response()), "user: hi");
}

#[test]
fn call_without_result_gets_a_synthetic_one() {
    let lines = [
        user("u", None, "hi"),
        call("a", "u", "m", "t1"),
        call("b", "a", "m", "t2"),
        result("r", "a", "t1"),
    ];
    let context = check(
        &lines,
        "user: hi | assistant: call t1, call t2 | user: result t1, no result t2 \
         | assistant: No response requested.",
    );
    assert_eq!(context.unfinished, Some(Unfinished::NoToolResults));
    // The same in the middle of a conversation.
    let lines = [
        user("u", None, "hi"),
        call("a", "u", "m", "t1"),
        user("v", Some("a"), "go on"),
        answer("b", "v", "ok"),
    ];
    check(&lines, "user: hi | assistant: call t1 | user: no result t1, go on | assistant: ok");
}

#[test]
fn a_result_without_call_is_left_out() {
    let lines = [user("u", None, "hi"), result("r", "u", "t9"), answer("a", "r", "ok")];
    check(&lines, "user: hi | assistant: ok");
}

#[test]
fn result_after_other_lines_is_found() {
    let meta = with(user("n", Some("a"), "note"), "isMeta", true);
    let lines = [
        user("u", None, "hi"),
        call("a", "u", "m", "t1"),
        meta,
        result("r", "n", "t1"),
        answer("b", "r", "ok"),
    ];
    check(&lines, "user: hi | assistant: call t1 | user: result t1, note | assistant: ok");
}

#[test]
fn blocks_that_the_api_rejects_are_left_out() {
    let failed = with(answer("e", "u", "overloaded"), "isApiErrorMessage", true);
    let thinking =
        block("t", "e", "m", json!({ "type": "thinking", "thinking": "hm", "signature": "s" }));
    let lines = [
        user("u", None, "hi"),
        failed,
        thinking,
        user("v", Some("t"), " "),
        answer("b", "v", "ok"),
    ];
    check(&lines, "user: hi | assistant: ok");
}

#[test]
fn a_beginning_that_is_missing_is_marked() {
    let context = check(
        &[answer("a", "gone", "ok")],
        "user: [The beginning of this conversation is missing.] | assistant: ok",
    );
    assert_eq!(context.messages[0].kind, MessageKind::MadeUp);
}

#[test]
fn a_compaction_keeps_a_stretch_of_what_was_before() {
    let before = [
        user("u", None, "one"),
        answer("a", "u", "1"),
        user("v", Some("a"), "two"),
        answer("b", "v", "2"),
    ];
    let stretch = json!({ "trigger": "auto", "preservedSegment": { "headUuid": "v", "anchorUuid": "s", "tailUuid": "b" } });
    let summary = with(user("s", Some("c"), "sum"), "isCompactSummary", true);
    let after = [user("w", Some("s"), "three"), answer("d", "w", "3")];
    let mut lines: Vec<Value> = before.to_vec();
    lines.extend([boundary("c", stretch), summary]);
    lines.extend(after);
    check(&lines, "user: sum, two | assistant: 2 | user: three | assistant: 3");
}

#[test]
fn lines_before_a_compaction_are_not_read() {
    let mut lines = vec![user("u", None, "one"), answer("a", "u", "1")];
    lines.extend([boundary("c", json!({ "trigger": "auto" }))]);
    lines.push(with(user("s", Some("c"), "sum"), "isCompactSummary", true));
    let context = check(&lines, "user: sum");
    assert!(context.known.contains(&MessageUuid::from("s")));
    assert!(!context.known.contains(&MessageUuid::from("u")));
    assert_eq!(context.unfinished, None, "a summary wants no answer");
}

#[test]
fn resume_at_a_message() {
    let lines = [
        user("u", None, "one"),
        answer("a", "u", "1"),
        user("v", Some("a"), "two"),
        answer("b", "v", "2"),
    ];
    let home = Home::new();
    let path = home.write(ID, &lines).transcript();
    let context = resume(&path, &ResumeAt::Message("a".into())).unwrap();
    assert_eq!(brief(&context), "user: one | assistant: 1");
    assert_eq!(context.leaf, Some("a".into()));
    let error = resume(&path, &ResumeAt::Message("z".into())).unwrap_err();
    assert!(matches!(error, SessionError::NoSuchMessage(_)), "{error}");
}

#[test]
fn notes_and_state_are_restored() {
    let todo = json!({ "type": "tool_use", "id": "t1", "name": "TodoWrite", "input": { "todos": [{ "content": "x" }] } });
    let lines = [
        json!({ "type": "custom-title", "customTitle": "First", "sessionId": ID }),
        with(user("u", None, "hi"), "permissionMode", "plan"),
        block("a", "u", "m", todo),
        result("r", "a", "t1"),
        answer("b", "r", "ok"),
        json!({ "type": "custom-title", "customTitle": "Second", "sessionId": ID }),
        json!({ "type": "tag", "tag": "", "sessionId": ID }),
        json!({ "type": "tools-used", "tools": ["TodoWrite"], "sessionId": ID }),
        json!({ "type": "cost-state", "totalCostUSD": 1.5 }),
    ];
    let context = check(&lines, "user: hi | assistant: call t1 | user: result t1 | assistant: ok");
    assert_eq!(context.title.as_deref(), Some("Second"));
    assert_eq!(context.tag, None);
    assert_eq!(context.permission_mode.as_deref(), Some("plan"));
    assert_eq!(context.tools_used, ["TodoWrite"]);
    assert_eq!(context.cost.unwrap().total_cost_usd, 1.5);
    assert_eq!(context.todos.unwrap().get(), r#"[{"content":"x"}]"#);
}

#[test]
fn an_empty_transcript_is_an_empty_conversation() {
    let home = Home::new();
    let path = home.write(ID, &[]).transcript();
    assert_eq!(resume(&path, &ResumeAt::End).unwrap(), Default::default());
}

/// Synthetic response to a prompt without one.
const NO_ANSWER: &str = "assistant: No response requested.";

#[test]
fn deferred_call_is_listed_until_it_has_a_result() {
    let put_off = json!({
        "type": "attachment", "uuid": "p", "parentUuid": "b", "isSidechain": false,
        "attachment": {
            "type": "hook_deferred_tool", "toolUseID": "t2", "toolName": "Bash",
            "toolInput": {"command": "ls"}, "hookName": "settings", "hookEvent": "PreToolUse",
        },
    });
    let asked = [user("u", None, "hi"), call("a", "u", "m", "t1"), call("b", "a", "m", "t2")];
    let left = [&asked[..], &[result("r", "a", "t1"), with(put_off, "parentUuid", "r")]].concat();
    let calls = "user: hi | assistant: call t1, call t2";
    let context = check(&left, &format!("{calls} | user: result t1, no result t2"));
    let [deferred] = &context.deferred[..] else { panic!("it waits: {:?}", context.deferred) };
    assert_eq!((deferred.id.as_str(), &*deferred.name), ("t2", "Bash"));
    assert_eq!(deferred.input.to_value(), json!({"command": "ls"}));
    assert_eq!(context.unfinished, None);

    let done = [&left[..], &[result("q", "p", "t2")]].concat();
    let done = check(&done, &format!("{calls} | user: result t1, result t2 | {NO_ANSWER}"));
    assert_eq!(done.deferred, []);
    // Somebody has gone on without it.
    let passed = [&left[..], &[user("v", Some("p"), "go on"), answer("c", "v", "ok")]].concat();
    let passed =
        check(&passed, &format!("{calls} | user: result t1, no result t2, go on | assistant: ok"));
    assert_eq!(passed.deferred, []);
}

#[test]
fn deferred_calls_are_listed_in_order() {
    let put_off = |uuid: &str, parent: &str, id: &str| {
        json!({
            "type": "attachment", "uuid": uuid, "parentUuid": parent, "isSidechain": false,
            "attachment": {"type": "hook_deferred_tool", "toolUseID": id, "toolName": "Bash",
                "toolInput": {}, "hookEvent": "PreToolUse"},
        })
    };
    // A result came between the lines of the response, and the hooks finished out of order.
    let left = [
        user("u", None, "hi"),
        call("a", "u", "m", "t1"),
        call("b", "a", "m", "t2"),
        result("r", "b", "t2"),
        call("c", "r", "m", "t3"),
        put_off("p", "c", "t3"),
        put_off("q", "p", "t1"),
    ];
    let home = Home::new();
    let ids = |lines: &[Value]| {
        let path = home.write(ID, lines).transcript();
        let context = resume(&path, &ResumeAt::End).unwrap();
        context.deferred.iter().map(|it| it.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&left), ["t1", "t3"]);
    assert_eq!(ids(&[&left[..], &[result("s", "q", "t1")]].concat()), ["t3"]);
}

#[test]
fn a_conversation_that_several_threads_read_is_in_order() {
    let home = Home::new();
    let names: Vec<String> = (0..9_000).map(|number| format!("n{number}")).collect();
    let parents = iter::once(None).chain(names.iter().map(|name| Some(name.as_str())));
    let lines = names.iter().zip(parents).enumerate();
    let lines: Vec<_> = lines
        .map(|(number, (name, parent))| match parent {
            Some(parent) if number % 2 == 1 => answer(name, parent, name),
            parent => user(name, parent, name),
        })
        .collect();
    let context = resume(&home.write(ID, &lines).transcript(), &ResumeAt::End).unwrap();
    let said = context.messages.iter().flat_map(|message| &message.content);
    let said: Vec<_> = said.filter_map(ContentBlock::as_text).collect();
    assert_eq!(said, names);
    let uuids = context.messages.iter().flat_map(|message| &message.uuids);
    assert!(uuids.map(|uuid| uuid.as_str()).eq(&names));
}

#[test]
fn byte_order_mark_is_skipped() {
    let home = Home::new();
    let path = home.write(ID, &[user("u", None, "hi"), answer("a", "u", "yes")]).transcript();
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("\u{feff}{text}")).unwrap();
    assert_eq!(brief(&resume(&path, &ResumeAt::End).unwrap()), "user: hi | assistant: yes");
}

use super::*;

fn message(uuid: &str) -> String {
    format!(r#"{{"type":"assistant","uuid":"{uuid}","session_id":"s"}}"#)
}

fn question(id: &str) -> String {
    format!(r#"{{"type":"control_request","request_id":"{id}","request":{{"subtype":"x"}}}}"#)
}

fn answer(id: &str) -> String {
    format!(
        r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{id}"}}}}"#
    )
}

/// All that would be written now, each line by the name in it.
fn written(memory: &mut Memory) -> Vec<String> {
    std::iter::from_fn(|| memory.take_next())
        .map(|text| {
            let line: serde_json::Value = serde_json::from_str(&text).unwrap();
            let name = |value: &serde_json::Value| value.as_str().map(str::to_owned);
            match line["subtype"] == "messages_lost" {
                true => format!("lost {}", line["lost"]),
                false => name(&line["uuid"])
                    .or_else(|| name(&line["request_id"]))
                    .or_else(|| name(&line["response"]["request_id"]))
                    .unwrap(),
            }
        })
        .collect()
}

fn filled(lines: impl IntoIterator<Item = String>) -> Memory {
    let mut memory = Memory::default();
    memory.resume(None);
    lines.into_iter().for_each(|line| memory.push(line));
    memory
}

#[test]
fn lines_are_written_in_order_and_once() {
    let mut memory = filled([message("a"), answer("b"), message("c")]);
    assert_eq!(written(&mut memory), ["a", "b", "c"]);
    assert_eq!(written(&mut memory), [""; 0]);
    memory.push(message("d"));
    assert_eq!(written(&mut memory), ["d"]);
    assert_eq!((memory.written(), memory.newest()), (4, Some("d")));
}

#[test]
fn what_is_behind_the_line_that_is_named_is_said_again() {
    let mut memory = filled([message("a"), answer("b"), message("c"), answer("d")]);
    written(&mut memory);
    memory.resume(Some("a"));
    assert_eq!(written(&mut memory), ["b", "c", "d"]);
    memory.resume(Some("c"));
    assert_eq!(written(&mut memory), ["d"]);
    assert!(!memory.is_delivered());
    // It was started anew, and knows less than before.
    memory.resume(Some("a"));
    assert_eq!(written(&mut memory), ["b", "c", "d"]);
}

#[test]
fn an_unknown_name_is_told_everything() {
    let mut memory = filled([message("a"), message("b")]);
    written(&mut memory);
    memory.acknowledge(2);
    memory.resume(Some("who is this"));
    assert_eq!(written(&mut memory), ["a", "b"]);
}

#[test]
fn a_host_that_has_less_than_the_one_before_misses_nothing_unsaid() {
    let mut memory = filled((0..LINES as u64).map(|number| message(&number.to_string())));
    written(&mut memory);
    memory.acknowledge(LINES as u64);
    // It was started anew, and was lost before it heard anything.
    memory.resume(Some("4"));
    memory.resume(None);
    assert_eq!(written(&mut memory)[0], "5");
    memory.acknowledge(LINES as u64);
    // What it names is forgotten meanwhile: nobody knows how much it has missed.
    (0..9).for_each(|number| memory.push(message(&format!("x{number}"))));
    memory.resume(Some("4"));
    assert_eq!(written(&mut memory)[..2], ["lost null".to_owned(), "9".to_owned()]);
}

#[test]
fn without_a_name_what_may_be_missing_is_said_again() {
    let mut memory = filled([message("a"), message("b"), message("c")]);
    written(&mut memory);
    memory.acknowledge(1);
    memory.resume(None);
    assert_eq!(written(&mut memory), ["b", "c"]);
    memory.acknowledge(3);
    memory.resume(None);
    assert_eq!(written(&mut memory), [""; 0]);
    assert!(memory.is_delivered());
}

#[test]
fn a_question_is_asked_again_until_it_is_answered() {
    let mut memory = filled([question("q"), question("r"), question("w"), message("a")]);
    written(&mut memory);
    memory.push(r#"{"type":"control_cancel_request","request_id":"w"}"#.to_owned());
    memory.resume(Some("a"));
    assert_eq!(written(&mut memory), ["q", "r", "w"], "w's withdrawal is behind the last heard");
    memory.answered(&RequestId("q".to_owned()));
    memory.push(message("b"));
    memory.resume(Some("b"));
    assert_eq!(written(&mut memory), ["r"]);
}

#[test]
fn what_is_lost_is_counted_and_told_until_it_is_heard() {
    let mut memory = filled((0..LINES as u64 + 5).map(|number| message(&number.to_string())));
    memory.acknowledge(2);
    memory.resume(Some("0"));
    let said = written(&mut memory);
    assert_eq!(said[..2], ["lost 3".to_owned(), "5".to_owned()]);
    assert_eq!(said.len(), LINES + 1);
    // The connection broke again, and one more line was forgotten meanwhile.
    memory.push(message("x"));
    memory.resume(Some("0"));
    assert_eq!(written(&mut memory)[0], "lost 4");
    memory.acknowledge(7);
    memory.resume(None);
    assert_eq!(written(&mut memory)[0], "7");
}

#[test]
fn a_question_outlives_what_was_said_beside_it() {
    let lines = (0..2 * LINES).map(|number| message(&number.to_string()));
    let mut memory = filled([question("q")].into_iter().chain(lines));
    memory.acknowledge(2 * LINES as u64);
    memory.resume(None);
    assert_eq!(written(&mut memory), ["q", "1999"]);
}

#[test]
fn there_is_room_as_long_as_nothing_is_lost_by_it() {
    let mut memory = filled((0..LINES - 1).map(|number| message(&number.to_string())));
    assert!(memory.has_room());
    memory.push(message("x"));
    assert!(!memory.has_room());
    memory.acknowledge(1);
    assert!(memory.has_room());
    memory.push(message("y"));
    assert!(!memory.has_room());
}

#[test]
fn an_answer_can_be_repeated() {
    let mut memory = filled([answer("q"), message("a")]);
    written(&mut memory);
    memory.repeat_answer(&RequestId("q".to_owned()));
    memory.repeat_answer(&RequestId("never asked".to_owned()));
    assert_eq!(written(&mut memory), ["q"]);
}

#[test]
fn whoever_answers_a_question_has_all_that_was_said_before_it() {
    let mut memory = filled([message("a"), question("q"), message("b")]);
    written(&mut memory);
    memory.answered(&RequestId("q".to_owned()));
    memory.resume(None);
    assert_eq!(written(&mut memory), ["b"]);
}

#[test]
fn what_is_known_of_an_answer() {
    let asked = RequestId("q".to_owned());
    let mut memory = filled([message("a")]);
    memory.asked(asked.clone());
    assert_eq!(memory.reply_to(&asked), Reply::Owed);
    memory.push(answer("q"));
    memory.acknowledge(1);
    assert_eq!(memory.reply_to(&asked), Reply::Said);
    memory.acknowledge(2);
    assert_eq!(memory.reply_to(&asked), Reply::Heard);
    // The host says that it has less than its pongs said.
    memory.resume(Some("a"));
    assert_eq!(memory.reply_to(&asked), Reply::Said);
    // Nobody wants the answer to this one any more.
    let other = RequestId("r".to_owned());
    memory.asked(other.clone());
    memory.withdrawn(&other);
    assert_eq!(memory.reply_to(&other), Reply::Heard);
}

#[test]
fn only_what_moves_the_session_on_is_progress_and_only_once() {
    let mut memory = filled([answer("q"), message("a"), question("r"), answer("s")]);
    let mut progress = |number| {
        memory.acknowledge(number);
        memory.progress()
    };
    assert_eq!([1, 2, 3, 4, 4].map(&mut progress), [0, 1, 2, 2, 2]);
    memory.resume(Some("a"));
    memory.acknowledge(4);
    assert_eq!(memory.progress(), 2);
}

#[test]
fn many_bytes_are_too_much_as_well() {
    let large = |number: usize| {
        format!(r#"{{"type":"assistant","uuid":"{number}","x":"{}"}}"#, "x".repeat(BYTES / 4))
    };
    let mut memory = filled((0..6).map(large));
    memory.resume(None);
    assert_eq!(written(&mut memory), ["lost 3", "3", "4", "5"]);
}

#[test]
fn questions_without_end_take_so_much_room_and_no_more() {
    let mut memory = Memory::default();
    let id = |number: usize| RequestId(format!("{number:0100}"));
    for number in 0..100_000 {
        memory.asked(id(number));
    }
    assert!(memory.owed_bytes <= OWED_BYTES && memory.owed.len() < 50_000);
    assert_eq!(memory.reply_to(&id(0)), Reply::Owed);
    for number in 0..100_000 {
        memory.withdrawn(&id(number));
    }
    assert_eq!((memory.owed_bytes, memory.owed.len()), (0, 0));
}

//! Listing, finding and searching: the rules, as tables.

use std::{
    fs::{self, File},
    process::Command,
    time::{Duration, SystemTime},
};

use bowline_protocol::SessionId;
use bowline_sessions::{
    ListOptions, ProjectKey, SessionError, SessionInfo, Target, find, info, list, newest, search,
};
use serde_json::{Value, json};

use crate::transcript::{Home, ID, answer, result, text, user, with};

const OTHER: &str = "7d0f1a2b-3c4d-4e5f-8a9b-0c1d2e3f4a5b";

fn read(lines: &[Value]) -> Option<SessionInfo> {
    let home = Home::new();
    home.write(ID, lines);
    info(&home.home, &ID.into(), None)
}

/// Makes a transcript look written to at some second.
fn touch(home: &Home, id: &str, second: u64) {
    let file = File::options().append(true).open(home.files(id).transcript()).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000 + second))
        .unwrap();
}

#[test]
fn first_prompt_is_the_first_text_of_a_person() {
    let long = "x".repeat(201);
    let cases: Vec<(Vec<Value>, Option<String>)> = vec![
        (vec![user("u", None, "a\nb ")], Some("a b".into())),
        (vec![user("u", None, &long)], Some(format!("{}…", "x".repeat(200)))),
        (
            vec![with(user("u", None, "meta"), "isMeta", true), user("v", None, "real")],
            Some("real".into()),
        ),
        (
            vec![with(user("u", None, "sum"), "isCompactSummary", true), user("v", None, "real")],
            Some("real".into()),
        ),
        (vec![result("r", "x", "t"), user("v", None, "real")], Some("real".into())),
        (
            vec![user("u", None, "<command-name>/go</command-name>"), user("v", None, "real")],
            Some("real".into()),
        ),
        (vec![user("u", None, "<command-name>/go</command-name>")], Some("/go".into())),
        (
            vec![user("u", None, "<local-command-stdout>x"), user("v", None, "real")],
            Some("real".into()),
        ),
        (vec![user("u", None, "[Request interrupted by user for tool use]")], None),
        (vec![user("u", None, "<ide_selection>x</ide_selection>")], None),
        (
            vec![user("u", None, "<ide_selection>x</ide_selection> why?")],
            Some("<ide_selection>x</ide_selection> why?".into()),
        ),
    ];
    for (lines, expected) in cases {
        assert_eq!(read(&lines).and_then(|info| info.first_prompt), expected, "{lines:?}");
    }
}

#[test]
fn listing_summary_prefers_the_best_source() {
    let prompt = user("u", None, "first");
    let summary = json!({ "type": "summary", "summary": "older", "leafUuid": "u" });
    let last = json!({ "type": "last-prompt", "lastPrompt": "last", "leafUuid": "u" });
    let generated = json!({ "type": "ai-title", "aiTitle": "generated" });
    let given = json!({ "type": "custom-title", "customTitle": "given \"so\"" });
    let mut lines = vec![prompt];
    for (line, expected) in [
        (None, "first"),
        (Some(summary), "older"),
        (Some(last), "last"),
        (Some(generated), "generated"),
        (Some(given), "given \"so\""),
    ] {
        lines.extend(line);
        assert_eq!(read(&lines).unwrap().summary, expected);
    }
}

#[test]
fn fields_come_from_the_ends_of_a_large_file() {
    let mut lines = vec![user("u", None, "first")];
    lines.extend((0..2000).map(|n| answer(&format!("a{n}"), "u", "filler")));
    lines[1000] = json!({ "type": "custom-title", "customTitle": "in the middle" });
    lines.push(with(answer("z", "u", "end"), "gitBranch", "late"));
    let tag = "{\"type\":\"tag\",\"tag\":\"exp\"}\n{\"note\":\"tag\",\"tag\":\"not this\"}\n";
    let home = Home::new();
    let files = home.write(ID, &[]);
    fs::write(files.transcript(), text(&lines) + tag).unwrap();
    let info = info(&home.home, &ID.into(), None).unwrap();
    assert!(info.file_size.unwrap() > 4 * 65_536);
    assert_eq!(info.custom_title, None, "it is in neither end");
    assert_eq!(info.git_branch.as_deref(), Some("late"));
    assert_eq!(info.tag.as_deref(), Some("exp"));
    assert_eq!(info.cwd.as_deref(), Some("/w"));
    assert_eq!(info.created_at, Some(1_767_323_045_678));
}

#[test]
fn subagents_and_silent_sessions_are_left_out() {
    assert_eq!(read(&[with(user("u", None, "aside"), "isSidechain", true)]), None);
    assert_eq!(read(&[json!({ "type": "mode", "mode": "normal" })]), None);
    assert_eq!(read(&[]), None);
}

#[test]
fn newest_first_then_offset_then_limit() {
    let home = Home::new();
    let ids: Vec<String> =
        (0..5).map(|n| format!("{n}0000000-0000-4000-8000-000000000000")).collect();
    for (second, id) in ids.iter().enumerate() {
        home.write(id, &[user("u", None, id)]);
        touch(&home, id, second as u64);
    }
    fs::write(home.files(ID).project_folder().join("notes.jsonl"), "{}\n").unwrap();
    let listed = |offset, limit| -> Vec<String> {
        let options = ListOptions { offset, limit, ..ListOptions::of(home.directory()) };
        let sessions = list(&home.home, &options);
        sessions.into_iter().map(|info| info.session_id.0[..1].to_owned()).collect()
    };
    assert_eq!(listed(0, None), ["4", "3", "2", "1", "0"]);
    assert_eq!(listed(1, Some(2)), ["3", "2"]);
    assert_eq!(listed(4, Some(0)), ["0"]);
    assert_eq!(newest(&home.home, &home.directory()).unwrap().id().as_str(), ids[4]);
    assert_eq!(newest(&home.home, home.folder.path()), None);
}

#[test]
fn worktrees_belong_together() {
    let home = Home::new();
    let main = home.directory();
    let side = home.folder.path().join("side");
    let git = |arguments: &[&str]| {
        let done = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@example.invalid"])
            .args(arguments)
            .current_dir(&main)
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "start"]);
    git(&["worktree", "add", "-q", side.to_str().unwrap()]);
    home.write(ID, &[user("u", None, "main")]);
    let there = home.home.session(&ProjectKey::for_directory(&side), &SessionId::from(OTHER));
    fs::create_dir_all(there.project_folder()).unwrap();
    fs::write(there.transcript(), text(&[user("u", None, "side")])).unwrap();
    let count = |options: &ListOptions| list(&home.home, options).len();
    assert_eq!(count(&ListOptions::of(&main)), 2);
    assert_eq!(count(&ListOptions { without_worktrees: true, ..ListOptions::of(&main) }), 1);
    assert!(info(&home.home, &OTHER.into(), Some(&main)).is_some());
}

#[test]
fn sessions_are_found_by_id_title_prefix_and_file() {
    let home = Home::new();
    let title = |title: &str| json!({ "type": "custom-title", "customTitle": title });
    home.write(ID, &[user("u", None, "one"), title("Fix the parser")]);
    home.write(OTHER, &[user("u", None, "two"), title("Fix the lexer")]);
    let directory = home.directory();
    let found = |target: &str| match find(&home.home, target, &directory) {
        Ok(Target::Session(files)) => files.id().0.clone(),
        Ok(Target::File(path)) => path.file_name().unwrap().to_str().unwrap().to_owned(),
        Err(SessionError::Ambiguous { fitting, .. }) => format!("{} fit", fitting.len()),
        Err(SessionError::NotFound { nearest, .. }) => format!("none of {}", nearest.len()),
        Err(other) => panic!("{other}"),
    };
    assert_eq!(found(ID), ID);
    assert_eq!(found(&ID.to_uppercase()), ID);
    assert_eq!(found("0b9c5"), ID);
    assert_eq!(found("fix the lexer"), OTHER);
    assert_eq!(found("Fix the p"), ID);
    assert_eq!(found("Fix"), "2 fit");
    assert_eq!(found("something else"), "none of 2");
    assert_eq!(found("00000000-0000-4000-8000-000000000000"), "none of 2");
    assert_eq!(found(home.files(ID).transcript().to_str().unwrap()), ID);
    fs::write(directory.join("copy.jsonl"), text(&[user("u", None, "one")])).unwrap();
    assert_eq!(found("copy.jsonl"), "copy.jsonl");
    assert_eq!(found("missing.jsonl"), "none of 2");
    for nothing in ["", "\n\n", "not,a,transcript\n"] {
        fs::write(directory.join("nothing.jsonl"), nothing).unwrap();
        assert_eq!(found("nothing.jsonl"), "none of 2", "{nothing:?}");
    }
    let error = find(&home.home, "Fix", &directory).unwrap_err().to_string();
    assert!(error.contains(ID) && error.contains("Fix the parser"), "{error}");
}

#[test]
fn words_are_found_in_titles_and_messages() {
    let home = Home::new();
    home.write(ID, &[user("u", None, "one"), answer("a", "u", "The \"Quick\"\nbrown fox")]);
    home.write(OTHER, &[user("u", None, "foxes")]);
    let hits = search(&home.home, "quick\" BROWN", &ListOptions::default());
    assert_eq!(hits.len(), 0, "a line break is no space");
    let hits = search(&home.home, "BROWN f", &ListOptions::default());
    assert_eq!(hits.len(), 1);
    assert_eq!(hits[0].message, Some("a".into()));
    assert_eq!(hits[0].excerpt, "The \"Quick\" brown fox");
    assert_eq!(search(&home.home, "fox", &ListOptions::default()).len(), 2);
    assert_eq!(search(&home.home, " ", &ListOptions::default()), []);
}

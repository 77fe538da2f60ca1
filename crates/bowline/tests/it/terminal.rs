//! Text of models, tools and projects on a terminal.

use std::{fs, io::Read, process::Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};

use crate::test_home::TestHome;

/// Sets the clipboard and the title, queries the cursor, hides a link, and moves back.
const HOSTILE: &str =
    "a\u{1b}]52;c;aGk=\u{7}b\u{1b}]0;t\u{7}c\u{9b}6n\u{1b}]8;;http://x\u{1b}\\d\re";

/// What the program prints when its output is a terminal.
fn on_a_terminal(rig: &TestHome, args: &[&str]) -> String {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let terminal = || -> Stdio {
        fs::OpenOptions::new().write(true).open(name.to_str().unwrap()).unwrap().into()
    };
    let mut command = rig.bowline(args);
    let mut child = command.stdout(terminal()).stderr(terminal()).spawn().unwrap();
    // Only the child has the terminal now, so that its end is the end of the output.
    drop(command);
    let (mut ours, mut shown) = (fs::File::from(ours), Vec::new());
    // The end of a terminal is an error.
    ours.read_to_end(&mut shown).ok();
    child.wait().unwrap();
    String::from_utf8(shown).unwrap()
}

/// Checks that nothing is left that a terminal obeys, but for what the progress line is made of.
fn assert_harmless(shown: &str) {
    let mut rest = shown.to_owned();
    for ours in ["\r\u{1b}[K", "\u{1b}[?7l", "\u{1b}[?7h", "\r\n", "\n", "\t"] {
        rest = rest.replace(ours, "");
    }
    let left: Vec<char> = rest.chars().filter(|char| char.is_control()).collect();
    assert!(left.is_empty(), "{left:?} in {shown:?}");
}

fn say_line(text: &str) -> String {
    format!("SAY {text}")
}

#[test]
fn the_words_of_the_model() {
    let rig = TestHome::new();
    let args = ["-p", "--model", "script", "--", &say_line(HOSTILE)];
    let shown = on_a_terminal(&rig, &args);
    assert_harmless(&shown);
    assert!(shown.contains(r"a\u{1b}]52;c;aGk=\u{7}b"), "{shown:?}");
    // Programs get them as they are.
    let ran = rig.ask(&[], &say_line(HOSTILE));
    assert_eq!(ran.stdout, format!("{HOSTILE}\n"));
}

#[test]
fn json_for_people_is_the_same_json() {
    let rig = TestHome::new();
    for format in ["json", "stream-json"] {
        let words = ["-p", "--verbose", "--model", "script", "--output-format", format];
        let prompt = say_line("a\u{9b}6n\u{7f}\u{202e}b");
        let shown = on_a_terminal(&rig, &[&words[..], &["--", &prompt]].concat());
        assert_harmless(&shown);
        assert!(shown.contains(r"a\u009b6n\u007f\u202eb"), "{shown:?}");
        let last = shown.lines().rfind(|line| line.contains("\"type\":\"result\"")).unwrap();
        let last = last.rsplit("\u{1b}[K").next().unwrap();
        let last: Value = serde_json::from_str(last).unwrap();
        let last = last.as_array().map_or(&last, |all| all.last().unwrap());
        assert_eq!(last["result"], "a\u{9b}6n\u{7f}\u{202e}b");
    }
}

#[test]
fn names_that_a_model_or_a_project_chooses() {
    let rig = TestHome::new();
    let call =
        format!("TOOL {} {}\nNEXT\nSAY done", "Bash\u{1b}]0;t\u{7}", json!({"command": "ls"}));
    let shown = on_a_terminal(&rig, &["-p", "--model", "script", "--", &call]);
    assert_harmless(&shown);
    // A settings file with an odd key, an odd agent, and a session that there is not.
    fs::create_dir_all(rig.cwd().join(".claude/agents")).unwrap();
    let odd = "x\u{1b}]52;c;aGk=\u{7}\u{9b}6n";
    let settings = json!({odd: 1, "permissions": {"allow": [odd], odd: []}, "hooks": {odd: []}});
    fs::write(rig.cwd().join(".claude/settings.json"), settings.to_string()).unwrap();
    let agent = format!("---\nname: {odd}\ndescription: {odd}\nmodel: {odd}\n---\n");
    fs::write(rig.cwd().join(".claude/agents/odd.md"), agent).unwrap();
    let servers = json!({"mcpServers": {odd: {"command": odd}}});
    fs::write(rig.cwd().join(".mcp.json"), servers.to_string()).unwrap();
    for args in [
        &["doctor"][..],
        &["-p", "--model", "script", "--agent", odd, "--", "SAY x"],
        &["-p", "--model", "script", "--resume", odd, "--", "SAY x"],
        &["-p", "--model", odd, "--", "SAY x"],
        &["-p", "--model", "script", "--debug", "--", "SAY x"],
        &["mcp", "login", odd],
        &["mcp", "logout", "none"],
        &[odd, odd],
    ] {
        let shown = on_a_terminal(&rig, args);
        assert!(!shown.is_empty(), "{args:?}");
        assert_harmless(&shown);
    }
}

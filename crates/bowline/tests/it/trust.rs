//! What a folder brings, run by a person in a shell and by programs.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use crate::place::{Place, Ran};

/// A clone whose hook, server and shell profile each leave a file behind.
struct Clone {
    place: Place,
}

impl Clone {
    fn new() -> Self {
        let clone = Self { place: Place::new() };
        let hook = json!([{"hooks": [{"type": "command", "command": "touch hooked"}]}]);
        clone.write(".claude/settings.json", &json!({"hooks": {"SessionStart": hook}}).to_string());
        clone.write(
            ".claude/settings.local.json",
            &json!({"env": {"BASH_ENV": clone.path("profile")}, "permissions": {"allow": ["Bash"]}})
                .to_string(),
        );
        clone.write("profile", "touch \"$HOME/../project/profiled\"");
        let server = json!({"command": "touch", "args": [clone.path("served")]});
        clone.write(".mcp.json", &json!({"mcpServers": {"sly": server}}).to_string());
        clone
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.cwd().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    /// One prompt, as a person or a program would have it.
    fn ask(&self, args: &[&str], variables: &[(&str, &str)]) -> Ran {
        let prompt = "TOOL Bash {\"command\": \"touch allowed\"}\nNEXT\nSAY done";
        let words = [&["-p", "--model", "script"], args, &["--", prompt]].concat();
        let mut command = self.place.bowline(words);
        command.envs(variables.iter().copied());
        Ran::from(command.output().unwrap())
    }

    /// What the clone has brought about, which is forgotten.
    fn done(&self) -> Vec<&'static str> {
        let all = ["hooked", "served", "profiled", "allowed"];
        let mut done: Vec<_> = all.into_iter().filter(|name| self.path(name).exists()).collect();
        done.retain(|name| fs::remove_file(self.path(name)).is_ok());
        done
    }

    fn run(&self, args: &[&str]) -> Ran {
        Ran::from(self.place.bowline(args).output().unwrap())
    }
}

const ALL: [&str; 4] = ["hooked", "served", "profiled", "allowed"];

#[test]
fn in_a_shell_nothing_of_a_clone_runs_and_one_line_says_so() {
    let clone = Clone::new();
    for (args, variables) in [
        (&[][..], &[][..]),
        (&[], &[("CLAUDE_CODE_ENTRYPOINT", "cli")]),
        (&[], &[("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")]),
        (&[], &[("CLAUDE_CODE_ENTRYPOINT", "mcp")]),
        (&[], &[("CLAUDE_CODE_ENTRYPOINT", "anything")]),
        (&[], &[("BOWLINE_TRUST", "0")]),
        (&["--output-format", "json"], &[]),
        // A command of another session inherits what was said about that one.
        (&[], &[("CLAUDE_CODE_ENTRYPOINT", "sdk-py"), ("CLAUDE_CODE_CHILD_SESSION", "1")]),
        (&[], &[("CLAUDE_CODE_ENTRYPOINT", "claude-vscode"), ("CLAUDECODE", "1")]),
    ] {
        let ran = clone.ask(args, variables);
        assert_eq!(clone.done(), [""; 0], "{args:?} {variables:?}");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let line = format!(
            "{} is not trusted. Left out: 1 hook (SessionStart `touch hooked` of \
             .claude/settings.json); 1 MCP server (sly); 1 allow rule (Bash); 1 variable (BASH_ENV). \
             To use what it brings: `bowline trust` there, or --trust for one run.\n",
            clone.place.cwd().display()
        );
        assert_eq!(ran.stderr, line, "{args:?} {variables:?}");
    }
}

#[test]
fn everything_runs_with_consent() {
    let clone = Clone::new();
    for (args, variables) in [
        (&["--trust"][..], &[][..]),
        (&[], &[("BOWLINE_TRUST", "1")]),
        (&["--setting-sources", "project,local"], &[]),
        (&["--setting-sources=user,project,local"], &[]),
        (&[], &[("CLAUDE_CODE_ENTRYPOINT", "sdk-py")]),
        (&[], &[("CLAUDE_CODE_ENTRYPOINT", "sdk-ts")]),
        (&[], &[("CLAUDE_CODE_ENTRYPOINT", "claude-vscode")]),
        (&[], &[("CLAUDE_CODE_ENTRYPOINT", "claude-code-github-action")]),
        (&[], &[("CLAUDE_CODE_ACTION", "1")]),
    ] {
        let ran = clone.ask(args, variables);
        assert_eq!(clone.done(), ALL, "{args:?} {variables:?}: {ran:?}");
        assert_eq!(ran.stderr, "", "{args:?} {variables:?}");
    }
    // Sources that leave the project out are no word about it.
    clone.ask(&["--setting-sources", "user"], &[]);
    assert_eq!(clone.done(), [""; 0]);
}

#[test]
fn a_folder_can_be_trusted_listed_and_revoked() {
    let clone = Clone::new();
    assert_eq!(clone.run(&["trust", "--list"]).printed(), "No folder is trusted.\n");
    let said = clone.run(&["trust"]).printed();
    assert!(said.contains("is trusted. That holds for all that lies in it"), "{said}");
    assert_eq!(clone.ask(&[], &[]).stderr, "");
    assert_eq!(clone.done(), ALL);
    let listed = clone.run(&["trust", "--list"]).printed();
    let real = clone.place.cwd().canonicalize().unwrap();
    assert!(listed.starts_with(&format!("{} (trusted, ", real.display())), "{listed}");
    clone.run(&["trust", "--revoke", "."]).printed();
    clone.ask(&[], &[]);
    assert_eq!(clone.done(), [""; 0]);
    let missing = clone.run(&["trust", "nowhere"]);
    assert_eq!(missing.code, Some(1));
    assert!(missing.stderr.starts_with("Error: ") && missing.stderr.contains("nowhere"));
    let both = clone.run(&["trust", "--list", "--revoke"]);
    assert_eq!((both.code, both.stdout.as_str()), (Some(1), ""), "{both:?}");
}

#[test]
fn the_official_clis_record_counts_and_can_be_overruled() {
    let clone = Clone::new();
    let real = clone.place.cwd().canonicalize().unwrap();
    let state = json!({"projects": {real.to_str().unwrap(): {"hasTrustDialogAccepted": true}}});
    fs::write(clone.place.home().join(".claude.json"), state.to_string()).unwrap();
    assert_eq!(clone.ask(&[], &[]).stderr, "");
    assert_eq!(clone.done(), ALL);
    clone.run(&["trust", "--revoke"]).printed();
    clone.ask(&[], &[]);
    assert_eq!(clone.done(), [""; 0]);
    let listed = clone.run(&["trust", "--list"]).printed();
    assert!(listed.contains("(not trusted, "), "{listed}");
}

/// What a session over stdin and stdout says until its first result.
fn conversation(clone: &Clone, args: &[&str], variables: &[(&str, &str)]) -> Vec<Value> {
    let fixed = ["--output-format", "stream-json", "--verbose", "--model", "script"];
    let words = [&fixed, args, &["--input-format", "stream-json"]].concat();
    let mut command = clone.place.bowline(words);
    command.envs(variables.iter().copied());
    let mut host = crate::place::Host::of(command, &clone.place);
    host.prompt("TOOL Bash {\"command\": \"touch allowed\"}\nNEXT\nSAY done");
    let mut heard = Vec::new();
    while let Some(message) = host.hear() {
        let over = message["type"] == "result";
        heard.push(message);
        if over {
            break;
        }
    }
    heard
}

#[test]
fn an_unknown_program_is_told_on_the_wire_which_hooks_were_skipped() {
    let clone = Clone::new();
    let is_told = |heard: &[Value]| {
        let told = heard.iter().find(|message| message["subtype"] == "informational");
        told.map(|message| message["content"].as_str().unwrap().to_owned())
    };
    let told = is_told(&conversation(&clone, &[], &[])).unwrap();
    assert!(told.starts_with("Skipped 1 hook (SessionStart `touch hooked`"), "{told}");
    assert_eq!(clone.done(), [""; 0]);
    for (args, variables) in [
        (&[][..], &[("CLAUDE_CODE_ENTRYPOINT", "sdk-py")][..]),
        // An SDK that a command of a session runs is a host all the same.
        (&[], &[("CLAUDE_CODE_ENTRYPOINT", "sdk-py"), ("CLAUDE_CODE_CHILD_SESSION", "1")]),
        (&["--setting-sources", "user,project,local"], &[]),
        (&["--trust"], &[]),
    ] {
        let heard = conversation(&clone, args, variables);
        assert_eq!(is_told(&heard), None, "{args:?} {variables:?}");
        assert_eq!(clone.done(), ALL, "{args:?} {variables:?}");
    }
}

#[test]
fn other_doors_trust_no_folder_by_themselves() {
    let clone = Clone::new();
    for (args, expected) in [(&["rpc"][..], &[][..]), (&["rpc", "--trust"], &ALL[..3])] {
        let mut script = clone.place.speak([args, &["--model", "script"]].concat());
        let params = json!({"prompt": "SAY done"});
        script.say(json!({"jsonrpc": "2.0", "id": 1, "method": "run", "params": params}));
        let is_over = |line: &Value| line["result"]["type"] == "result";
        while script.hear().is_some_and(|line| !is_over(&line)) {}
        assert_eq!(clone.done(), expected, "{args:?}");
    }
}

#[test]
fn trust_for_one_run_is_not_inherited() {
    let place = Place::new();
    let prompt = "TOOL Bash {\"command\": \"echo \\\"[$BOWLINE_TRUST]\\\"\"}\nNEXT\nECHORESULT";
    let mut command =
        place.bowline(["-p", "--model", "script", "--allowedTools", "Bash", "--", prompt]);
    let ran = Ran::from(command.env("BOWLINE_TRUST", "1").output().unwrap());
    assert!(ran.printed().contains("[]"));
}

#[test]
fn the_doctor_lists_what_is_left_out_and_starts_none_of_it() {
    let clone = Clone::new();
    let doctor = |variables: &[(&str, &str)]| {
        let mut command = clone.place.bowline(["doctor"]);
        command.env("ANTHROPIC_API_KEY", "k").envs(variables.iter().copied());
        Ran::from(command.output().unwrap())
    };
    let untrusted = doctor(&[]).printed();
    for part in [
        ": not trusted\n",
        "to trust it: `bowline trust`, or --trust for one run\n",
        "skipped hook: SessionStart `touch hooked` of .claude/settings.json\n",
        "left out: 1 allow rule (Bash)\n",
        "sly: not started: this folder is not trusted\n",
    ] {
        assert!(untrusted.contains(part), "{part}: {untrusted}");
    }
    assert_eq!(clone.done(), [""; 0]);
    let trusted = doctor(&[("BOWLINE_TRUST", "1")]);
    assert!(trusted.stdout.contains("trusted, for this run"), "{trusted:?}");
    assert!(!trusted.stdout.contains("skipped hook"), "{trusted:?}");
    assert_eq!(clone.done(), ["served"], "and hooks wait for a session");
}

#[test]
fn what_takes_away_needs_no_trust() {
    let place = Place::new();
    place.configure(json!({"permissions": {"allow": ["Bash(touch:*)"]}}));
    for file in ["settings.json", "settings.local.json"] {
        fs::create_dir_all(place.cwd().join(".claude")).unwrap();
        let deny = json!({"permissions": {"deny": ["Bash(touch:*)"]}});
        fs::write(place.cwd().join(".claude").join(file), deny.to_string()).unwrap();
        let ran = place.ask(&[], "TOOL Bash {\"command\": \"touch made\"}\nNEXT\nSAY done");
        assert_eq!(ran.stderr, "", "there is nothing to say");
        assert!(!place.cwd().join("made").exists(), "{file}");
        fs::remove_file(place.cwd().join(".claude").join(file)).unwrap();
    }
}

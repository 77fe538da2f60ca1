//! Contents of an untrusted folder, run from a shell and by programs.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use crate::test_home::{Ran, TestHome};

/// A clone whose hook, server and shell profile each leave a file behind.
struct Clone {
    rig: TestHome,
}

impl Clone {
    fn new() -> Self {
        let clone = Self { rig: TestHome::new() };
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
        self.rig.cwd().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    /// One prompt, as a person or a program would have it.
    fn ask(&self, args: &[&str], variables: &[(&str, &str)]) -> Ran {
        let prompt = "TOOL Bash {\"command\": \"touch allowed\"}\nNEXT\nSAY done";
        let words = [&["-p", "--model", "script"], args, &["--", prompt]].concat();
        let mut command = self.rig.bowline(words);
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
        Ran::from(self.rig.bowline(args).output().unwrap())
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
        // A command of another session inherits the variables of that one.
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
            clone.rig.cwd().display()
        );
        assert_eq!(ran.stderr, line, "{args:?} {variables:?}");
    }
}

#[test]
fn trusted_folder_runs_hooks_and_servers() {
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
    let output = clone.run(&["trust"]).printed();
    assert!(output.contains("is trusted. This applies to everything in it"), "{output}");
    assert_eq!(clone.ask(&[], &[]).stderr, "");
    assert_eq!(clone.done(), ALL);
    let listed = clone.run(&["trust", "--list"]).printed();
    let real = clone.rig.cwd().canonicalize().unwrap();
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
    let real = clone.rig.cwd().canonicalize().unwrap();
    let state = json!({"projects": {real.to_str().unwrap(): {"hasTrustDialogAccepted": true}}});
    fs::write(clone.rig.home().join(".claude.json"), state.to_string()).unwrap();
    assert_eq!(clone.ask(&[], &[]).stderr, "");
    assert_eq!(clone.done(), ALL);
    clone.run(&["trust", "--revoke"]).printed();
    clone.ask(&[], &[]);
    assert_eq!(clone.done(), [""; 0]);
    let listed = clone.run(&["trust", "--list"]).printed();
    assert!(listed.contains("(not trusted, "), "{listed}");
}

/// Messages of a session over stdin and stdout until its first result.
fn conversation(clone: &Clone, args: &[&str], variables: &[(&str, &str)]) -> Vec<Value> {
    let fixed = ["--output-format", "stream-json", "--verbose", "--model", "script"];
    let words = [&fixed, args, &["--input-format", "stream-json"]].concat();
    let mut command = clone.rig.bowline(words);
    command.envs(variables.iter().copied());
    let mut host = crate::test_home::Host::of(command, &clone.rig);
    host.prompt("TOOL Bash {\"command\": \"touch allowed\"}\nNEXT\nSAY done");
    let mut received = Vec::new();
    while let Some(message) = host.receive() {
        let over = message["type"] == "result";
        received.push(message);
        if over {
            break;
        }
    }
    received
}

#[test]
fn unknown_host_receives_notice_of_skipped_hooks() {
    let clone = Clone::new();
    let skipped_notice = |received: &[Value]| {
        let notice = received.iter().find(|message| message["subtype"] == "informational");
        notice.map(|message| message["content"].as_str().unwrap().to_owned())
    };
    let notice = skipped_notice(&conversation(&clone, &[], &[])).unwrap();
    assert!(notice.starts_with("Skipped 1 hook (SessionStart `touch hooked`"), "{notice}");
    assert_eq!(clone.done(), [""; 0]);
    for (args, variables) in [
        (&[][..], &[("CLAUDE_CODE_ENTRYPOINT", "sdk-py")][..]),
        // An SDK that a command of a session runs is a host all the same.
        (&[], &[("CLAUDE_CODE_ENTRYPOINT", "sdk-py"), ("CLAUDE_CODE_CHILD_SESSION", "1")]),
        (&["--setting-sources", "user,project,local"], &[]),
        (&["--trust"], &[]),
    ] {
        let received = conversation(&clone, args, variables);
        assert_eq!(skipped_notice(&received), None, "{args:?} {variables:?}");
        assert_eq!(clone.done(), ALL, "{args:?} {variables:?}");
    }
}

#[test]
fn other_doors_trust_no_folder_by_themselves() {
    let clone = Clone::new();
    for (args, expected) in [(&["rpc"][..], &[][..]), (&["rpc", "--trust"], &ALL[..3])] {
        let mut script = clone.rig.speak([args, &["--model", "script"]].concat());
        let params = json!({"prompt": "SAY done"});
        script.send(json!({"jsonrpc": "2.0", "id": 1, "method": "run", "params": params}));
        let is_over = |line: &Value| line["result"]["type"] == "result";
        while script.receive().is_some_and(|line| !is_over(&line)) {}
        assert_eq!(clone.done(), expected, "{args:?}");
    }
}

#[test]
fn trust_for_one_run_is_not_inherited() {
    let rig = TestHome::new();
    let prompt = "TOOL Bash {\"command\": \"echo \\\"[$BOWLINE_TRUST]\\\"\"}\nNEXT\nECHORESULT";
    let mut command =
        rig.bowline(["-p", "--model", "script", "--allowedTools", "Bash", "--", prompt]);
    let ran = Ran::from(command.env("BOWLINE_TRUST", "1").output().unwrap());
    assert!(ran.printed().contains("[]"));
}

#[test]
fn the_doctor_lists_what_is_left_out_and_starts_none_of_it() {
    let clone = Clone::new();
    let doctor = |variables: &[(&str, &str)]| {
        let mut command = clone.rig.bowline(["doctor"]);
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
fn restrictive_settings_apply_without_trust() {
    let rig = TestHome::new();
    rig.configure(json!({"permissions": {"allow": ["Bash(touch:*)"]}}));
    for file in ["settings.json", "settings.local.json"] {
        fs::create_dir_all(rig.cwd().join(".claude")).unwrap();
        let deny = json!({"permissions": {"deny": ["Bash(touch:*)"]}});
        fs::write(rig.cwd().join(".claude").join(file), deny.to_string()).unwrap();
        let ran = rig.ask(&[], "TOOL Bash {\"command\": \"touch made\"}\nNEXT\nSAY done");
        assert_eq!(ran.stderr, "", "there are no notices");
        assert!(!rig.cwd().join("made").exists(), "{file}");
        fs::remove_file(rig.cwd().join(".claude").join(file)).unwrap();
    }
}

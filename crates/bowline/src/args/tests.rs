//! Command lines as both SDKs and people write them.

use super::*;

fn read(line: &[&str]) -> RunArgs {
    let words = std::iter::once("bowline").chain(line.iter().copied());
    match Args::read(words) {
        Ok(args) => {
            assert_eq!(args.command, None, "{line:?}");
            args.run
        }
        Err(error) => panic!("{line:?}: {error:?}"),
    }
}

fn refused(line: &[&str]) -> String {
    let words = std::iter::once("bowline").chain(line.iter().copied());
    match Args::read(words) {
        Err(UsageError::Bad(text)) => text,
        other => panic!("{line:?}: {other:?}"),
    }
}

#[test]
fn commands_that_do_not_exist_are_no_prompts_of_several_words() {
    assert_eq!(refused(&["mcp", "srve"]), "error: unknown command 'srve'\n(Did you mean serve?)");
    assert_eq!(refused(&["mcp", "zzz"]), "error: unknown command 'zzz'");
    assert_eq!(refused(&["doctor", "extra"]), "error: unexpected argument 'extra'");
    let quotes = "error: unexpected argument 'two'; a prompt of several words needs quotes";
    assert_eq!(refused(&["one", "two"]), quotes);
    assert_eq!(refused(&["-p", "one", "two"]), quotes);
}

#[test]
fn both_styles_of_values_mean_the_same() {
    let pairs = [
        ("--model", "opus"),
        ("--fallback-model", "a,b"),
        ("--effort", "high"),
        ("--thinking", "adaptive"),
        ("--thinking-display", "omitted"),
        ("--max-thinking-tokens", "0"),
        ("--betas", "a,b"),
        ("--system-prompt", ""),
        ("--system-prompt-file", "f"),
        ("--append-system-prompt", "- dashes first"),
        ("--append-system-prompt-file", "f"),
        ("--system-prompt-snapshot", "off"),
        ("--agent", "rev"),
        ("--agents", "{}"),
        ("--tools", ""),
        ("--allowedTools", "Bash(git *),Edit"),
        ("--allowed-tools", "Bash"),
        ("--disallowedTools", "Bash"),
        ("--disallowed-tools", "Bash"),
        ("--permission-mode", "acceptEdits"),
        ("--permission-prompt-tool", "stdio"),
        ("--permission-prompts", "none"),
        ("--add-dir", "/x"),
        ("--resume", "11111111-1111-4111-8111-111111111111"),
        ("--session-id", "11111111-1111-4111-8111-111111111111"),
        ("--resume-session-at", "u"),
        ("--resume-drops-turn", "u"),
        ("--rewind-files", "u"),
        ("--max-turns", "3"),
        ("--max-budget-usd", "0.5"),
        ("--task-budget", "1000"),
        ("--autocompact", "500k"),
        ("--name", "n"),
        ("--record", "f"),
        ("--teleport", "i"),
        ("--settings", "{}"),
        ("--setting-sources", "user,project"),
        ("--managed-settings", "{}"),
        ("--project-config-root", "/x"),
        ("--mcp-config", r#"{"mcpServers":{}}"#),
        ("--plugin-dir", "/x"),
        ("--plugin-dir-no-mcp", "/x"),
        ("--json-schema", "{}"),
        ("--output-format", "stream-json"),
        ("--input-format", "stream-json"),
        ("--debug-file", "f"),
        ("--workload", "w"),
        ("--channels", "c"),
        ("--sdk-url", "ws://host/path"),
        ("--prompt-suggestions", "false"),
    ];
    for (flag, value) in pairs {
        let two = read(&[flag, value]);
        let one = read(&[&format!("{flag}={value}")]);
        assert_eq!(one, two, "{flag}");
        assert_ne!(one, RunArgs::default(), "{flag}");
    }
}

#[test]
fn empty_value_is_dropped() {
    let flags = [
        "--model",
        "--fallback-model",
        "--effort",
        "--agent",
        "--agents",
        "--system-prompt-file",
        "--append-system-prompt-file",
        "--permission-prompt-tool",
        "--json-schema",
        "--workload",
        "--debug-file",
        "--session-id",
        "--resume-session-at",
        "--resume-drops-turn",
        "--rewind-files",
        "--name",
        "--settings",
        "--managed-settings",
        "--mcp-config",
        "--plugin-dir",
        "--plugin-dir-no-mcp",
    ];
    for flag in flags {
        assert_eq!(read(&[flag, ""]), RunArgs::default(), "{flag}");
        assert_eq!(read(&[&format!("{flag}=")]), RunArgs::default(), "{flag}");
    }
    for flag in ["--max-turns", "--max-thinking-tokens"] {
        assert_eq!(read(&[flag, ""]), read(&[flag, "0"]), "{flag}");
    }
}

#[test]
fn an_empty_value_is_not_one_of_several() {
    let flags = [
        ("--output-format <format>", "text, json, stream-json"),
        ("--input-format <format>", "text, stream-json"),
        ("--thinking <mode>", "enabled, adaptive, disabled"),
        ("--thinking-display <display>", "summarized, omitted, highlights"),
        ("--permission-prompts <target>", "host, none"),
        ("--system-prompt-snapshot <on|off>", "on, off"),
    ];
    for (option, choices) in flags {
        let flag = option.split(' ').next().unwrap();
        let invalid = format!(
            "error: option '{option}' argument '' is invalid. Allowed choices are {choices}."
        );
        assert_eq!(refused(&[flag, ""]), invalid);
        assert_eq!(refused(&[&format!("{flag}=")]), invalid);
        assert_eq!(refused(&[flag]), format!("error: option '{option}' argument missing"));
    }
}

#[test]
fn switches() {
    let switches = [
        "-p",
        "--print",
        "-v",
        "--version",
        "--verbose",
        "-c",
        "--continue",
        "--resume",
        "-r",
        "--fork-session",
        "--no-session-persistence",
        "--session-mirror",
        "--strict-mcp-config",
        "--include-partial-messages",
        "--include-hook-events",
        "--replay-user-messages",
        "--forward-subagent-text",
        "--await-initialize",
        "--await-claim",
        "--enable-auth-status",
        "--managed-settings-in-initialize",
        "--dangerously-skip-permissions",
        "--allow-dangerously-skip-permissions",
        "--exclude-dynamic-system-prompt-sections",
        "--disable-slash-commands",
        "--bare",
        "--safe-mode",
        "--restricted",
        "--debug",
        "-d",
        "--debug-to-stderr",
        "--prompt-suggestions",
    ];
    for switch in switches {
        assert_ne!(read(&[switch]), RunArgs::default(), "{switch}");
    }
    let with_value = "error: unknown option '--verbose=1'\n(Did you mean --verbose?)";
    assert_eq!(refused(&["--verbose=1"]), with_value);
}

#[test]
fn flags_of_the_python_sdk() {
    let args = read(&[
        "--output-format",
        "stream-json",
        "--verbose",
        "--system-prompt",
        "",
        "--allowedTools",
        "Bash(git log:*),Read",
        "--max-turns",
        "5",
        "--permission-prompt-tool",
        "stdio",
        "--mcp-config",
        r#"{"mcpServers":{"calc":{"type":"sdk","name":"calc"}}}"#,
        "--setting-sources=",
        "--input-format",
        "stream-json",
    ]);
    assert_eq!(args.output.output_format, OutputFormat::StreamJson);
    assert_eq!(args.output.input_format, InputFormat::StreamJson);
    assert_eq!(args.model.system_prompt.as_deref(), Some(""));
    assert_eq!(split_rules(&args.permissions.allowed_tools), ["Bash(git log:*)", "Read"]);
    assert_eq!(args.sources.setting_sources.as_deref(), Some(""));
    assert_eq!(args.prompt, None);
}

#[test]
fn prompts() {
    let cases: &[(&[&str], Option<&str>)] = &[
        (&["-p", "say hi"], Some("say hi")),
        (&["say hi", "-p"], Some("say hi")),
        (&["-p", "--model", "script", "say hi"], Some("say hi")),
        // A list takes everything up to the next flag.
        (&["-p", "--allowedTools", "Bash", "say hi"], None),
        (&["-p", "--allowedTools", "Bash", "--", "say hi"], Some("say hi")),
        (&["-p", "--allowedTools=Bash", "say hi"], Some("say hi")),
        (&["-p", "--", "--not-a-flag"], Some("--not-a-flag")),
        // A word that is also a command is a prompt after a flag.
        (&["-p", "doctor"], Some("doctor")),
    ];
    for (line, prompt) in cases {
        assert_eq!(read(line).prompt.as_deref(), *prompt, "{line:?}");
    }
}

#[test]
fn lists_may_be_given_more_than_once() {
    let args = read(&["--allowedTools", "A", "B", "--allowedTools", "C", "--add-dir", "x", "y"]);
    assert_eq!(args.permissions.allowed_tools, ["A", "B", "C"]);
    assert_eq!(args.permissions.add_dir, ["x", "y"]);
}

#[test]
fn last_of_two_values_applies() {
    assert_eq!(read(&["--model", "a", "--model=b"]).model.model.as_deref(), Some("b"));
}

#[test]
fn refusals_name_the_flag_and_the_fault() {
    let cases: &[(&[&str], &str)] = &[
        (&["-p", "x", "--no-such-flag"], "error: unknown option '--no-such-flag'"),
        (&["--modle", "x"], "error: unknown option '--modle'\n(Did you mean --model?)"),
        (&["--modle=x"], "error: unknown option '--modle'\n(Did you mean --model?)"),
        (
            &["--permission-mode", "nonsense"],
            "error: option '--permission-mode <mode>' argument 'nonsense' is invalid. Allowed \
             choices are acceptEdits, auto, bypassPermissions, manual, dontAsk, plan.",
        ),
        (
            &["--output-format", "yaml"],
            "error: option '--output-format <format>' argument 'yaml' is invalid. Allowed \
             choices are text, json, stream-json.",
        ),
        (
            &["--max-budget-usd", "0"],
            "error: option '--max-budget-usd <amount>' argument '0' is invalid. --max-budget-usd \
             must be a positive number greater than 0",
        ),
        (
            &["--max-turns", "many"],
            "error: option '--max-turns <turns>' argument 'many' is invalid. must be a number",
        ),
        (&["--model"], "error: option '--model <model>' argument missing"),
        (&["--tools"], "error: option '--tools <tools...>' argument missing"),
        (
            &["--autocompact", "50"],
            "error: option '--autocompact <auto|tokens>' argument '50' is invalid. It must be \
             'auto', or between 100k and 1M (e.g. 500k, 200000, or 200 as shorthand)",
        ),
        (&["say", "hi"], "error: unexpected argument 'hi'; a prompt of several words needs quotes"),
    ];
    for (line, expected) in cases {
        assert_eq!(refused(line), *expected, "{line:?}");
    }
}

#[test]
fn help_is_grouped_and_leaves_out_what_only_programs_pass() {
    let Err(UsageError::Help(help)) = Args::read(["bowline", "--help"]) else { panic!() };
    for heading in
        ["Commands:", "Input and output:", "Model:", "Tools and permissions:", "Sessions:"]
    {
        assert!(help.contains(heading), "{heading} in {help}");
    }
    assert!(!help.contains("--await-initialize"), "{help}");
}

#[test]
fn the_definition_holds_together() {
    Args::command().debug_assert();
}

//! Setup from flags, variables and files.

use std::fs;

use bowline_engine::SystemPrompt;
use bowline_model::Thinking;
use bowline_protocol::{Effort, PermissionMode};
use tempfile::TempDir;

use super::*;
use crate::args::Args;

/// A folder to work in and a home, both empty.
struct TestFolders {
    folder: TempDir,
}

impl TestFolders {
    fn new() -> Self {
        let folders = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(folders.cwd().join(".claude")).unwrap();
        fs::create_dir_all(folders.folder.path().join("home/.bowline")).unwrap();
        folders
    }

    fn cwd(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.folder.path().join(path), text).unwrap();
    }

    fn prepare(&self, line: &[&str], variables: &[(&str, &str)]) -> Result<Prepared, SetupError> {
        let words = std::iter::once("bowline").chain(line.iter().copied());
        let args = Args::read(words).unwrap().run;
        let home = self.folder.path().join("home").display().to_string();
        let set: Vec<_> = [("HOME".to_owned(), home), ("IS_SANDBOX".to_owned(), "1".to_owned())]
            .into_iter()
            .chain(variables.iter().map(|(name, value)| (name.to_string(), value.to_string())))
            .collect();
        let environment =
            Environment::default().with(set.iter().map(|(name, value)| (name, value)));
        prepare(&args, &environment, self.cwd(), audience(&args))
    }

    fn config(&self, line: &[&str], variables: &[(&str, &str)]) -> SessionConfig {
        match self.prepare(line, variables) {
            Ok(prepared) => prepared.config,
            Err(error) => panic!("{line:?}: {error}"),
        }
    }

    fn refused(&self, line: &[&str]) -> String {
        match self.prepare(line, &[]) {
            Ok(_) => panic!("{line:?} was accepted"),
            Err(error) => error.to_string(),
        }
    }
}

#[test]
fn the_model_comes_from_flag_then_variable_then_settings() {
    let folders = TestFolders::new();
    assert_eq!(folders.config(&[], &[]).model, DEFAULT_MODEL);
    folders.write("home/.bowline/settings.json", r#"{"model":"from-user"}"#);
    assert_eq!(folders.config(&[], &[]).model, "from-user");
    folders.write("project/.claude/settings.json", r#"{"model":"from-project"}"#);
    assert_eq!(folders.config(&[], &[]).model, "from-project");
    assert_eq!(folders.config(&["--setting-sources=user"], &[]).model, "from-user");
    assert_eq!(folders.config(&["--setting-sources="], &[]).model, DEFAULT_MODEL);
    let variable = [("ANTHROPIC_MODEL", "from-variable")];
    assert_eq!(folders.config(&[], &variable).model, "from-variable");
    assert_eq!(folders.config(&["--model", "typed"], &variable).model, "typed");
}

#[test]
fn thinking_and_effort() {
    let folders = TestFolders::new();
    let thinking = |line: &[&str]| folders.config(line, &[]).thinking;
    assert_eq!(thinking(&[]), None);
    assert_eq!(thinking(&["--max-thinking-tokens", "0"]), Some(Thinking::Disabled));
    assert_eq!(
        thinking(&["--thinking=enabled", "--max-thinking-tokens=2000"]),
        Some(Thinking::Enabled { budget_tokens: 2000, display: None })
    );
    assert_eq!(thinking(&["--thinking", "adaptive"]), Some(Thinking::Adaptive { display: None }));
    assert_eq!(folders.config(&["--effort", "high"], &[]).effort, Some(Effort::High));
    let odd =
        folders.prepare(&["--effort", "heroic"], &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(odd.config.effort, None);
    assert!(odd.notices[0].contains("heroic"), "{:?}", odd.notices);
}

#[test]
fn system_prompts() {
    let folders = TestFolders::new();
    let prompt = |line: &[&str]| folders.config(line, &[]).system_prompt;
    assert_eq!(prompt(&[]), SystemPrompt::Default { append: None });
    assert_eq!(prompt(&["--system-prompt", ""]), SystemPrompt::Custom(vec![]));
    assert_eq!(
        prompt(&["--system-prompt", "a", "--append-system-prompt", "b"]),
        SystemPrompt::Custom(vec!["a".to_owned(), "b".to_owned()])
    );
    folders.write("project/p.txt", "from a file");
    assert_eq!(
        prompt(&["--system-prompt-file", "p.txt"]),
        SystemPrompt::Custom(vec!["from a file".to_owned()])
    );
}

#[test]
fn tools_and_who_is_asked() {
    let folders = TestFolders::new();
    let tools = |line: &[&str]| folders.config(line, &[]).tools;
    assert_eq!(tools(&["--tools", "default"]), ToolSelection::Default);
    assert_eq!(tools(&["--tools", ""]), ToolSelection::Named(vec![]));
    let two = vec!["Read".to_owned(), "Bash".to_owned()];
    assert_eq!(tools(&["--tools", "Read,Bash"]), ToolSelection::Named(two));

    let stream = ["--input-format=stream-json", "--output-format=stream-json"];
    let asked = |line: &[&str]| folders.config(&[&stream, line].concat(), &[]).permission_prompts;
    assert_eq!(asked(&[]), PermissionPrompts::Nobody);
    assert_eq!(asked(&["--permission-prompt-tool", "stdio"]), PermissionPrompts::Host);
    assert_eq!(
        asked(&["--permission-prompt-tool", "mcp__a__b"]),
        PermissionPrompts::McpTool("mcp__a__b".to_owned())
    );
    assert_eq!(
        asked(&["--permission-prompt-tool=stdio", "--permission-prompts=none"]),
        PermissionPrompts::Disabled
    );
}

#[test]
fn modes() {
    let folders = TestFolders::new();
    let mode = |line: &[&str]| folders.config(line, &[]).policy.mode;
    assert_eq!(mode(&["--permission-mode", "manual"]), PermissionMode::Default);
    assert_eq!(mode(&["--permission-mode=plan"]), PermissionMode::Plan);
    let skipping = folders.config(&["--dangerously-skip-permissions"], &[]);
    assert_eq!(skipping.policy.mode, PermissionMode::BypassPermissions);
    assert!(skipping.policy.bypass_available);
    let allowing = folders.config(&["--allow-dangerously-skip-permissions"], &[]);
    assert_eq!(allowing.policy.mode, PermissionMode::Default);
    assert!(allowing.policy.bypass_available);

    // An untrusted project cannot loosen the permission mode.
    folders.write(
        "project/.claude/settings.json",
        r#"{"permissions":{"defaultMode":"bypassPermissions"}}"#,
    );
    assert_eq!(mode(&[]), PermissionMode::Default);
    folders.write("home/.bowline/settings.json", r#"{"permissions":{"defaultMode":"plan"}}"#);
    folders.write("project/.claude/settings.json", "{}");
    assert_eq!(mode(&[]), PermissionMode::Plan);
}

#[test]
fn untrusted_project_cannot_redirect_requests() {
    let folders = TestFolders::new();
    folders.write(
        "project/.claude/settings.json",
        r#"{"env":{"ANTHROPIC_API_KEY":"theirs","NO_COLOR":"1"}}"#,
    );
    let config = folders.config(&[], &[]);
    assert_eq!(config.api_key_source, ApiKeySource::None);
    assert_eq!(config.environment.get("NO_COLOR"), Some(&Some("1".to_owned())));
    assert_eq!(config.environment.get("ANTHROPIC_API_KEY"), None);
}

#[test]
fn limits_and_switches() {
    let folders = TestFolders::new();
    let config = folders.config(
        &["--max-turns=0", "--max-budget-usd=0.5"],
        &[
            ("CLAUDE_CODE_SDK_READS_SESSION_STATE", "1"),
            ("CLAUDE_CODE_MAX_RETRIES", "2"),
            ("BASH_DEFAULT_TIMEOUT_MS", "1500"),
            ("CLAUDE_CODE_ENTRYPOINT", "sdk-py"),
        ],
    );
    assert_eq!(config.max_turns, None);
    assert_eq!(config.max_budget_usd, Some(0.5));
    assert_eq!(config.session_state_events, SessionStateEvents::HostOnly);
    assert_eq!(config.retry.max_retries, 2);
    assert_eq!(config.tool_options.default_timeout.as_millis(), 1500);
    assert_eq!(config.entrypoint, "sdk-py");
    assert_eq!(folders.config(&[], &[]).entrypoint, "sdk-cli");
}

#[test]
fn a_project_opens_private_networks_only_if_it_is_trusted() {
    let folders = TestFolders::new();
    let allowed = || folders.config(&[], &[]).tool_options.private_addresses;
    assert!(!allowed());
    let open = r#"{"bowline":{"allowPrivateAddresses":true}}"#;
    folders.write("project/.claude/settings.json", open);
    assert!(!allowed());
    folders.write("home/.bowline/settings.json", open);
    assert!(allowed());
}

#[test]
fn shell_profile_is_bashrc_if_it_exists() {
    let folders = TestFolders::new();
    let profile = || folders.config(&[], &[]).tool_options.shell_profile;
    assert_eq!(profile(), None);
    folders.write("home/.bashrc", "alias x=y");
    assert_eq!(profile(), Some(folders.folder.path().join("home/.bashrc")));
}

#[test]
fn sessions() {
    let folders = TestFolders::new();
    let id = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa";
    let named = folders.config(&["--session-id", id], &[]);
    assert_eq!(named.session_id.as_str(), id);
    assert!(named.transcript.is_some());
    assert!(folders.config(&["--no-session-persistence"], &[]).transcript.is_none());
    // With no session to continue, a new one begins.
    assert!(folders.config(&["--continue"], &[]).resumed.is_none());
}

#[test]
fn startup_errors_name_the_cause() {
    let folders = TestFolders::new();
    let missing = "99999999-9999-4999-8999-999999999999";
    let cases: &[(&[&str], &str)] = &[
        (&["--session-id", "x"], "Error: Invalid session ID. Must be a valid UUID."),
        (
            &["--resume", missing],
            "No conversation found with session ID: 99999999-9999-4999-8999-999999999999",
        ),
        (
            &["-p", "--output-format", "stream-json"],
            "Error: When using --print, --output-format=stream-json requires --verbose",
        ),
        (
            &["--input-format", "stream-json"],
            "Error: --input-format=stream-json requires output-format=stream-json.",
        ),
        (&["--resume-session-at", "u"], "Error: --resume-session-at requires --resume"),
        (
            &["--resume", "a title"],
            "Error: --resume requires a valid session ID or session title when used with --print. \
             Usage: bowline -p --resume <session-id|title>. Provided value \"a title\" is not a UUID \
             and does not match any session title.",
        ),
        (&["--settings", "/no/such"], "Error: Settings file not found: /no/such"),
        (&["--system-prompt-file", "/no/such"], "Error: System prompt file not found: /no/such"),
        (&["--json-schema", "[]"], "Error: --json-schema must be a JSON object"),
        (
            &["--setting-sources", "nobody"],
            "Error processing --setting-sources: Invalid setting source: nobody. Valid options are: \
             user, project, local",
        ),
    ];
    for (line, expected) in cases {
        assert_eq!(folders.refused(line), *expected, "{line:?}");
    }
    let servers = folders.refused(&["--mcp-config", "{nope"]);
    assert!(
        servers.starts_with("Error: Invalid MCP configuration:\nMCP config file not found: "),
        "{servers}"
    );
}

#[test]
fn servers_of_settings_are_there_unless_their_names_are_taken() {
    let folders = TestFolders::new();
    let servers = |names: &[&str]| {
        let named = names.iter().map(|name| format!(r#""{name}": {{"command": "of-settings"}}"#));
        format!(r#"{{"mcpServers": {{{}}}}}"#, named.collect::<Vec<_>>().join(","))
    };
    folders.write("home/.bowline/settings.json", &servers(&["mine", "taken"]));
    // The project is not trusted, so its servers do not start.
    folders.write("project/.claude/settings.json", &servers(&["theirs"]));
    let given = r#"{"mcpServers": {"taken": {"command": "given"}}}"#;
    let config = folders.config(&["--mcp-config", given], &[]);
    let found: Vec<_> =
        config.mcp_servers.iter().map(|it| (it.name.as_str(), it.scope.as_str())).collect();
    assert_eq!(found, [("taken", "dynamic"), ("mine", "user")]);
    let strict = folders.config(&["--strict-mcp-config", "--mcp-config", given], &[]);
    assert_eq!(strict.mcp_servers.len(), 1);
}

#[test]
fn limits_of_servers_come_from_the_environment() {
    let folders = TestFolders::new();
    let config = folders.config(
        &[],
        &[
            ("BOWLINE_MCP_GRACE_MS", "250"),
            ("MCP_TIMEOUT", "1000"),
            ("MCP_TOOL_TIMEOUT", "2000"),
            ("MAX_MCP_OUTPUT_TOKENS", "7"),
        ],
    );
    let options = &config.mcp_options;
    assert_eq!(config.mcp_grace.as_millis(), 250);
    assert_eq!(options.connect_timeout.as_millis(), 1000);
    assert_eq!(options.call_timeout.as_millis(), 2000);
    assert_eq!(options.max_output_tokens, 7);
}

#[test]
fn the_environment_names_models_and_their_limits() {
    let folders = TestFolders::new();
    let variables = [
        ("ANTHROPIC_API_KEY", "k"),
        ("ANTHROPIC_DEFAULT_OPUS_MODEL", "gateway-opus"),
        ("ANTHROPIC_DEFAULT_HAIKU_MODEL", "gateway-haiku"),
        ("CLAUDE_CODE_EFFORT_LEVEL", "low"),
        ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "500"),
        ("CLAUDE_CODE_MAX_TURNS", "3"),
        ("CLAUDE_CODE_EXIT_AFTER_STOP_DELAY", "1500"),
    ];
    let config = folders.config(&[], &variables);
    let called = |name: &str| config.models.connect(name).unwrap().name;
    assert_eq!(called("opus"), "gateway-opus");
    assert_eq!(called("sonnet"), "claude-sonnet-5-5");
    assert_eq!(config.small_model.as_deref(), Some("gateway-haiku"));
    assert_eq!(config.effort, Some(Effort::Low));
    assert_eq!((config.max_output_tokens, config.max_turns), (Some(500), Some(3)));
    assert_eq!(config.idle_limit, Some(std::time::Duration::from_millis(1500)));
    let config = folders.config(&["--effort", "max", "--max-turns", "7"], &variables);
    assert_eq!((config.effort, config.max_turns), (Some(Effort::Max), Some(7)));
    for nothing in ["0", "-5", "soon"] {
        let config = folders.config(&[], &[("CLAUDE_CODE_EXIT_AFTER_STOP_DELAY", nothing)]);
        assert_eq!(config.idle_limit, None, "{nothing}");
    }
    let config = folders.config(&[], &[("CLAUDE_CODE_DISABLE_THINKING", "1")]);
    assert_eq!(config.thinking, Some(Thinking::Disabled));
}

#[test]
fn folders_are_added_that_are_there_and_not_part_of_the_project() {
    let folders = TestFolders::new();
    let other = folders.folder.path().join("other");
    fs::create_dir(&other).unwrap();
    let flags = ["--add-dir", ".claude", "--add-dir", "../other", "--add-dir", "../gone"];
    let prepared = folders.prepare(&flags, &[]).ok().unwrap();
    let added: Vec<_> = prepared.config.policy.directories().skip(1).collect();
    assert_eq!(added, [other.as_path()]);
    assert_eq!(prepared.notices, ["--add-dir: ../gone is not a folder"]);
}

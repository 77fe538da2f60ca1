//! Environment variables. No other module of the workspace reads the environment.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

/// Variables that name the configuration folder; the first that is set applies.
const CONFIG_DIR: [&str; 2] = ["BOWLINE_CONFIG_DIR", "CLAUDE_CONFIG_DIR"];

/// Aliases of models, and the variables that define them.
const MODEL_ALIASES: [(&str, &str); 3] = [
    ("haiku", "ANTHROPIC_DEFAULT_HAIKU_MODEL"),
    ("opus", "ANTHROPIC_DEFAULT_OPUS_MODEL"),
    ("sonnet", "ANTHROPIC_DEFAULT_SONNET_MODEL"),
];

/// The environment as Bowline sees it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment {
    variables: BTreeMap<String, String>,
}

impl Environment {
    /// Credentials of doors and hosts. Commands of the model do not inherit them.
    pub(crate) const SECRETS: [&str; 5] = [
        "CLAUDE_CODE_SESSION_ACCESS_TOKEN",
        "CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR",
        "CLAUDE_SESSION_INGRESS_TOKEN_FILE",
        "BOWLINE_SDK_HEADERS",
        "BOWLINE_MCP_TOKEN",
    ];

    /// Variables of one run. Programs that its commands start do not inherit them.
    pub(crate) const OF_ONE_RUN: [&str; 1] = ["BOWLINE_TRUST"];

    /// The environment of this process.
    #[expect(clippy::disallowed_methods, reason = "this is where the environment is read")]
    pub(crate) fn of_process() -> Self {
        let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self { variables: std::env::vars_os().filter_map(text).collect() }
    }

    /// Adds variables from settings, which override.
    pub(crate) fn with<'a>(
        mut self,
        variables: impl IntoIterator<Item = (&'a String, &'a String)>,
    ) -> Self {
        let owned = |(name, value): (&String, &String)| (name.clone(), value.clone());
        self.variables.extend(variables.into_iter().map(owned));
        self
    }

    /// The folder of the user's configuration, sessions and state.
    pub(crate) fn config_dir(&self) -> PathBuf {
        let named = CONFIG_DIR.iter().find_map(|name| self.text(name)).map(PathBuf::from);
        named.unwrap_or_else(|| {
            self.home().unwrap_or_else(|| Path::new("/").into()).join(".bowline")
        })
    }

    /// The variable that names the configuration folder, if one is set.
    pub(crate) fn config_dir_variable(&self) -> Option<&'static str> {
        CONFIG_DIR.into_iter().find(|name| self.text(name).is_some())
    }

    /// The user's home directory.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        self.text("HOME").map(PathBuf::from)
    }

    /// The name of the project's folder among the sessions, if a host chose one.
    pub(crate) fn project_dir_name(&self) -> Option<&str> {
        self.config_dir_variable()?;
        let name = self.text("CLAUDE_CODE_PROJECT_DIR_NAME")?;
        let fits = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
        (name.len() <= 64 && name.chars().all(fits)).then_some(name)
    }

    /// The server that keeps the logs of sessions, for `--teleport`.
    pub(crate) fn session_server(&self) -> Option<&str> {
        self.text("BOWLINE_SESSION_SERVER")
    }

    /// The program that started us, by its own name.
    pub(crate) fn entrypoint(&self) -> Option<&str> {
        let action = || self.is_on("CLAUDE_CODE_ACTION").then_some("claude-code-github-action");
        self.text("CLAUDE_CODE_ENTRYPOINT").or_else(action)
    }

    /// The entry point, if a host has set it for this process. Inside a command of another session the
    /// variable may be inherited, so there it applies only to a program that speaks the protocol.
    pub(crate) fn host_entrypoint(&self, speaks_protocol: bool) -> Option<&str> {
        let inherited = self.is_on("CLAUDE_CODE_CHILD_SESSION") || self.is_on("CLAUDECODE");
        self.entrypoint().filter(|_| speaks_protocol || !inherited)
    }

    /// Whether the folder is trusted in this run.
    pub(crate) fn trusts(&self) -> bool {
        self.is_on("BOWLINE_TRUST")
    }

    /// The state file of the official CLI.
    pub(crate) fn official_state(&self) -> Option<PathBuf> {
        let folder = self.text("CLAUDE_CONFIG_DIR").map(PathBuf::from).or_else(|| self.home())?;
        Some(folder.join(".claude.json"))
    }

    /// Sets the entry point if none is set.
    pub(crate) fn or_entrypoint(mut self, name: &str) -> Self {
        if self.entrypoint().is_none() {
            self.variables.insert("CLAUDE_CODE_ENTRYPOINT".to_owned(), name.to_owned());
        }
        self
    }

    /// Names of the host's SDK and application, for the user agent.
    pub(crate) fn client_apps(&self) -> Vec<String> {
        let sdk = self.text("CLAUDE_AGENT_SDK_VERSION").map(|it| format!("agent-sdk/{it}"));
        let app = self.text("CLAUDE_AGENT_SDK_CLIENT_APP").map(|it| format!("client-app/{it}"));
        sdk.into_iter().chain(app).collect()
    }

    /// The key of the Anthropic API.
    pub(crate) fn anthropic_api_key(&self) -> Option<&str> {
        self.text("ANTHROPIC_API_KEY")
    }

    /// Token of a gateway to the Anthropic API.
    pub(crate) fn anthropic_auth_token(&self) -> Option<&str> {
        self.text("ANTHROPIC_AUTH_TOKEN")
    }

    /// Base URL of the Anthropic API.
    pub(crate) fn anthropic_base_url(&self) -> Option<&str> {
        self.text("ANTHROPIC_BASE_URL")
    }

    /// Token of a remote host, or of the server that keeps a session's log.
    pub(crate) fn session_access_token(&self) -> Option<&str> {
        self.text("CLAUDE_CODE_SESSION_ACCESS_TOKEN")
    }

    /// Reads that token from its file descriptor, unless it is in a variable. A pipe can be read
    /// only once, so the token is kept here.
    pub(crate) fn take_token(mut self) -> io::Result<Self> {
        let descriptor = self.number::<u32>("CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR");
        if let Some(descriptor) = descriptor.filter(|_| self.session_access_token().is_none()) {
            let token = fs::read_to_string(format!("/dev/fd/{descriptor}"))?;
            let name = "CLAUDE_CODE_SESSION_ACCESS_TOKEN".to_owned();
            self.variables.insert(name, token.trim().to_owned());
        }
        Ok(self)
    }

    /// A variable that a user's file names.
    pub(crate) fn named(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    /// The program that shows web pages.
    pub(crate) fn browser(&self) -> Option<&str> {
        self.text("BROWSER")
    }

    /// File of the session access token, read again for each connection.
    pub(crate) fn token_file(&self) -> Option<&str> {
        self.text("CLAUDE_SESSION_INGRESS_TOKEN_FILE")
    }

    /// More headers for a remote host, one per line.
    pub(crate) fn sdk_headers(&self) -> Vec<(String, String)> {
        self.headers("BOWLINE_SDK_HEADERS")
    }

    /// A proxy variable (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`), in small letters or
    /// in capitals.
    pub(crate) fn proxy(&self, name: &str) -> Option<&str> {
        self.text(name).or_else(|| self.text(&name.to_ascii_uppercase()))
    }

    /// Version of the environment that runs us, if set.
    pub(crate) fn runner_version(&self) -> Option<&str> {
        self.text("CLAUDE_CODE_ENVIRONMENT_RUNNER_VERSION")
    }

    /// More headers for the Anthropic API, one per line.
    pub(crate) fn anthropic_headers(&self) -> Vec<(String, String)> {
        self.headers("ANTHROPIC_CUSTOM_HEADERS")
    }

    fn headers(&self, name: &str) -> Vec<(String, String)> {
        let lines = self.text(name).unwrap_or_default().lines();
        let header = |line: &str| {
            let (name, value) = line.split_once(':')?;
            Some((name.trim().to_owned(), value.trim().to_owned()))
        };
        lines.filter_map(header).collect()
    }

    /// The model to talk to.
    pub(crate) fn model(&self) -> Option<&str> {
        self.text("ANTHROPIC_MODEL")
    }

    /// The key of a chat-completions server.
    pub(crate) fn openai_api_key(&self) -> Option<&str> {
        self.text("OPENAI_API_KEY")
    }

    /// Base URL of the chat-completions server.
    pub(crate) fn openai_base_url(&self) -> Option<&str> {
        self.text("OPENAI_BASE_URL")
    }

    /// Maximum retries of a failed request.
    pub(crate) fn max_retries(&self) -> Option<u32> {
        self.number("CLAUDE_CODE_MAX_RETRIES")
    }

    /// Aliases of models, and their models.
    pub(crate) fn model_aliases(&self) -> impl Iterator<Item = (&'static str, &str)> {
        MODEL_ALIASES.into_iter().filter_map(|(alias, name)| Some((alias, self.text(name)?)))
    }

    /// The model for small tasks on the side.
    pub(crate) fn small_model(&self) -> Option<&str> {
        let haiku = || self.model_aliases().find(|(alias, _)| *alias == "haiku");
        self.text("ANTHROPIC_SMALL_FAST_MODEL").or_else(|| haiku().map(|(_, model)| model))
    }

    /// Effort of the model.
    pub(crate) fn effort_level(&self) -> Option<&str> {
        self.text("CLAUDE_CODE_EFFORT_LEVEL")
    }

    /// Maximum output tokens of one response.
    pub(crate) fn max_output_tokens(&self) -> Option<u64> {
        self.number("CLAUDE_CODE_MAX_OUTPUT_TOKENS").filter(|&tokens| tokens > 0)
    }

    /// How many round trips a turn may take.
    pub(crate) fn max_turns(&self) -> Option<u64> {
        self.number("CLAUDE_CODE_MAX_TURNS")
    }

    /// Whether thinking is disabled.
    pub(crate) fn disables_thinking(&self) -> bool {
        self.is_on("CLAUDE_CODE_DISABLE_THINKING")
    }

    /// Thinking budget in tokens.
    pub(crate) fn max_thinking_tokens(&self) -> Option<u64> {
        self.number("MAX_THINKING_TOKENS")
    }

    /// How often Stop hooks may send the model back to work.
    pub(crate) fn stop_hook_block_cap(&self) -> Option<u32> {
        self.number("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP")
    }

    /// Whether programs that watch the messages want to know when the session works.
    pub(crate) fn emits_session_state(&self) -> bool {
        self.is_on("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS")
    }

    /// Whether the host's SDK wants to know it for itself.
    pub(crate) fn host_reads_session_state(&self) -> bool {
        self.is_on("CLAUDE_CODE_SDK_READS_SESSION_STATE")
    }

    /// Whether files are backed up before they are changed.
    pub(crate) fn file_checkpointing(&self) -> bool {
        self.is_on("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING")
    }

    /// Whether the machine is disposable, so that root may bypass permissions.
    pub(crate) fn is_sandbox(&self) -> bool {
        self.is_on("IS_SANDBOX")
    }

    /// Whether commands may go to the background.
    pub(crate) fn background_tasks(&self) -> bool {
        !self.is_on("CLAUDE_CODE_DISABLE_BACKGROUND_TASKS")
    }

    /// Whether automatic compaction is disabled.
    pub(crate) fn disables_auto_compact(&self) -> bool {
        self.is_on("DISABLE_AUTO_COMPACT") || self.is_on("DISABLE_COMPACT")
    }

    /// Size of the context, in tokens, at which it is compacted.
    pub(crate) fn auto_compact_window(&self) -> Option<u64> {
        self.number("CLAUDE_CODE_AUTO_COMPACT_WINDOW")
    }

    /// Timeout of a command if its call sets none.
    pub(crate) fn bash_default_timeout(&self) -> Option<Duration> {
        self.number("BASH_DEFAULT_TIMEOUT_MS").map(Duration::from_millis)
    }

    /// Longest timeout that a call may set.
    pub(crate) fn bash_max_timeout(&self) -> Option<Duration> {
        self.number("BASH_MAX_TIMEOUT_MS").map(Duration::from_millis)
    }

    /// How many characters of a command's output the model sees.
    pub(crate) fn bash_max_output(&self) -> Option<usize> {
        self.number("BASH_MAX_OUTPUT_LENGTH")
    }

    /// Whether `cd` is forgotten after each command.
    pub(crate) fn bash_stays_in_start_dir(&self) -> bool {
        self.is_on("CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR")
    }

    /// Time limit for background work after the host has closed its input; `None` if it is not set,
    /// `Some(None)` for no limit.
    pub(crate) fn background_wait(&self) -> Option<Option<Duration>> {
        let millis: u64 = self.number("CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS")?;
        Some((millis > 0).then(|| Duration::from_millis(millis)))
    }

    /// Time limit for an idle session to wait for a prompt; by default it waits while its input is
    /// open.
    pub(crate) fn idle_limit(&self) -> Option<Duration> {
        let millis: i64 = self.number("CLAUDE_CODE_EXIT_AFTER_STOP_DELAY")?;
        u64::try_from(millis).ok().filter(|&millis| millis > 0).map(Duration::from_millis)
    }

    /// Whether startup failures are reported to the host in a result message.
    pub(crate) fn startup_failure_results(&self) -> bool {
        self.is_on("CLAUDE_CODE_STARTUP_FAILURE_RESULTS")
    }

    /// Token of the MCP server over HTTP.
    pub(crate) fn mcp_token(&self) -> Option<&str> {
        self.text("BOWLINE_MCP_TOKEN")
    }

    /// Maximum tokens of one `Read` result.
    pub(crate) fn max_read_tokens(&self) -> Option<usize> {
        self.number("CLAUDE_CODE_FILE_READ_MAX_OUTPUT_TOKENS")
    }

    /// Timeout of connecting to an MCP server.
    pub(crate) fn mcp_connect_timeout(&self) -> Option<Duration> {
        self.number("MCP_TIMEOUT").map(Duration::from_millis)
    }

    /// Timeout of a call of an MCP tool without progress.
    pub(crate) fn mcp_call_timeout(&self) -> Option<Duration> {
        self.number("MCP_TOOL_TIMEOUT").map(Duration::from_millis)
    }

    /// How long the first turn waits for MCP servers.
    pub(crate) fn mcp_grace(&self) -> Option<Duration> {
        self.number("BOWLINE_MCP_GRACE_MS").map(Duration::from_millis)
    }

    /// How many tokens the result of an MCP tool may have.
    pub(crate) fn max_mcp_output_tokens(&self) -> Option<usize> {
        self.number("MAX_MCP_OUTPUT_TOKENS")
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        let text = self.text(name)?;
        let number = text.trim().parse().ok();
        if number.is_none() {
            tracing::warn!(name, text, "not a number; ignored");
        }
        number
    }

    fn is_on(&self, name: &str) -> bool {
        let value = self.text(name).unwrap_or_default();
        matches!(value.to_ascii_lowercase().as_str(), "1" | "true" | "yes" | "on")
    }
}

#[cfg(test)]
impl<const N: usize> From<[(&str, &str); N]> for Environment {
    fn from(variables: [(&str, &str); N]) -> Self {
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        Self { variables: variables.into_iter().map(owned).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_is_in_the_document() {
        let (code, _) = include_str!("environment.rs").split_once("#[cfg(test)]").unwrap();
        let document = include_str!("../../../docs/environment.md");
        let is_name = |word: &&str| {
            let letters = |char: char| char.is_ascii_uppercase() || matches!(char, '_' | '0'..='9');
            word.len() > 3 && word.chars().all(letters)
        };
        let named: Vec<_> = code.split('"').skip(1).step_by(2).filter(is_name).collect();
        assert!(named.len() > 40, "{named:?}");
        for name in named {
            assert!(
                document.contains(&format!("`{name}`")),
                "{name} is not in docs/environment.md"
            );
        }
    }

    #[test]
    fn the_configuration_folder() {
        let folder = |environment: Environment| environment.config_dir().display().to_string();
        let (ours, theirs) = (("BOWLINE_CONFIG_DIR", "/b"), ("CLAUDE_CONFIG_DIR", "/c"));
        assert_eq!(folder([ours, theirs, ("HOME", "/h")].into()), "/b");
        assert_eq!(folder([theirs, ("HOME", "/h")].into()), "/c");
        assert_eq!(folder([("CLAUDE_CONFIG_DIR", ""), ("HOME", "/h")].into()), "/h/.bowline");
    }

    #[test]
    fn entrypoint_of_hosts_and_actions() {
        let environment = Environment::from([("CLAUDE_CODE_ACTION", "1")]);
        assert_eq!(environment.entrypoint(), Some("claude-code-github-action"));
        let environment = Environment::from([("CLAUDE_CODE_ENTRYPOINT", "sdk-py")]);
        assert_eq!(environment.entrypoint(), Some("sdk-py"));
        assert_eq!(Environment::default().entrypoint(), None);
    }

    #[test]
    fn headers_are_lines() {
        let headers = [("ANTHROPIC_CUSTOM_HEADERS", "X-A: 1\nnonsense\nX-B:two: three")];
        let headers = Environment::from(headers).anthropic_headers();
        let expected = [("X-A", "1"), ("X-B", "two: three")];
        assert_eq!(headers, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}

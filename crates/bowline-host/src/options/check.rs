//! Check for conflicting options.

use std::collections::HashSet;

use bowline_protocol::PermissionMode;

use super::{Options, PermissionPrompts, Resume, Skills};
use crate::{error::Error, tool::SdkServer};

impl Options {
    /// Checks for conflicting options, before anything is started.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let wrong = |what: &str| Err(Error::Options(what.to_owned()));
        if self.can_use_tool.is_some() && self.permissions.permission_prompt_tool.is_some() {
            return wrong("either `can_use_tool` or `permission_prompt_tool` decides, not both");
        }
        if let Some(model) = &self.model
            && self.generation.fallback_models.contains(model)
        {
            return wrong("a model cannot take over from itself: `fallback_models` has `model`");
        }
        let disabled = self.permissions.permission_prompts == Some(PermissionPrompts::Disabled);
        if self.can_use_tool.is_some() && disabled {
            return wrong("`can_use_tool` is never called: `permission_prompts` is `Disabled`");
        }
        if self.resume == Resume::No {
            let needs = [
                ("fork_session", self.session.fork_session),
                ("resume_session_at", self.session.resume_session_at.is_some()),
                ("resume_drops_turn", self.session.resume_drops_turn.is_some()),
            ];
            if let Some((option, _)) = needs.iter().find(|(_, set)| *set) {
                return wrong(&format!("`{option}` needs `resume`"));
            }
        }
        if self.resume != Resume::No
            && self.session.session_id.is_some()
            && !self.session.fork_session
        {
            return wrong(
                "a session that is continued keeps its id: `session_id` needs `fork_session`",
            );
        }
        if let Some(Skills::Named(names)) = &self.settings.skills {
            names.iter().try_for_each(|name| exact_skill(name))?;
        }
        #[cfg(feature = "sessions")]
        if self.session.session_store.is_some() {
            if self.session.no_session_persistence {
                return wrong("`session_store` copies what is kept, and nothing is to be kept");
            }
            if self.session.file_checkpointing {
                return wrong("a `session_store` does not hold what `file_checkpointing` keeps");
            }
        }
        let here = !self.transport.is_elsewhere() && self.process.spawner.is_none();
        if let Some(cwd) = self.cwd.as_ref().filter(|cwd| here && !cwd.is_dir()) {
            return wrong(&format!("the working directory {} is not there", cwd.display()));
        }
        if self.transport.is_elsewhere()
            && let Some(option) = self.about_its_start().next()
        {
            return wrong(&format!("`{option}` is for an agent that this program starts itself"));
        }
        if let Some(name) = self.process.extra_args.keys().find(|name| name.starts_with('-')) {
            return wrong(&format!("`extra_args` are named without dashes: {name}"));
        }
        self.sdk_mcp_servers.iter().try_for_each(SdkServer::check)?;
        no_clash(&self.sdk_mcp_servers, self.tools.mcp_servers.keys())
    }

    /// The options that are set and are about how this program starts the agent's process.
    pub(crate) fn about_its_start(&self) -> impl Iterator<Item = &'static str> {
        let options = [
            ("cli_path", self.process.cli_path.is_some()),
            ("cli_runner", !self.process.cli_runner.is_empty()),
            ("spawner", self.process.spawner.is_some()),
            ("user", self.process.user.is_some()),
            ("clear_env", self.process.clear_env),
            ("stderr", self.process.stderr.is_some()),
        ];
        options.into_iter().filter_map(|(name, set)| set.then_some(name))
    }

    /// Calls that never reach the permission callback although one is set, if any.
    pub(crate) fn calls_bypassing_callback(&self) -> Option<String> {
        self.can_use_tool.as_ref()?;
        if self.permission_mode == Some(PermissionMode::BypassPermissions) {
            return Some("anything: permissions are bypassed".to_owned());
        }
        // A rule about some calls of a tool leaves the others to the callback.
        let whole = self.allowed_tools.iter().filter_map(|rule| match rule.split_once('(') {
            None => Some(rule.as_str()),
            Some((tool, ")" | "*)")) => Some(tool),
            Some(_) => None,
        });
        let whole: Vec<_> = whole.collect();
        (!whole.is_empty()).then(|| format!("{}: rules allow every call", whole.join(", ")))
    }
}

/// Checks that this is the name of one skill. It becomes a part of a rule, which must not match more than that.
fn exact_skill(name: &str) -> Result<(), Error> {
    let wrong = |why: &str| Err(Error::Options(format!("`skills` has `{name}`: {why}")));
    if name.trim().is_empty() {
        return wrong("a skill has a name");
    }
    if name.trim() != name {
        return wrong("the name of a skill neither begins nor ends with a space");
    }
    let delimits = |c: char| matches!(c, '(' | ')' | ',' | '\u{feff}') || c.is_control();
    if name.contains(delimits) {
        return wrong("the name of a skill has no parentheses, commas or control characters");
    }
    if name == "*" {
        return wrong("`Skills::All` is all of them");
    }
    if name.ends_with(":*") || name.ends_with(" *") {
        return wrong("each skill is named by itself");
    }
    if name.starts_with('/') {
        return wrong("a skill is named without a slash");
    }
    Ok(())
}

/// Checks that no two servers, and no two tools of a server, have one name for the model.
pub(crate) fn no_clash<'a>(
    here: &'a [SdkServer],
    elsewhere: impl Iterator<Item = &'a String>,
) -> Result<(), Error> {
    let mut names = HashSet::new();
    let servers = here.iter().map(SdkServer::name).chain(elsewhere.map(String::as_str));
    let servers = servers.map(|server| format!("mcp__{}", spelled(server)));
    let tools = here.iter().flat_map(|server| {
        let server_name = spelled(server.name());
        server.tool_names().map(move |tool| format!("mcp__{server_name}__{}", spelled(tool)))
    });
    match servers.chain(tools).find(|name| !names.insert(name.clone())) {
        Some(name) => {
            Err(Error::Options(format!("two MCP servers or tools are known as `{name}`")))
        }
        None => Ok(()),
    }
}

/// A name as the model sees it: agents replace everything but ASCII letters, digits, `_` and `-`.
fn spelled(name: &str) -> String {
    let keep = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    name.chars().map(|c| if keep(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{McpServer, McpServerConfig, Tool, protocol::McpStdioServer};

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Nothing {}

    fn tool(name: &str) -> Tool {
        Tool::new(name, "", async |_: Nothing| "")
    }

    #[track_caller]
    fn check(options: Options, expected: Option<&str>) {
        let found = options.check().err().map(|error| error.to_string());
        let matches = |text: &String| expected.is_some_and(|expected| text.contains(expected));
        assert_eq!(found.is_some(), expected.is_some(), "{found:?}");
        assert!(found.as_ref().is_none_or(matches), "{found:?}");
    }

    #[test]
    fn ambiguous_tool_names_are_an_error() {
        let server = |name: &str| McpServer::new(name).tool(tool("add"));
        let with = |name: &str| Options::default().sdk_mcp_server(server(name));
        check(with("a").sdk_mcp_server(server("b")), None);
        check(with("a").sdk_mcp_server(server("a")), Some("`mcp__a`"));
        check(with("a b").sdk_mcp_server(server("a.b")), Some("`mcp__a_b`"));
        let elsewhere = McpServerConfig::Stdio(McpStdioServer::default());
        check(with("a").mcp_server("a", elsewhere), Some("`mcp__a`"));
        let twice = server("a").tool(tool("add"));
        check(Options::default().sdk_mcp_server(twice), Some("`mcp__a__add`"));
        check(with(""), Some("it has no name"));
    }

    #[test]
    fn permission_callback_shadowed_by_rules_is_reported() {
        let with_callback =
            || Options::default().can_use_tool(async |_| crate::PermissionResult::allow());
        assert_eq!(with_callback().calls_bypassing_callback(), None);
        assert_eq!(Options::default().allow(["Read"]).calls_bypassing_callback(), None);
        assert_eq!(with_callback().allow(["Bash(ls:*)"]).calls_bypassing_callback(), None);
        let shadowed = with_callback().allow(["Bash(ls:*)", "Read", "Edit(*)", "mcp__calc__add"]);
        let expected = "Read, Edit, mcp__calc__add: rules allow every call";
        assert_eq!(shadowed.calls_bypassing_callback().as_deref(), Some(expected));
        let mut bypassed = with_callback();
        bypassed.permission_mode = Some(PermissionMode::BypassPermissions);
        assert!(bypassed.calls_bypassing_callback().is_some());
    }

    #[test]
    fn skills_are_named_one_by_one() {
        let with = |name: &str| {
            let mut options = Options::default();
            options.settings.skills = Some(Skills::Named(vec![name.to_owned()]));
            options
        };
        for name in ["pdf", "docs:pdf", "two words", "größe"] {
            check(with(name), None);
        }
        let wrong = [
            ("", "has a name"),
            (" pdf", "a space"),
            ("a),Bash(*", "no parentheses"),
            ("a,b", "commas"),
            ("a\nb", "control characters"),
            ("*", "`Skills::All`"),
            ("docs:*", "by itself"),
            ("/pdf", "without a slash"),
        ];
        for (name, expected) in wrong {
            check(with(name), Some(expected));
        }
    }

    #[test]
    fn a_session_that_goes_on_keeps_its_id() {
        let mut options = Options::default().resume("one");
        options.session.session_id = Some("another".to_owned());
        check(options.clone(), Some("`session_id` needs `fork_session`"));
        options.session.fork_session = true;
        check(options, None);
    }

    #[cfg(feature = "schema")]
    #[test]
    fn invalid_schema_is_an_error() {
        let with = |schema: serde_json::Value| {
            let tool = Tool::with_schema("t", "", schema, async |_: serde_json::Value| "");
            Options::default().sdk_mcp_server(McpServer::new("s").tool(tool))
        };
        check(with(serde_json::json!({"type": "object"})), None);
        check(
            with(serde_json::json!({"type": "string"})),
            Some("`t`: input schema must have type `object`"),
        );
        let typo = serde_json::json!({"type": "object", "properties": {"a": {"type": "nmber"}}});
        check(with(typo), Some("`t`: invalid JSON Schema: "));
    }
}

//! Configuration of servers: `--mcp-config`, `.mcp.json` and settings.
//!
//! An invalid server does not affect the others: it becomes a [`ConfigProblem`] that
//! says where to look.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use bowline_protocol::{McpServerConfig, McpServerError, ReadError};
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// A server as it is configured, with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedServer {
    /// Its name in this session.
    pub name: String,
    /// How it is reached.
    pub config: McpServerConfig,
    /// Where that is written down.
    pub scope: Scope,
}

/// Where a server is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scope {
    /// On the command line, or by the host at run time.
    Dynamic,
    /// In the project's `.mcp.json`.
    Project,
    /// In the user's settings for this project.
    Local,
    /// In the user's settings.
    User,
    /// By the administrator of the machine.
    Managed,
    /// In a plugin.
    Plugin,
    /// With a kind of agent.
    Agent,
}

impl Scope {
    /// Whether the server may be the project's, and not the user's own choice. Agents count: most of
    /// those that bring servers along are in projects.
    pub(crate) fn is_projects(self) -> bool {
        matches!(self, Self::Project | Self::Local | Self::Agent)
    }

    /// The word hosts know it by.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Dynamic => "dynamic",
            Self::Project => "project",
            Self::Local => "local",
            Self::User => "user",
            Self::Managed => "managed",
            Self::Plugin => "plugin",
            Self::Agent => "agent",
        }
    }
}

/// The servers of one document, in its order, and what is wrong with the rest.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ServerList {
    /// Those that make sense.
    pub servers: Vec<NamedServer>,
    /// What is wrong with the others, or with the whole document.
    pub problems: Vec<ConfigProblem>,
}

/// What is wrong with a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigProblem {
    /// The file, if it is one.
    pub path: Option<PathBuf>,
    /// Line and column in the document, both from 1, if the problem has a place.
    pub place: Option<(usize, usize)>,
    /// The server that it is about; `None` if it is about the whole document.
    pub server: Option<String>,
    /// What is wrong.
    pub message: String,
    /// Whether the type of the server is unknown.
    pub is_unknown_type: bool,
}

impl ConfigProblem {
    fn about_document(path: Option<PathBuf>, message: String) -> Self {
        Self { path, place: None, server: None, message, is_unknown_type: false }
    }

    /// The same for hosts, if it is about a server.
    pub fn server_error(&self) -> Option<McpServerError> {
        let kind = if self.is_unknown_type { "unknown_type" } else { "invalid_config" };
        Some(McpServerError {
            name: self.server.clone()?,
            kind: kind.to_owned(),
            message: format!("left out: {self}"),
            ..McpServerError::default()
        })
    }
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.path, self.place) {
            (Some(path), Some((line, column))) => {
                write!(f, "{}:{line}:{column}: {}", path.display(), self.message)
            }
            (Some(path), None) => write!(f, "{}: {}", path.display(), self.message),
            (None, Some((line, column))) => {
                write!(f, "line {line}, column {column}: {}", self.message)
            }
            (None, None) => f.write_str(&self.message),
        }
    }
}

/// Reads a value of `--mcp-config`: JSON itself, or the name of a file that holds it.
pub fn read_argument(argument: &str, directory: &Path) -> ServerList {
    if serde_json::from_str::<IgnoredAny>(argument).is_ok() {
        return read_text(argument, None, Scope::Dynamic);
    }
    let path = directory.join(argument);
    if !path.exists() {
        let message = format!("MCP config file not found: {}", path.display());
        let problems = vec![ConfigProblem::about_document(None, message)];
        return ServerList { problems, ..ServerList::default() };
    }
    read_file(&path, Scope::Dynamic)
}

/// Reads a file such as `.mcp.json`. A file that does not exist holds no servers.
pub fn read_file(path: &Path, scope: Scope) -> ServerList {
    match bowline_private::read_regular(path) {
        Ok(text) => read_text(&text, Some(path), scope),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => ServerList::default(),
        Err(error) => {
            let problem = ConfigProblem::about_document(Some(path.to_owned()), error.to_string());
            ServerList { problems: vec![problem], ..ServerList::default() }
        }
    }
}

/// Reads a document with servers under `mcpServers`; other keys, as settings have them, are not
/// looked at. `path` is for the problems.
pub fn read_text(text: &str, path: Option<&Path>, scope: Scope) -> ServerList {
    let mut list = ServerList::default();
    let problem = |message| ConfigProblem::about_document(path.map(Path::to_owned), message);
    let entries = match serde_json::from_str::<Document<'_>>(text) {
        Ok(Document { mcp_servers: Some(Entries(entries)) }) => entries,
        Ok(Document { mcp_servers: None }) => {
            list.problems.push(problem("there is no `mcpServers` object".to_owned()));
            return list;
        }
        Err(error) => {
            let place = Some((error.line(), error.column()));
            list.problems.push(ConfigProblem { place, ..problem(without_place(&error)) });
            return list;
        }
    };
    for (name, raw) in entries {
        match read_server(text, raw.get()) {
            Ok(config) => list.servers.push(NamedServer { name, config, scope }),
            Err(ServerFault { place, field, what, is_unknown_type }) => {
                let message = format!("{name}{field}: {what}");
                let (place, server) = (Some(place), Some(name));
                let about = ConfigProblem { place, server, is_unknown_type, ..problem(message) };
                list.problems.push(about);
            }
        }
    }
    list
}

/// What is wrong with one server.
struct ServerFault {
    place: (usize, usize),
    /// `.field`, or nothing.
    field: String,
    what: String,
    is_unknown_type: bool,
}

/// Reads one server, which was cut out of `text`.
fn read_server(text: &str, raw: &str) -> Result<McpServerConfig, ServerFault> {
    let place = place_of(text, raw);
    let fault = |field: &str, what| {
        let field = if field.is_empty() { String::new() } else { format!(".{field}") };
        ServerFault { place, field, what, is_unknown_type: false }
    };
    match McpServerConfig::parse(raw) {
        Ok(McpServerConfig::Unknown(_)) => {
            let known = McpServerConfig::TAGS.join(", ");
            let what = format!("unknown `type`, expected one of {known}");
            Err(ServerFault { is_unknown_type: true, ..fault("", what) })
        }
        Ok(McpServerConfig::Stdio(server)) if server.command.is_empty() => {
            Err(fault("command", "must not be empty".to_owned()))
        }
        Ok(config) => Ok(config),
        Err(error) => {
            let (source, field) = match &error {
                ReadError::BadBody { source, field, .. } => (Some(source), field.as_str()),
                ReadError::NotAMessage(source) => (Some(source), ""),
                _ => (None, ""),
            };
            // Reading stopped at the end of a field or of the object: good enough to find it.
            let (line, column) = place;
            let place = match source {
                Some(source) if source.line() > 1 => (line + source.line() - 1, source.column()),
                Some(source) if source.line() == 1 => (line, column + source.column() - 1),
                _ => place,
            };
            let what = source.map_or_else(|| error.to_string(), without_place);
            let field = if field == "." { "" } else { field };
            Err(ServerFault { place, ..fault(field, what) })
        }
    }
}

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(rename = "mcpServers", borrow, default)]
    mcp_servers: Option<Entries<'a>>,
}

/// The entries of an object in their order. Of two with one name the later counts.
struct Entries<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Entries<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Entries<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of servers")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<'de>, A::Error> {
                let mut entries: Vec<(String, &RawValue)> = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                    entries.retain(|(known, _)| *known != name);
                    entries.push((name, value));
                }
                Ok(Entries(entries))
            }
        }

        from.deserialize_map(InOrder)
    }
}

/// Line and column, both from 1, at which `part` begins, which was cut out of `text`.
fn place_of(text: &str, part: &str) -> (usize, usize) {
    let offset = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    let before = text.get(..offset).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.len() - before.rfind('\n').map_or(0, |newline| newline + 1) + 1;
    (line, column)
}

/// The error without "at line 1 column 2", which would be relative to a text that the user does not see.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        let list = read_text(text, None, Scope::Project);
        list.problems.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn servers_keep_their_order() {
        let text = r#"{"mcpServers":{"z":{"command":"z"},"a":{"type":"sdk","name":"a"},"m":{"type":"http","url":"http://x"}},"other":1}"#;
        let list = read_text(text, None, Scope::User);
        let names: Vec<_> = list.servers.iter().map(|server| server.name.as_str()).collect();
        assert_eq!(names, ["z", "a", "m"]);
        assert_eq!(list.problems, []);
        assert_eq!(list.servers[0].scope, Scope::User);
    }

    #[test]
    fn one_bad_server_costs_only_itself_and_says_where_it_is() {
        let text = "{\n  \"mcpServers\": {\n    \"bad\": {\n      \"command\": 7\n    },\n    \"odd\": {\"type\": \"pigeon\"},\n    \"good\": {\"command\": \"x\"}\n  }\n}";
        let list = read_text(text, Some(Path::new("/p/.mcp.json")), Scope::Project);
        assert_eq!(list.servers.len(), 1);
        assert_eq!(list.servers[0].name, "good");
        let shown: Vec<_> = list.problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "/p/.mcp.json:4:18: bad.command: invalid type: integer `7`, expected a string",
                "/p/.mcp.json:6:12: odd: unknown `type`, expected one of stdio, sse, http, sdk, claudeai-proxy",
            ]
        );
    }

    #[test]
    fn broken_documents_say_where_they_break() {
        assert_eq!(
            problems("{\n  \"mcpServers\": {,}\n}"),
            ["line 2, column 18: key must be a string"]
        );
        assert_eq!(problems("{}"), ["there is no `mcpServers` object"]);
        assert_eq!(problems(r#"{"mcpServers":[]}"#).len(), 1);
    }

    #[test]
    fn an_argument_is_json_or_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let inline = read_argument(r#"{"mcpServers":{"a":{"command":"x"}}}"#, dir.path());
        assert_eq!(inline.servers.len(), 1);

        let missing = read_argument("{nope", dir.path());
        let expected = format!("MCP config file not found: {}", dir.path().join("{nope").display());
        assert_eq!(missing.problems[0].to_string(), expected);

        std::fs::write(dir.path().join("servers.json"), r#"{"mcpServers":{"b":{"command":"x"}}}"#)
            .unwrap();
        assert_eq!(read_argument("servers.json", dir.path()).servers[0].name, "b");
    }

    #[test]
    fn a_project_without_servers_is_no_problem() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read_file(&dir.path().join(".mcp.json"), Scope::Project), ServerList::default());
    }
}

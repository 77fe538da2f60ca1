//! Lets an agent look into a database, and makes sure that it only looks.
//!
//! A statement's effects are not visible in its text (`WITH … DELETE`, `PRAGMA`,
//! a trigger), so the text is not inspected: the database is opened read-only and refuses
//! everything else itself. A query that runs too long is interrupted.
//!
//! Runs offline with a scripted model; `--cli PATH` has a real agent do it, and `--database FILE`
//! lets it look into yours.

#![expect(clippy::print_stdout, reason = "this is what a program is for")]

#[path = "../../../crates/bowline-host/examples/support/command_line.rs"]
mod command_line;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bowline_host::{
    ContentBlock, Embedded, McpServer, Message, Options, Structured, Tool, printable, query,
};
use rusqlite::{Connection, InterruptHandle, OpenFlags, types::ValueRef};
use serde_json::{Map, Value, json};

use command_line::{CLI, Flag};

const DATABASE: Flag = ("--database", "FILE", "look into this file of SQLite's");

/// Limit of rows that a model is shown. A query can select others.
const MOST_ROWS: usize = 100;

/// How long a query may take.
const TIME_LIMIT: Duration = Duration::from_secs(5);

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Query {
    /// One statement of SQLite's SQL. Write `?1`, `?2` … for the parameters.
    sql: String,
    /// Numbers, texts and nulls for its parameters.
    #[serde(default)]
    params: Vec<Value>,
}

/// What the scripted model does: one query that is fine, and two that are not.
const SCRIPT: &str = r#"SAY Let me look.
TOOL mcp__db__query {"sql": "SELECT name, length_cm FROM knots WHERE length_cm > ?1 ORDER BY name", "params": [20]}
NEXT
TOOL mcp__db__query {"sql": "WITH gone AS (SELECT 1) DELETE FROM knots"}
NEXT
TOOL mcp__db__query {"sql": "SELECT * FROM ropes"}
NEXT
SAY Two knots need more than 20 cm of rope."#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let said = command_line::read("Lets an agent look into a database.", &[CLI, DATABASE]);
    let scratch = std::env::temp_dir().join(format!("knots-{}.db", std::process::id()));
    let database = match said.get("--database").map(PathBuf::from) {
        Some(path) if !path.is_file() => {
            return Err(format!("there is no database {}", path.display()).into());
        }
        Some(path) => path,
        None => {
            fill(&scratch)?;
            scratch.clone()
        }
    };
    let options = agent(said.get("--cli"))
        .sdk_mcp_server(McpServer::new("db").tool(query_tool(database)))
        .allow(["mcp__db__query"]);
    let mut messages = query("Which knots need more than 20 cm of rope?", options);
    while let Some(message) = messages.next().await {
        match message? {
            Message::Assistant(answer) => answer.message.content.iter().for_each(show),
            Message::User(results) => results.message.content.into_blocks().iter().for_each(show),
            _ => {}
        }
    }
    if scratch.exists() {
        std::fs::remove_file(scratch)?;
    }
    Ok(())
}

fn query_tool(database: PathBuf) -> Tool {
    let database: Arc<Path> = database.into();
    Tool::new("query", "Runs one read-only SQL query", move |query: Query| {
        let database = database.clone();
        async move { run(database, query).await.map(Structured) }
    })
    .read_only()
}

/// Runs a query on a separate thread, and interrupts it when it takes too long or its caller no longer waits
/// for it.
async fn run(database: Arc<Path>, query: Query) -> Result<Value, String> {
    let connection = open(&database).map_err(|error| error.to_string())?;
    let _stop = Stop(connection.get_interrupt_handle());
    let rows = tokio::task::spawn_blocking(move || rows(&connection, &query));
    match tokio::time::timeout(TIME_LIMIT, rows).await {
        Ok(Ok(rows)) => rows.map_err(|error| error.to_string()),
        Ok(Err(panic)) => Err(panic.to_string()),
        Err(_) => Err(format!("the query took longer than {TIME_LIMIT:?}")),
    }
}

/// Opens the database so that no statement can write: the file is
/// opened for reading, and the connection refuses statements that would write elsewhere
/// (`ATTACH` and a temporary table, for example).
fn open(database: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(database, flags)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.set_limit(rusqlite::limits::Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    Ok(connection)
}

fn rows(connection: &Connection, query: &Query) -> rusqlite::Result<Value> {
    let mut statement = connection.prepare(&query.sql)?;
    let names: Vec<String> = statement.column_names().into_iter().map(str::to_owned).collect();
    let mut rows =
        statement.query(rusqlite::params_from_iter(query.params.iter().map(parameter)))?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        if found.len() == MOST_ROWS {
            return Ok(json!({"rows": found, "more": true}));
        }
        let mut fields = Map::new();
        for (place, name) in names.iter().enumerate() {
            fields.insert(name.clone(), value(row.get_ref(place)?));
        }
        found.push(Value::Object(fields));
    }
    Ok(json!({"rows": found}))
}

fn parameter(value: &Value) -> rusqlite::types::Value {
    match value {
        Value::Null => rusqlite::types::Value::Null,
        Value::Bool(yes) => i64::from(*yes).into(),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64().unwrap_or(f64::NAN).into(),
        },
        Value::String(text) => text.clone().into(),
        nested => nested.to_string().into(),
    }
}

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
        ValueRef::Blob(bytes) => format!("({} bytes)", bytes.len()).into(),
    }
}

/// Interrupts a query when it is dropped. One that has ended does not mind.
struct Stop(InterruptHandle);

impl Drop for Stop {
    fn drop(&mut self) {
        self.0.interrupt();
    }
}

fn fill(database: &Path) -> rusqlite::Result<()> {
    Connection::open(database)?.execute_batch(
        "CREATE TABLE knots (name TEXT, length_cm REAL);
         INSERT INTO knots VALUES ('bowline', 30), ('figure eight', 25.5), ('overhand', 10);",
    )
}

fn show(block: &ContentBlock) {
    match block {
        ContentBlock::Text(block) => println!("agent: {}", printable(&block.text)),
        ContentBlock::ToolUse(block) => println!("  query {}", printable(block.input.get())),
        ContentBlock::ToolResult(block) => {
            let text = serde_json::to_string(&block.content).unwrap_or_default();
            println!("  result {}", printable(&text));
        }
        _ => {}
    }
}

/// A real agent if the command line names one, else one with a script.
fn agent(path: Option<&String>) -> Options {
    match path {
        Some(path) => Options::default().cli_path(path),
        None => Options::default().embedded(Embedded::with_script(std::env::temp_dir(), SCRIPT)),
    }
}

//! `bowline schema`: JSON Schema of the protocol, for other languages.

use std::io::{self, Write};

use bowline_protocol::{agent_schema, host_schema};

use crate::args::Side;

/// Prints the schema of the lines that `side` writes.
pub(crate) fn print(side: Side) -> anyhow::Result<()> {
    let schema = match side {
        Side::Agent => agent_schema(),
        Side::Host => host_schema(),
    };
    let mut text = serde_json::to_string_pretty(&schema)?;
    text.push('\n');
    // In one piece: a large text through many small writes is slow.
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

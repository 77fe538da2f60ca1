//! Jupyter notebooks: cells with their outputs.

use std::path::Path;

use bowline_protocol::ContentBlock;
use serde_json::{Map, Value, json};

use super::{Input, bytes, media::image_block, refuse_larger};
use crate::{
    files::{Notebook, TextFile, joined},
    output::{ToolFailure, ToolOutput},
    workspace::{SeenFile, Workspace},
};

/// Outputs make notebooks large; more than this would fill a conversation.
const MAX_NOTEBOOK_BYTES: u64 = 8 * 1024 * 1024;

pub(super) async fn read(
    input: &Input,
    path: &Path,
    size: u64,
    workspace: &Workspace,
) -> Result<ToolOutput, ToolFailure> {
    refuse_larger(size, MAX_NOTEBOOK_BYTES, "Use jq in Bash to see single cells.")?;
    let file = bytes(path).await?;
    let text = TextFile::decode(&file.bytes).text;
    let notebook = Notebook::parse(&text).map_err(|error| {
        ToolFailure::running(format!("{} is not a valid notebook: {error}", path.display()))
    })?;
    workspace.seen().record(path, SeenFile::new(&file.bytes, file.modified));

    let mut blocks = Blocks::default();
    let mut cells = Vec::new();
    for (index, cell) in notebook.cells().iter().enumerate() {
        let id = notebook.cell_id(index);
        let kind = cell["cell_type"].as_str().unwrap_or("code");
        let source = joined(&cell["source"]);
        let is_code = kind == "code";
        let tag = if is_code { String::new() } else { format!("<cell_type>{kind}</cell_type>") };
        blocks.text(format!("<cell id=\"{id}\">{tag}{source}</cell id=\"{id}\">"));

        let mut object = Map::new();
        object.insert("cellType".to_owned(), kind.into());
        object.insert("source".to_owned(), source.into());
        object.insert("cell_id".to_owned(), id.into());
        if let Some(count) = cell["execution_count"].as_u64() {
            object.insert("execution_count".to_owned(), count.into());
        }
        if is_code {
            object.insert("language".to_owned(), notebook.language().into());
        }
        let outputs: Vec<Value> = cell["outputs"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|o| output(o, &mut blocks))
            .collect();
        if !outputs.is_empty() {
            object.insert("outputs".to_owned(), outputs.into());
        }
        cells.push(Value::Object(object));
    }
    let structured =
        json!({ "type": "notebook", "file": { "filePath": input.file_path, "cells": cells } });
    Ok(ToolOutput::blocks(blocks.0).structured(structured))
}

/// Blocks in which texts that follow each other are one.
#[derive(Default)]
struct Blocks(Vec<ContentBlock>);

impl Blocks {
    fn text(&mut self, text: String) {
        match self.0.last_mut() {
            Some(ContentBlock::Text(last)) => {
                last.text.push('\n');
                last.text.push_str(&text);
            }
            _ => self.0.push(ContentBlock::text(text)),
        }
    }
}

/// Shows one output of a cell, and adds it to the object for programs.
fn output(output: &Value, blocks: &mut Blocks) -> Value {
    let kind = output["output_type"].as_str().unwrap_or_default();
    let mut object = Map::new();
    object.insert("output_type".to_owned(), kind.into());
    let text = match kind {
        "stream" => joined(&output["text"]),
        "error" => {
            let text = |key: &str| output[key].as_str().unwrap_or_default().to_owned();
            let lines = output["traceback"].as_array().into_iter().flatten();
            let trace: Vec<&str> = lines.filter_map(Value::as_str).collect();
            format!("{}: {}\n{}", text("ename"), text("evalue"), trace.join("\n"))
        }
        _ => joined(&output["data"]["text/plain"]),
    };
    if !text.is_empty() {
        blocks.text(format!("\n{text}"));
        object.insert("text".to_owned(), text.into());
    }
    for media_type in ["image/png", "image/jpeg"] {
        let data: String = joined(&output["data"][media_type]).split_whitespace().collect();
        if !data.is_empty() {
            object.insert(
                "image".to_owned(),
                json!({ "image_data": data, "media_type": media_type }),
            );
            blocks.0.push(image_block(media_type, data));
            break;
        }
    }
    Value::Object(object)
}

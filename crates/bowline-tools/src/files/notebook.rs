//! Jupyter notebooks: cells found, read and changed, everything else kept in its order.

use bowline_protocol::KeyOrder;
use serde::Serialize;
use serde_json::{Map, Value, json, ser::PrettyFormatter};

/// A notebook as its JSON tree.
#[derive(Debug, Clone)]
pub(crate) struct Notebook {
    root: Value,
    /// Order of the keys in the file, which is kept.
    order: KeyOrder,
}

impl Notebook {
    /// Parses a notebook.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let root: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let order = KeyOrder::of(text).map_err(|error| error.to_string())?;
        match root.get("cells") {
            Some(Value::Array(cells)) if cells.iter().all(Value::is_object) => {
                Ok(Self { root, order })
            }
            _ => Err("it has no list of cells".to_owned()),
        }
    }

    /// The text of the file, indented as Jupyter does it.
    pub(crate) fn to_text(&self) -> String {
        let mut bytes = Vec::new();
        let formatter = PrettyFormatter::with_indent(b" ");
        let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
        self.order
            .apply(&self.root)
            .serialize(&mut serializer)
            .expect("a JSON tree always serializes");
        String::from_utf8(bytes).expect("JSON is UTF-8")
    }

    /// The language of its code cells.
    pub(crate) fn language(&self) -> &str {
        self.root["metadata"]["language_info"]["name"].as_str().unwrap_or("python")
    }

    /// Its cells, in order.
    pub(crate) fn cells(&self) -> &[Value] {
        self.root["cells"].as_array().map_or(&[], Vec::as_slice)
    }

    /// Its cells, for changing them.
    pub(crate) fn cells_mut(&mut self) -> &mut Vec<Value> {
        self.root["cells"].as_array_mut().expect("checked when the notebook was read")
    }

    /// The index of the cell with this id, or of the `N`th for `cell-N`.
    pub(crate) fn position(&self, id: &str) -> Option<usize> {
        let by_id = self.cells().iter().position(|cell| cell["id"] == id);
        by_id.or_else(|| {
            let index: usize = id.strip_prefix("cell-")?.parse().ok()?;
            (index < self.cells().len()).then_some(index)
        })
    }

    /// The id of the cell at an index; older notebooks have no ids, and get `cell-N`.
    pub(crate) fn cell_id(&self, index: usize) -> String {
        match self.cells()[index]["id"].as_str() {
            Some(id) => id.to_owned(),
            None => format!("cell-{index}"),
        }
    }

    /// Whether its format has ids of cells.
    pub(crate) fn has_ids(&self) -> bool {
        let version = |key: &str| self.root[key].as_u64().unwrap_or(0);
        (version("nbformat"), version("nbformat_minor")) >= (4, 5)
    }
}

/// A new cell.
pub(crate) fn new_cell(kind: &str, id: Option<&str>, source: &str) -> Value {
    let mut cell = Map::new();
    cell.insert("cell_type".to_owned(), kind.into());
    if let Some(id) = id {
        cell.insert("id".to_owned(), id.into());
    }
    cell.insert("source".to_owned(), source.into());
    cell.insert("metadata".to_owned(), json!({}));
    if kind == "code" {
        cell.insert("execution_count".to_owned(), Value::Null);
        cell.insert("outputs".to_owned(), json!([]));
    }
    Value::Object(cell)
}

/// Text that a notebook may keep as one string or as a list of lines.
pub(crate) fn joined(text: &Value) -> String {
    match text {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

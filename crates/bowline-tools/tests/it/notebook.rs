//! Notebooks, read and edited.

use serde_json::{Value, json};

use crate::rig::{Rig, refused};

const NOTEBOOK: &str = r##"{"cells": [
  {"cell_type": "code", "id": "c1", "metadata": {}, "source": ["print(1)\n", "2"],
   "outputs": [
     {"output_type": "stream", "name": "stdout", "text": ["1\n"]},
     {"output_type": "display_data", "data": {"image/png": "aGk=\n", "text/plain": "<fig>"}},
     {"output_type": "error", "ename": "E", "evalue": "bad", "traceback": ["line 1"]}
   ], "execution_count": 3},
  {"cell_type": "markdown", "id": "m1", "metadata": {}, "source": "# Title"}
 ], "metadata": {"zebra": 1, "apple": 2}, "nbformat": 4, "nbformat_minor": 5}"##;

async fn rig() -> Rig {
    let rig = Rig::new();
    rig.file("n.ipynb", NOTEBOOK);
    rig
}

async fn read(rig: &Rig) -> (Value, Value) {
    let output = rig.call("Read", json!({ "file_path": "n.ipynb" })).await.unwrap();
    (serde_json::to_value(&output.content).unwrap(), output.structured.unwrap())
}

fn edit(fields: Value) -> Value {
    let mut input = json!({ "notebook_path": "n.ipynb", "new_source": "new" });
    input.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    input
}

#[tokio::test]
async fn cells_are_shown_with_their_outputs() {
    let (blocks, object) = read(&rig().await).await;
    assert_eq!(
        blocks,
        json!([
            { "type": "text",
              "text": "<cell id=\"c1\">print(1)\n2</cell id=\"c1\">\n\n1\n\n\n<fig>" },
            { "type": "image",
              "source": { "type": "base64", "media_type": "image/png", "data": "aGk=" } },
            { "type": "text",
              "text": "\nE: bad\nline 1\n<cell id=\"m1\"><cell_type>markdown</cell_type># Title\
                       </cell id=\"m1\">" },
        ])
    );
    let cells = &object["file"]["cells"];
    assert_eq!(cells[0]["execution_count"], 3);
    assert_eq!(cells[0]["outputs"][1]["image"]["media_type"], "image/png");
    assert_eq!(cells[1], json!({ "cellType": "markdown", "source": "# Title", "cell_id": "m1" }));
}

#[tokio::test]
async fn replaced_cell_loses_its_outputs() {
    let rig = rig().await;
    read(&rig).await;
    let (text, object) = rig.ok("NotebookEdit", edit(json!({ "cell_id": "c1" }))).await;
    assert_eq!(text, "Updated cell c1 with new");
    assert_eq!(object["old_source"], "print(1)\n2");
    assert_eq!(object["original_file"], NOTEBOOK);
    let updated = rig.content("n.ipynb");
    assert_eq!(object["updated_file"], updated.as_str());
    assert!(updated.starts_with("{\n \"cells\": [\n  {\n   \"cell_type\": \"code\","), "{updated}");
    assert!(updated.find("zebra").unwrap() < updated.find("apple").unwrap(), "order is kept");
    let cell = &serde_json::from_str::<Value>(&updated).unwrap()["cells"][0];
    assert_eq!(cell["source"], "new");
    assert_eq!((&cell["outputs"], &cell["execution_count"]), (&json!([]), &Value::Null));
}

#[tokio::test]
async fn cells_are_inserted_and_deleted() {
    let rig = rig().await;
    read(&rig).await;
    let insert = json!({ "edit_mode": "insert", "cell_type": "markdown", "cell_id": "c1" });
    let (text, object) = rig.ok("NotebookEdit", edit(insert)).await;
    let id = object["cell_id"].as_str().unwrap().to_owned();
    assert_eq!(id.len(), 8);
    assert_eq!(text, format!("Inserted cell {id} with new"));
    let first = json!({ "edit_mode": "insert", "cell_type": "code" });
    rig.ok("NotebookEdit", edit(first)).await;
    let text =
        rig.text("NotebookEdit", edit(json!({ "edit_mode": "delete", "cell_id": "cell-1" }))).await;
    assert_eq!(text, "Deleted cell c1");
    let notebook: Value = serde_json::from_str(&rig.content("n.ipynb")).unwrap();
    let kinds: Vec<_> =
        notebook["cells"].as_array().unwrap().iter().map(|cell| &cell["cell_type"]).collect();
    assert_eq!(kinds, ["code", "markdown", "markdown"]);
}

#[tokio::test]
async fn invalid_notebook_edits_have_specific_errors() {
    let rig = rig().await;
    let error = async |fields: Value| rig.error("NotebookEdit", edit(fields)).await;
    assert_eq!(
        error(json!({ "cell_id": "c1" })).await,
        refused("File has not been read yet. Read it first before writing to it.")
    );
    read(&rig).await;
    assert_eq!(
        error(json!({ "cell_id": "x" })).await,
        refused("Cell with ID \"x\" not found in notebook.")
    );
    assert_eq!(
        error(json!({ "cell_id": "cell-99" })).await,
        refused("Cell with index 99 does not exist in notebook.")
    );
    assert_eq!(
        error(json!({})).await,
        refused("Cell ID must be specified when not inserting a new cell.")
    );
    assert_eq!(
        error(json!({ "edit_mode": "insert" })).await,
        refused("Cell type is required when using edit_mode=insert.")
    );
    assert!(error(json!({ "edit_mode": "turn" })).await.contains("invalid_value"));
    let text = error(json!({ "notebook_path": "a.txt", "cell_id": "c1" })).await;
    assert!(text.contains("File must be a Jupyter notebook (.ipynb file)."), "{text}");
    assert_eq!(
        error(json!({ "notebook_path": "none.ipynb", "cell_id": "c1" })).await,
        refused("File has not been read yet. Read it first before writing to it.")
    );
    rig.file("bad.ipynb", "{");
    let text = rig.error("Read", json!({ "file_path": "bad.ipynb" })).await;
    assert!(text.contains("is not a valid notebook"), "{text}");
}

//! Finding tools and checking their input.

use bowline_tools::{Options, Registry, ToolFailure};
use serde_json::{Value, json};

use crate::rig::{Rig, refused};

fn names(registry: &Registry) -> Vec<String> {
    registry.iter().map(|tool| tool.spec().name.to_string()).collect()
}

#[test]
fn tools_have_a_stable_order_and_can_be_chosen() {
    let mut registry = Registry::builtin(&Options::default());
    let all = names(&registry);
    assert!(all.is_sorted(), "{all:?}");
    assert_eq!(all.len(), 15);
    registry.choose(&["Write", "KillShell", "NoSuchTool", "Bash"]);
    assert_eq!(names(&registry), ["Bash", "TaskStop", "Write"]);
    assert_eq!(registry.get("KillBash").unwrap().spec().name, "TaskStop");
    assert!(registry.get("Read").is_none());
}

#[test]
fn unknown_tool_is_reported_with_a_hint() {
    let registry = Registry::builtin(&Options::default());
    let failure = |name: &str| -> ToolFailure { registry.find(name).err().unwrap() };
    let unknown = failure("NoSuchTool");
    assert_eq!(unknown.content, refused("Error: No such tool available: NoSuchTool"));
    assert_eq!(unknown.structured, json!("Error: No such tool available: NoSuchTool"));
    assert!(failure("bash").content.contains("call Bash instead."));
}

#[test]
fn schemas_are_plain_objects() {
    for tool in Registry::builtin(&Options::default()).iter() {
        let spec = tool.spec();
        let schema = spec.input_schema.to_value();
        assert_eq!(schema["type"], "object", "{}", spec.name);
        assert!(schema["properties"].is_object(), "{}", spec.name);
        let text = spec.input_schema.get();
        for noise in ["$ref", "$schema", "$defs", "\"null\"", "uint", "int64", "double"] {
            assert!(!text.contains(noise), "{} has {noise}: {text}", spec.name);
        }
        for (name, property) in schema["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{}.{name}: {property}", spec.name);
        }
        assert!(spec.description.len() > 50, "{}", spec.name);
    }
}

#[test]
fn every_input_issue_is_reported_in_order() {
    let registry = Registry::builtin(&Options::default());
    let input = json!({ "old_string": 1, "bogus": 2, "new_string": null, "replace_all": "yes" });
    let failure = registry.check_schema("Edit", input).unwrap_err();
    assert_eq!(
        failure.content,
        refused(
            "InputValidationError: Edit failed due to the following issues:\n\
             The required parameter `file_path` is missing\n\
             An unexpected parameter `bogus` was provided\n\
             The parameter `old_string` type is expected as `string` but provided as `number`\n\
             The parameter `new_string` type is expected as `string` but provided as `null`\n\
             The parameter `replace_all` type is expected as `boolean` but provided as `string`"
        )
    );
    let failure = registry.check_schema("Bash", json!({ "command": "x", "bogus": 1 })).unwrap_err();
    assert_eq!(
        failure.structured,
        json!(
            "InputValidationError: [\n  {\n    \"code\": \"unrecognized_keys\",\n    \"keys\": \
             [\n      \"bogus\"\n    ],\n    \"path\": [],\n    \"message\": \"Unrecognized key: \
             \\\"bogus\\\"\"\n  }\n]"
        )
    );
    let failure = registry.check_schema("Bash", Value::Null).unwrap_err();
    assert_eq!(
        failure.structured,
        json!(
            "InputValidationError: [\n  {\n    \"expected\": \"string\",\n    \"code\": \
             \"invalid_type\",\n    \"path\": [\n      \"command\"\n    ],\n    \"message\": \
             \"Invalid input: expected string, received undefined\"\n  }\n]"
        )
    );
}

#[test]
fn numbers_and_lists_in_strings_are_converted() {
    let registry = Registry::builtin(&Options::default());
    let input = json!({ "command": "7", "timeout": "100", "run_in_background": "true" });
    assert_eq!(
        registry.check_schema("Bash", input).unwrap(),
        json!({ "command": "7", "timeout": 100, "run_in_background": true })
    );
    let failure = registry.check_schema("Read", json!({ "file_path": "x", "offset": 1.5 }));
    assert!(failure.unwrap_err().content.contains("expected as `int` but provided as `number`"));
}

#[test]
fn schema_defaults_are_filled_in() {
    let registry = Registry::builtin(&Options::default());
    let filled = |mut input: Value| {
        registry.fill_defaults("Edit", &mut input).unwrap();
        input
    };
    let whole = json!({ "file_path": "x", "replace_all": false });
    assert_eq!(filled(json!({ "file_path": "x" })), whole);
    assert_eq!(filled(json!({ "replace_all": true })), json!({ "replace_all": true }));
    assert_eq!(filled(json!("no object")), json!("no object"));
    assert!(registry.fill_defaults("NoSuchTool", &mut json!({})).is_err());
}

#[test]
fn input_that_is_not_json_is_reported() {
    let failure = ToolFailure::not_json("Bash", "{\"command\": \"echo");
    assert!(failure.content.starts_with(
        "<tool_use_error>InputValidationError: Bash was called with input that could not be \
         parsed as JSON.\nYou sent (first 17 of 17 bytes): {\"command\": \"echo\n"
    ));
    assert_eq!(failure.structured, json!("InputValidationError: JSON parse failed (17 bytes)"));
}

#[tokio::test]
async fn long_error_keeps_both_ends() {
    let rig = Rig::new();
    let text = rig.error("Bash", json!({ "command": "seq 1 5000; exit 1" })).await;
    assert!(text.starts_with("Exit code 1\n1\n2\n"));
    assert!(text.contains("characters truncated] ..."));
    assert!(text.ends_with("\n5000"));
    assert!(text.len() < 10_200);
}

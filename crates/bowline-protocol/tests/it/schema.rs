//! The protocol as JSON Schema.

use std::collections::BTreeSet;

use bowline_protocol::*;
use schemars::Schema;
use serde_json::Value;

/// Every string in a tree.
fn strings<'a>(tree: &'a Value, found: &mut BTreeSet<&'a str>) {
    match tree {
        Value::String(text) => {
            found.insert(text);
        }
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| strings(field, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn names_all(schema: &Schema, tags: &[&[&str]]) {
    let mut found = BTreeSet::new();
    strings(schema.as_value(), &mut found);
    for tag in tags.concat() {
        assert!(found.contains(tag), "no {tag}");
    }
}

#[test]
fn schemas_name_every_tag() {
    names_all(
        &agent_schema(),
        &[
            Message::TAGS,
            SystemMessage::TAGS,
            ContentBlock::TAGS,
            AgentRequest::TAGS,
            EventInput::TAGS,
            PermissionUpdate::TAGS,
            &["control_request", "control_response", "control_cancel_request", "keep_alive"],
        ],
    );
    names_all(
        &host_schema(),
        &[
            HostRequest::TAGS,
            HookSpecificOutput::TAGS,
            PermissionResult::TAGS,
            &["user", "control_request", "control_response", "control_cancel_request"],
        ],
    );
}

#[test]
fn every_schema_reference_resolves() {
    for schema in [agent_schema(), host_schema()] {
        let mut found = BTreeSet::new();
        strings(schema.as_value(), &mut found);
        let mut references = found.iter().filter_map(|text| text.strip_prefix('#')).peekable();
        assert!(references.peek().is_some());
        for reference in references {
            assert!(schema.as_value().pointer(reference).is_some(), "no {reference}");
        }
    }
}

//! The tools of a session, found by name and by older names.

use std::sync::{Arc, OnceLock};

use jsonschema::{Draft, Validator};
use serde_json::Value;

use crate::{
    check,
    output::ToolFailure,
    tool::{Tool, ToolSpec},
    workspace::Options,
};

/// The tools of a session, in the order in which they were added.
#[derive(Clone, Default)]
pub struct Registry {
    entries: Vec<Arc<Entry>>,
}

struct Entry {
    tool: Arc<dyn Tool>,
    /// Made at the first call: most sessions use few of their tools.
    checker: OnceLock<Option<(Value, Validator)>>,
    /// The fields that the schema fills in, with what; looked for at the first call, too.
    defaults: OnceLock<Vec<(String, Value)>>,
}

impl Registry {
    /// No tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// All tools of this crate, in alphabetical order.
    pub fn builtin(options: &Options) -> Self {
        let mut registry = Self::new();
        for tool in crate::tools::builtin(options) {
            registry.insert(tool);
        }
        registry
    }

    /// Adds a tool. One of the same name is replaced and keeps its position.
    pub fn insert(&mut self, tool: Arc<dyn Tool>) {
        let entry = Arc::new(Entry { tool, checker: OnceLock::new(), defaults: OnceLock::new() });
        let name = &entry.tool.spec().name;
        match self.entries.iter_mut().find(|old| old.tool.spec().name == *name) {
            Some(old) => *old = entry,
            None => self.entries.push(entry),
        }
    }

    /// Keeps the tools for which `keep` returns true.
    pub fn retain(&mut self, mut keep: impl FnMut(&ToolSpec) -> bool) {
        self.entries.retain(|entry| keep(entry.tool.spec()));
    }

    /// Keeps the named tools, in their order here. Older names work as well; unknown ones are ignored.
    pub fn choose<S: AsRef<str>>(&mut self, names: &[S]) {
        self.retain(|spec| names.iter().any(|name| goes_by(spec, name.as_ref())));
    }

    /// The tool of this name or older name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.entry(name).map(|entry| &entry.tool)
    }

    /// The tool of this name, or the failure for a model that called an unknown one.
    pub fn find(&self, name: &str) -> Result<&Arc<dyn Tool>, ToolFailure> {
        self.known(name).map(|entry| &entry.tool)
    }

    /// Checks an input against the tool's schema. Returns the input as the tool takes it: numbers
    /// and lists that were written as strings are converted.
    pub fn check_schema(&self, name: &str, input: Value) -> Result<Value, ToolFailure> {
        let entry = self.known(name)?;
        let spec = entry.tool.spec();
        match entry.checker.get_or_init(|| checker(spec)) {
            Some((schema, validator)) => check::check(&spec.name, schema, validator, input),
            None => Ok(input),
        }
    }

    /// Adds the defaults of the tool's schema to an input that lacks these fields.
    pub fn fill_defaults(&self, name: &str, input: &mut Value) -> Result<(), ToolFailure> {
        let entry = self.known(name)?;
        let defaults = entry.defaults.get_or_init(|| defaults(entry.tool.spec()));
        if let Value::Object(fields) = input {
            for (name, default) in defaults {
                if !fields.contains_key(name) {
                    fields.insert(name.clone(), default.clone());
                }
            }
        }
        Ok(())
    }

    /// All tools, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.entries.iter().map(|entry| &entry.tool)
    }

    fn known(&self, name: &str) -> Result<&Arc<Entry>, ToolFailure> {
        self.entry(name).ok_or_else(|| {
            let names = self.iter().map(|tool| &tool.spec().name);
            let hint = names
                .filter(|known| known.eq_ignore_ascii_case(name))
                .map(|known| format!("Tool names are case-sensitive: call {known} instead."))
                .next();
            ToolFailure::unknown_tool(name, hint.as_deref())
        })
    }

    fn entry(&self, name: &str) -> Option<&Arc<Entry>> {
        let by_name = self.entries.iter().find(|entry| entry.tool.spec().name == name);
        by_name.or_else(|| self.entries.iter().find(|entry| goes_by(entry.tool.spec(), name)))
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter().map(|tool| &tool.spec().name)).finish()
    }
}

fn goes_by(spec: &ToolSpec, name: &str) -> bool {
    spec.name == name || spec.aliases.iter().any(|alias| alias == name)
}

/// Whether a value is a JSON schema that inputs can be checked against; if not, why.
pub fn check_is_schema(schema: &Value) -> Result<(), String> {
    jsonschema::options().build(schema).map(drop).map_err(|error| error.to_string())
}

fn checker(spec: &ToolSpec) -> Option<(Value, Validator)> {
    if !spec.checked {
        return None;
    }
    let schema = spec.input_schema.to_value();
    let mut options = jsonschema::options().should_validate_formats(true);
    if is_plain(&schema) {
        options = options.with_draft(Draft::Draft7);
    }
    match options.build(&schema) {
        Ok(validator) => Some((schema, validator)),
        Err(error) => {
            tracing::warn!(tool = %spec.name, %error, "input is not checked: bad schema");
            None
        }
    }
}

fn defaults(spec: &ToolSpec) -> Vec<(String, Value)> {
    let mut schema = spec.input_schema.to_value();
    let Some(Value::Object(properties)) = schema.get_mut("properties").map(Value::take) else {
        return Vec::new();
    };
    let default = |mut property: Value| property.get_mut("default").map(Value::take);
    let defaults = properties.into_iter().filter_map(|(name, it)| Some((name, default(it)?)));
    defaults.filter(|(_, default)| !default.is_null()).collect()
}

/// Whether all drafts read a schema alike, as they do those of our tools. The library first checks
/// every schema against the meta-schema of its draft, and compiling that takes milliseconds for newer drafts.
fn is_plain(schema: &Value) -> bool {
    let Value::Object(keywords) = schema else { return schema.is_boolean() };
    keywords.iter().all(|(keyword, value)| match (keyword.as_str(), value) {
        ("additionalProperties" | "items", schema) => is_plain(schema),
        ("properties", Value::Object(properties)) => properties.values().all(is_plain),
        ("anyOf" | "oneOf" | "allOf", Value::Array(schemas)) => schemas.iter().all(is_plain),
        (
            "type" | "description" | "required" | "enum" | "const" | "default" | "format"
            | "minimum" | "maximum" | "minLength" | "maxLength" | "minItems" | "maxItems",
            _,
        ) => true,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn schema_is_plain_if_every_draft_reads_it_alike() {
        let with = |keyword: &str, value: Value| {
            let mut schema =
                json!({ "type": "object", "properties": { "a": { "type": "array" } } });
            schema["properties"]["a"][keyword] = value;
            schema
        };
        assert!(is_plain(&with("items", json!({ "type": "string", "enum": ["x"] }))));
        assert!(is_plain(&with("anyOf", json!([{ "type": "string" }, true]))));
        // A list of schemas meant one for each item once, and is an error now.
        assert!(!is_plain(&with("items", json!([{ "type": "string" }]))));
        assert!(!is_plain(&with("prefixItems", json!([{ "type": "string" }]))));
        assert!(!is_plain(&with("$ref", json!("#/$defs/a"))));
        assert!(!is_plain(&json!({ "$schema": "https://json-schema.org/draft/2020-12/schema" })));
    }

    #[test]
    fn builtin_schemas_are_plain() {
        for tool in Registry::builtin(&Options::default()).iter() {
            let schema = tool.spec().input_schema.to_value();
            assert!(is_plain(&schema), "{}: {schema}", tool.spec().name);
        }
    }
}

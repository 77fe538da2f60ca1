//! System prompt, agents and output schema of a session.

use std::{collections::BTreeMap, fs, io::ErrorKind, path::Path};

use bowline_engine::SystemPrompt;
use bowline_protocol::AgentDefinition;
use serde_json::Value;

use super::SetupError;
use crate::args::ModelArgs;

/// The system prompt.
pub(super) fn system_prompt(args: &ModelArgs, cwd: &Path) -> Result<SystemPrompt, SetupError> {
    let read = |what: &str, file: &Path| {
        let path = cwd.join(file);
        fs::read_to_string(&path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => format!("{what} file not found: {}", path.display()),
            _ => format!("{what} file {}: {error}", path.display()),
        })
    };
    let whole = match &args.system_prompt_file {
        Some(file) => Some(read("System prompt", file)?),
        None => args.system_prompt.clone(),
    };
    let append = match &args.append_system_prompt_file {
        Some(file) => Some(read("Append system prompt", file)?),
        None => args.append_system_prompt.clone(),
    };
    let append = append.filter(|text| !text.is_empty());
    Ok(match whole {
        None => SystemPrompt::Default { append },
        Some(text) => {
            let parts = [Some(text).filter(|text| !text.is_empty()), append];
            SystemPrompt::Custom(parts.into_iter().flatten().collect())
        }
    })
}

/// The agents of `--agents`.
pub(super) fn agents(
    argument: Option<&str>,
    cwd: &Path,
) -> Result<BTreeMap<String, AgentDefinition>, SetupError> {
    let Some(argument) = argument else { return Ok(BTreeMap::new()) };
    let text = if argument.trim_start().starts_with('{') {
        argument.to_owned()
    } else {
        let path = cwd.join(argument);
        fs::read_to_string(&path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => format!(
                "--agents file not found: {} (a value that is not a JSON object is read as a file \
                 path)",
                path.display()
            ),
            _ => format!("--agents file {}: {error}", path.display()),
        })?
    };
    serde_json::from_str(&text)
        .map_err(|error| format!("Invalid --agents configuration:\n{error}").into())
}

/// The shape that the result must have.
pub(super) fn json_schema(argument: Option<&str>) -> Result<Option<Value>, SetupError> {
    let Some(text) = argument else { return Ok(None) };
    match serde_json::from_str(text) {
        Ok(schema @ Value::Object(_)) => Ok(Some(schema)),
        Ok(_) => Err("--json-schema must be a JSON object".into()),
        Err(error) => Err(format!("--json-schema is not valid JSON: {error}").into()),
    }
}

//! `/config`: changes settings of the running session and saves them.

use bowline_protocol::PermissionMode;
use serde_json::{Map, Value, json};

use super::output_style;
use crate::{
    context::output_style_names, live_settings, model_switch, session_context::SessionContext,
    settings::Source,
};

/// A setting that can be changed.
struct Setting {
    /// The key that the user types.
    key: &'static str,
    /// The label that the user sees.
    label: &'static str,
    /// Its path in the settings file.
    path: &'static [&'static str],
    values: Values,
}

/// The values that a setting accepts.
#[derive(Clone, Copy)]
enum Values {
    Truth,
    Text,
    Model,
    Style,
    Mode,
}

/// The modes that a session may start in without further flags.
const MODES: [PermissionMode; 4] = [
    PermissionMode::Default,
    PermissionMode::Plan,
    PermissionMode::AcceptEdits,
    PermissionMode::DontAsk,
];

/// All settings, sorted by key.
const SETTINGS: &[Setting] = &[
    setting("autoCompact", "Auto-compact", &["autoCompactEnabled"], Values::Truth),
    setting("language", "Language", &["language"], Values::Text),
    setting("model", "Model", &["model"], Values::Model),
    setting("outputStyle", "Output style", &["outputStyle"], Values::Style),
    setting(
        "permissionMode",
        "Default permission mode",
        &["permissions", "defaultMode"],
        Values::Mode,
    ),
    setting("thinking", "Thinking mode", &["alwaysThinkingEnabled"], Values::Truth),
];

const fn setting(
    key: &'static str,
    label: &'static str,
    path: &'static [&'static str],
    values: Values,
) -> Setting {
    Setting { key, label, path, values }
}

/// Applies the assignments in order; returns one line about each.
pub(super) async fn run(session: &SessionContext, args: &str) -> String {
    if args.is_empty() || args == "--help" || args == "help" {
        return usage(session);
    }
    let assignments = match assignments(args) {
        Ok(assignments) => assignments,
        Err(word) => return format!("\"{word}\" is no key=value. /config alone lists the keys."),
    };
    let mut results = Vec::new();
    for (key, value) in assignments {
        results.push(match SETTINGS.iter().find(|setting| setting.key == key) {
            Some(setting) => match change(session, setting, &value).await {
                Ok(()) => format!("Set {} to {value}", setting.label),
                Err(why) => format!("{} stays as it is: {why}", setting.label),
            },
            None => format!("There is no setting {key} here. /config alone lists the keys."),
        });
    }
    results.join("\n")
}

fn usage(session: &SessionContext) -> String {
    let line = |setting: &Setting| {
        let values = choices(session, setting.values);
        let values = if values.is_empty() { "<value>".to_owned() } else { values.join("|") };
        format!("  {}={values}", setting.key)
    };
    let head = "Usage: /config key=value [key=value ...]".to_owned();
    [head].into_iter().chain(SETTINGS.iter().map(line)).collect::<Vec<_>>().join("\n")
}

/// The values to choose from; empty if there are too many to list.
fn choices(session: &SessionContext, values: Values) -> Vec<String> {
    match values {
        Values::Truth => vec!["true".to_owned(), "false".to_owned()],
        Values::Text | Values::Model => Vec::new(),
        Values::Style => output_style_names(session),
        Values::Mode => MODES.iter().map(ToString::to_string).collect(),
    }
}

/// The keys and values of a command. Words after a value belong to it, up to the next key.
fn assignments(args: &str) -> Result<Vec<(String, String)>, &str> {
    let mut found: Vec<(String, String)> = Vec::new();
    for word in args.split_whitespace() {
        match (word.split_once('='), found.last_mut()) {
            (Some((key, value)), _) => found.push((key.to_owned(), value.to_owned())),
            (None, Some((_, value))) => {
                value.push(' ');
                value.push_str(word);
            }
            (None, None) => return Err(word),
        }
    }
    for (_, value) in &mut found {
        let bare = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
        if let Some(bare) = bare {
            *value = bare.to_owned();
        }
    }
    Ok(found)
}

/// Changes one setting, in its file and in the session.
async fn change(session: &SessionContext, setting: &Setting, value: &str) -> Result<(), String> {
    let choices = choices(session, setting.values);
    let listed = || format!("it is one of {}", choices.join(", "));
    let kept = match setting.values {
        Values::Truth => json!(value.parse::<bool>().map_err(|_| listed())?),
        Values::Mode => json!(choices.iter().find(|mode| *mode == value).ok_or_else(listed)?),
        Values::Text | Values::Model if value.is_empty() => return Err("it has no value".into()),
        Values::Text => json!(value),
        Values::Model => {
            session.models.connect(value).map_err(|error| error.to_string())?;
            let switched = model_switch::switch(session, Some(value), "command").await;
            switched.map_err(|error| error.to_string())?;
            json!(value)
        }
        Values::Style => {
            let style = output_style::named(&choices, value).ok_or_else(listed)?;
            return output_style::choose(session, style).map_err(|error| error.to_string());
        }
    };
    let file = session.config.places.user_file();
    let written =
        live_settings::edit(session, Source::User, file, |file| put(file, setting.path, kept));
    written.map_err(|error| error.to_string())
}

/// Sets the value at a path; replaces values on the way that are not objects.
fn put(object: &mut Map<String, Value>, path: &[&str], value: Value) {
    match path {
        [] => {}
        [key] => drop(object.insert((*key).to_owned(), value)),
        [key, rest @ ..] => {
            let inner = object.entry(*key).or_insert_with(|| json!({}));
            if !inner.is_object() {
                *inner = json!({});
            }
            if let Value::Object(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_after_a_value_belong_to_it() {
        let read = |args| {
            let found = assignments(args)?;
            Ok::<_, &str>(found.iter().map(|(key, value)| format!("{key}:{value}")).collect())
        };
        let found: Vec<String> = read("a=1 language=High German b=").unwrap();
        assert_eq!(found, ["a:1", "language:High German", "b:"]);
        let found: Vec<String> = read("language=\"High German\" x=a=b").unwrap();
        assert_eq!(found, ["language:High German", "x:a=b"]);
        assert_eq!(read("word a=1"), Err("word"));
    }

    #[test]
    fn value_on_the_path_is_replaced() {
        let mut file = Map::from_iter([("permissions".to_owned(), json!(7))]);
        put(&mut file, &["permissions", "defaultMode"], json!("plan"));
        put(&mut file, &["model"], json!("m"));
        let expected = json!({"permissions": {"defaultMode": "plan"}, "model": "m"});
        assert_eq!(Value::Object(file), expected);
    }
}

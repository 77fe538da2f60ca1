//! `/config`: settings that a user changes while a session runs, and keeps.

use bowline_protocol::PermissionMode;
use serde_json::{Map, Value, json};

use super::output_style;
use crate::{
    context::output_style_names, live_settings, model_switch, session_context::SessionContext,
    settings::Source,
};

/// A setting that can be changed.
struct Setting {
    /// What the user types.
    key: &'static str,
    /// What the user reads.
    label: &'static str,
    /// What the settings file calls it.
    path: &'static [&'static str],
    values: Values,
}

/// What a setting can be.
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

/// All of them, in the order of their names.
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

/// Makes the changes that the user names, one after the other, and says what came of each.
pub(super) async fn run(session: &SessionContext, args: &str) -> String {
    if args.is_empty() || args == "--help" || args == "help" {
        return usage(session);
    }
    let assignments = match assignments(args) {
        Ok(assignments) => assignments,
        Err(word) => return format!("\"{word}\" is no key=value. /config alone lists the keys."),
    };
    let mut told = Vec::new();
    for (key, value) in assignments {
        told.push(match SETTINGS.iter().find(|setting| setting.key == key) {
            Some(setting) => match change(session, setting, &value).await {
                Ok(()) => format!("Set {} to {value}", setting.label),
                Err(why) => format!("{} stays as it is: {why}", setting.label),
            },
            None => format!("There is no setting {key} here. /config alone lists the keys."),
        });
    }
    told.join("\n")
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

/// The values among which a user chooses; none if there are too many to list.
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

/// Changes one setting, in its file and here.
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

/// Puts a value at the end of a path, whatever stood in its way.
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

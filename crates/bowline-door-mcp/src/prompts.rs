//! Commands and skills that people wrote, as MCP's prompts.

use bowline_engine::ExpandedCommand;
use bowline_protocol::SlashCommand;
use rmcp::{
    ErrorData,
    model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role},
};
use serde_json::Value;

/// What a command takes that does not say more about it.
const ARGUMENTS: &str = "arguments";

/// A command as a prompt.
pub(crate) fn prompt(command: &SlashCommand) -> Prompt {
    let arguments = match Arguments::of(command) {
        Arguments::Whole => {
            let argument = PromptArgument::new(ARGUMENTS).with_required(false);
            vec![match command.argument_hint.is_empty() {
                true => argument,
                false => argument.with_description(&command.argument_hint),
            }]
        }
        Arguments::SettingsPaths(places) => {
            let argument =
                |place: Place| PromptArgument::new(place.name).with_required(place.required);
            places.into_iter().map(argument).collect()
        }
    };
    Prompt::new(&command.name, Some(&command.description), Some(arguments))
}

/// What would be typed behind the command's name.
pub(crate) fn typed(command: &SlashCommand, mut given: JsonObject) -> Result<String, ErrorData> {
    let wrong = |why: String| ErrorData::invalid_params(why, None);
    let mut take = |name: &str| match given.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(wrong(format!("{name} is not a text"))),
    };
    let typed = match Arguments::of(command) {
        Arguments::Whole => take(ARGUMENTS)?.unwrap_or_default(),
        Arguments::SettingsPaths(places) => {
            let mut words = Vec::new();
            for Place { name, required } in places {
                let word = take(&name)?;
                if required && word.is_none() {
                    return Err(wrong(format!("{name} is missing")));
                }
                words.push(quoted(&word.unwrap_or_default()).map_err(wrong)?);
            }
            while words.last().is_some_and(|word| word == "\"\"") {
                words.pop();
            }
            words.join(" ")
        }
    };
    match given.keys().next() {
        Some(name) => Err(wrong(format!("/{} takes no {name}", command.name))),
        None => Ok(typed),
    }
}

/// What a command came to, as messages.
pub(crate) fn messages(command: &SlashCommand, expanded: ExpandedCommand) -> GetPromptResult {
    let text = PromptMessage::new_text(Role::User, expanded.text);
    let files = expanded.files.into_iter().map(|file| {
        let uri = format!("file://{}", file.path.display());
        let kind = Some("text/plain".to_owned());
        PromptMessage::new_resource(Role::User, uri, kind, Some(file.text), None, None, None)
    });
    GetPromptResult::new([text].into_iter().chain(files).collect())
        .with_description(&command.description)
}

/// What a command takes.
#[derive(Debug, PartialEq)]
enum Arguments {
    /// Whatever is typed.
    Whole,
    /// Words in their places.
    SettingsPaths(Vec<Place>),
}

#[derive(Debug, PartialEq)]
struct Place {
    name: String,
    required: bool,
}

impl Arguments {
    /// As its hint says, if that is a list such as `<branch> [message]`.
    fn of(command: &SlashCommand) -> Self {
        let words = command.argument_hint.split_whitespace();
        let place = |word: &str| {
            let required = word.strip_prefix('<').and_then(|word| word.strip_suffix('>'));
            let optional = word.strip_prefix('[').and_then(|word| word.strip_suffix(']'));
            let name = required.or(optional).filter(|name| {
                let fits = |char: char| char.is_alphanumeric() || matches!(char, '_' | '-');
                !name.is_empty() && name.chars().all(fits)
            })?;
            Some(Place { name: name.to_owned(), required: required.is_some() })
        };
        match words.map(place).collect::<Option<Vec<_>>>() {
            Some(places) if !places.is_empty() => Self::SettingsPaths(places),
            _ => Self::Whole,
        }
    }
}

/// A text as one word.
fn quoted(text: &str) -> Result<String, String> {
    let is_plain = |char: char| !char.is_whitespace() && char != '"' && char != '\'';
    match (text.contains('"'), text.contains('\'')) {
        (true, true) => Err("a text with both kinds of quotes cannot be an argument".to_owned()),
        (true, false) => Ok(format!("'{text}'")),
        (false, _) if !text.is_empty() && text.chars().all(is_plain) => Ok(text.to_owned()),
        (false, _) => Ok(format!("\"{text}\"")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn command(hint: &str) -> SlashCommand {
        SlashCommand {
            name: "deploy".to_owned(),
            argument_hint: hint.to_owned(),
            ..SlashCommand::default()
        }
    }

    /// What is typed for these arguments, or what is wrong with them.
    fn typed(hint: &str, given: Value) -> String {
        let Value::Object(given) = given else { panic!("arguments are an object") };
        match super::typed(&command(hint), given) {
            Ok(typed) => typed,
            Err(error) => format!("error: {}", error.message),
        }
    }

    #[test]
    fn arguments_are_typed_in_their_places() {
        let cases = [
            ("", json!({}), ""),
            ("", json!({"arguments": "any words, \"quoted\" or 'not'"}), {
                "any words, \"quoted\" or 'not'"
            }),
            ("what to deploy", json!({"arguments": "all of it"}), "all of it"),
            ("<where> [how]", json!({"where": "here", "how": "with care"}), "here \"with care\""),
            ("<where> [how]", json!({"how": "now", "where": "the \"old\" one"}), {
                "'the \"old\" one' now"
            }),
            ("[where] [how]", json!({"how": "now"}), "\"\" now"),
            ("[where] [how]", json!({"where": "here"}), "here"),
            ("<where>", json!({}), "error: where is missing"),
            ("<where>", json!({"where": 7}), "error: where is not a text"),
            ("<where>", json!({"where": "x", "when": "y"}), "error: /deploy takes no when"),
            ("<where>", json!({"where": "'\""}), {
                "error: a text with both kinds of quotes cannot be an argument"
            }),
        ];
        for (hint, given, expected) in cases {
            assert_eq!(typed(hint, given), expected, "{hint}");
        }
    }

    #[test]
    fn a_hint_that_is_a_list_names_the_arguments() {
        let named = |hint: &str| -> Vec<(String, Option<bool>)> {
            let arguments = prompt(&command(hint)).arguments.unwrap();
            arguments.into_iter().map(|it| (it.name, it.required)).collect()
        };
        let is = |name: &str, required| (name.to_owned(), Some(required));
        assert_eq!(named("<branch> [message]"), [is("branch", true), is("message", false)]);
        for hint in ["", "a branch", "[a | b]", "<branch> and more"] {
            assert_eq!(named(hint), [is("arguments", false)], "{hint}");
        }
    }
}

//! Errors in a command line, worded as users of the official CLI expect.

use std::ffi::OsString;

use clap::{
    CommandFactory,
    error::{ContextKind, ContextValue, ErrorKind},
};

use super::{Args, unsupported};

/// An invalid command line, or one that requests help.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum UsageError {
    /// The help text that was requested.
    Help(String),
    /// The command line is invalid.
    Bad(String),
}

impl UsageError {
    /// Describes the error in `words`.
    pub(super) fn of(error: &clap::Error, words: &[OsString]) -> Self {
        match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                Self::Help(error.render().to_string())
            }
            ErrorKind::UnknownArgument => Self::Bad(unknown_option(error, words)),
            ErrorKind::TooManyValues => Self::Bad(value_of_switch(error)),
            _ if text(error, ContextKind::InvalidSubcommand).is_some() => {
                let word = text(error, ContextKind::InvalidSubcommand).unwrap_or_default();
                let meant = text(error, ContextKind::SuggestedSubcommand);
                // A second word after the prompt looks like a command as well.
                Self::Bad(match is_command(words) {
                    true => unknown_command(&word, meant.as_deref()),
                    false => unexpected(&word),
                })
            }
            ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
                let is_empty = |word: &OsString| {
                    word.is_empty() || word.to_str().is_some_and(|word| word.ends_with('='))
                };
                Self::Bad(bad_value(error, words.iter().any(is_empty)))
            }
            _ => {
                let text = error.render().to_string();
                let first = text.split("\n\n").next().unwrap_or(&text);
                Self::Bad(format!("{}\n\nFor more, try '--help'.", first.trim_end()))
            }
        }
    }
}

/// A switch that is given a value.
fn value_of_switch(error: &clap::Error) -> String {
    let switch = text(error, ContextKind::InvalidArg).unwrap_or_default();
    let value = text(error, ContextKind::InvalidValue).unwrap_or_default();
    format!("error: unknown option '{switch}={value}'\n(Did you mean {switch}?)")
}

fn unknown_option(error: &clap::Error, words: &[OsString]) -> String {
    let unknown = text(error, ContextKind::InvalidArg).unwrap_or_default();
    let unknown = unknown.split('=').next().unwrap_or_default();
    let suggested = text(error, ContextKind::SuggestedArg);
    let suggested = suggested.map(|flag| format!("\n(Did you mean {flag}?)"));
    let suggested = match unsupported::refusal(unknown) {
        Some(why) => format!("\n({why})"),
        None => suggested.unwrap_or_default(),
    };
    match unknown.starts_with('-') {
        true => format!("error: unknown option '{unknown}'{suggested}"),
        false if is_command(words) => format!("error: unexpected argument '{unknown}'"),
        false => unexpected(unknown),
    }
}

/// Whether a command line begins with a command, and not with a flag or a prompt.
fn is_command(words: &[OsString]) -> bool {
    let first = words.get(1).and_then(|word| word.to_str());
    first.is_some_and(|word| Args::command().find_subcommand(word).is_some())
}

/// A command that does not exist, and the one that may be meant.
pub(super) fn unknown_command(word: &str, meant: Option<&str>) -> String {
    let meant = meant.map(|meant| format!("\n(Did you mean {meant}?)")).unwrap_or_default();
    format!("error: unknown command '{word}'{meant}")
}

fn unexpected(word: &str) -> String {
    format!("error: unexpected argument '{word}'; a prompt of several words needs quotes")
}

/// An invalid value, or a missing one. clap reports both alike, so `empty_given` tells them apart.
fn bad_value(error: &clap::Error, empty_given: bool) -> String {
    let option = text(error, ContextKind::InvalidArg).unwrap_or_default();
    let option = option.replace(">...", "...>");
    let value = text(error, ContextKind::InvalidValue).unwrap_or_default();
    if value.is_empty() && error.kind() == ErrorKind::InvalidValue && !empty_given {
        return format!("error: option '{option}' argument missing");
    }
    let allowed = match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(values)) => values.join(", "),
        _ => String::new(),
    };
    let hint = if allowed.is_empty() {
        let why = std::error::Error::source(error).map(ToString::to_string);
        why.map(|why| format!(" {why}")).unwrap_or_default()
    } else {
        format!(" Allowed choices are {allowed}.")
    };
    format!("error: option '{option}' argument '{value}' is invalid.{hint}")
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => texts.first().cloned(),
        _ => None,
    }
}

//! `/output-style`: output style of the project.

use serde_json::Value;

use crate::{
    context::output_style_names,
    live_settings,
    session_context::SessionContext,
    settings::{SettingsError, Source},
};

/// Shows the styles, or chooses the one that the user names.
pub(super) fn run(session: &SessionContext, wanted: &str) -> String {
    let styles = output_style_names(session);
    let current = session.output.style();
    if wanted.is_empty() {
        let line = |style: &String| match *style == current {
            true => format!("- {style} (current)"),
            false => format!("- {style}"),
        };
        let lines: Vec<_> = styles.iter().map(line).collect();
        return format!("Output style: {current}\n\nThere are:\n{}", lines.join("\n"));
    }
    match named(&styles, wanted) {
        None => format!("There is no output style {wanted}. There are: {}", styles.join(", ")),
        Some(style) if *style == current => format!("The output style is {style} already."),
        Some(style) => match choose(session, style) {
            Ok(()) => format!("The output style is {style} now."),
            Err(error) => format!("The output style stays as it is: {error}"),
        },
    }
}

/// Finds a style by name, ignoring case.
pub(super) fn named<'a>(styles: &'a [String], wanted: &str) -> Option<&'a String> {
    let same = |style: &&String| style.eq_ignore_ascii_case(wanted);
    styles.iter().find(|style| *style == wanted).or_else(|| styles.iter().find(same))
}

/// Switches the style, for this session and for later ones in this project.
pub(super) fn choose(session: &SessionContext, style: &str) -> Result<(), SettingsError> {
    let path = session.config.places.local_file();
    live_settings::edit(session, Source::Local, path, |file| {
        file.insert("outputStyle".to_owned(), Value::from(style));
    })?;
    // A flag takes precedence over the settings file.
    session.output.set_style(Some(style.to_owned()));
    Ok(())
}

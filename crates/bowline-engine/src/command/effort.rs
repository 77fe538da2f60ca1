//! `/effort`: effort level of the session.

use bowline_protocol::Effort;

use crate::session_context::SessionContext;

/// The argument that leaves the level to the API.
const AUTO: &str = "auto";

/// Sets the level that the user names; returns the text of the result.
pub(super) fn run(session: &SessionContext, wanted: &str) -> String {
    if wanted.is_empty() {
        return format!("Usage: /effort <{}>", levels("|"));
    }
    if wanted == AUTO {
        session.models.set_effort(None);
        return "The model decides about its effort, in this session.".to_owned();
    }
    let Ok(effort) = wanted.parse::<Effort>() else {
        return format!("There is no effort level {wanted}. There are: {}", levels(", "));
    };
    session.models.set_effort(Some(effort));
    match session.models.effort_level() {
        Some(_) => format!("The effort level is {effort} now, in this session."),
        None => format!(
            "The effort level is {effort} now, in this session; {} knows no levels.",
            session.models.name()
        ),
    }
}

fn levels(between: &str) -> String {
    Effort::ALL.map(Effort::as_str).into_iter().chain([AUTO]).collect::<Vec<_>>().join(between)
}

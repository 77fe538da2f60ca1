//! Matching of one rule against one call.

use bowline_protocol::PermissionBehavior;
use serde_json::Value;

use super::{
    call::ProposedCall,
    resolved_access::ResolvedAccess,
    rule::{Rule, Subject},
};

impl Rule {
    /// Whether a rule that restricts (deny, ask) is about this call. It is enough that one part
    /// of the call is what the rule names.
    pub(super) fn restricts(&self, call: &ProposedCall<'_>, access: &ResolvedAccess) -> bool {
        match (&self.subject, access) {
            (Subject::Command(pattern), ResolvedAccess::Command(line)) => line.mentions(pattern),
            (Subject::Read(pattern), ResolvedAccess::Read(locations)) => {
                locations.iter().any(|location| pattern.touches(location))
            }
            // What must not be read must not be changed unseen either.
            (Subject::Read(pattern), ResolvedAccess::Edit(location)) => {
                self.behavior == PermissionBehavior::Deny && pattern.touches(location)
            }
            (Subject::Read(pattern), ResolvedAccess::Command(line)) => line.may_read(pattern),
            (Subject::Edit(pattern), ResolvedAccess::Edit(location)) => pattern.touches(location),
            (Subject::Edit(pattern), ResolvedAccess::Command(line)) => line.changes(pattern),
            _ => self.names(call, access),
        }
    }

    /// Whether an allow rule is about this call as a whole. Rules about commands and files allow
    /// parts of a call and are asked elsewhere.
    pub(super) fn names(&self, call: &ProposedCall<'_>, access: &ResolvedAccess) -> bool {
        match &self.subject {
            Subject::Tool(pattern) => pattern.matches(call.tool),
            Subject::Domain(domain) => match access {
                ResolvedAccess::Fetch(host) => match domain.strip_prefix("*.") {
                    Some(parent) => host
                        .strip_suffix(parent)
                        .is_some_and(|sub| sub.len() > 1 && sub.ends_with('.')),
                    None => host == domain,
                },
                _ => false,
            },
            Subject::Parameter { tool, name, value } => {
                tool.matches(call.tool)
                    && match &call.input[name.as_str()] {
                        Value::Null => false,
                        // A skill may be called like the slash command it is.
                        Value::String(text) if name == "skill" => {
                            value.matches(text.trim_start_matches('/'))
                        }
                        Value::String(text) => value.matches(text),
                        other => value.matches(&other.to_string()),
                    }
            }
            Subject::Command(_) | Subject::Read(_) | Subject::Edit(_) | Subject::Nothing => false,
        }
    }
}

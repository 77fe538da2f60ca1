//! Settings: what they are, and changing them while the session runs.

use std::{collections::BTreeMap, sync::Arc};

use bowline_model::Thinking;
use bowline_protocol::{
    AppliedSettings, ApplyFlagSettings, Effort, Extra, InformationalLevel,
    ListPermissionRulesResponse, Maybe, UpdateSettings,
};
use serde_json::json;

use super::{Answered, ControlError, ControlReply};
use crate::{
    context::style,
    session::Shared,
    settings::{NO_SANDBOX, Settings, Source, Trust},
};

pub(super) fn get_settings(shared: &Arc<Shared>) -> Answered {
    let permissions = shared.settings().known().permissions.clone();
    let blocks = |blocked: Option<bool>| json!(blocked == Some(true));
    let applied = AppliedSettings {
        model: shared.model_name(),
        effort: shared.effort_level().map_or(Maybe::Null, Maybe::Value),
        extra: Extra::from_iter([
            (
                "outsideFileToolReadsBlocked".to_owned(),
                blocks(permissions.block_reads_outside_working_directories),
            ),
            (
                "outsideFileToolWritesBlocked".to_owned(),
                blocks(permissions.block_writes_outside_working_directories),
            ),
        ]),
    };
    Ok(ControlReply::payload(&shared.settings().payload(applied)))
}

/// All of it is checked before any of it counts.
pub(super) async fn apply_flag_settings(
    shared: &Arc<Shared>,
    request: ApplyFlagSettings,
) -> Answered {
    let before = shared.settings().clone();
    let applied = shared.settings().apply_flag_settings(&request.settings);
    applied.map_err(|error| ControlError::new(error.to_string()))?;
    shared.follow_source(Source::Flag, &before);
    shared.follow_settings(&before);
    let wishes = shared.settings().sandbox_wish().is_some();
    if wishes && before.sandbox_wish().is_none() {
        shared.inform(InformationalLevel::Warning, NO_SANDBOX.to_owned()).await;
    }
    Ok(ControlReply::ack())
}

pub(super) fn update_settings(shared: &Arc<Shared>, request: UpdateSettings) -> Answered {
    let before = shared.settings().clone();
    let places = &shared.config.places;
    let written = shared.settings().update(places, &request);
    written.map_err(|error| ControlError::new(error.to_string()))?;
    for file in [places.user_file(), places.local_file()] {
        shared.note_settings_file(&file);
    }
    shared.follow_settings(&before);
    Ok(ControlReply::payload(&json!({})))
}

pub(super) fn get_hooks_listing(shared: &Arc<Shared>) -> Answered {
    Ok(ControlReply::payload(&shared.hooks.listing()))
}

pub(super) fn list_permission_rules(shared: &Arc<Shared>) -> Answered {
    let state = shared.policy().list();
    let unsent = ListPermissionRulesResponse::default();
    Ok(ControlReply::payload(&ListPermissionRulesResponse { state, ..unsent }))
}

impl Shared {
    /// Takes over what one source of settings says now: hooks, rules and variables. The model and
    /// the like stay as they are, whatever other sessions write down.
    pub(crate) fn follow_source(self: &Arc<Self>, source: Source, before: &Settings) {
        let now = self.settings().clone();
        self.hooks.set_settings(&now);
        self.watch();
        now.renew_rules(&mut self.policy(), source, &self.config.places);
        self.workspace.set_added_roots(self.added_directories());
        // A rule may take a tool away altogether.
        self.live().tools_changed = true;
        let trust = Trust::read(&self.config.places);
        let changed = changed_variables(&variables(before, trust), &variables(&now, trust));
        self.workspace.update_environment(changed);
    }

    /// Takes over what has changed in the settings since `before`, and nothing else: flags and requests
    /// may have decided the rest.
    fn follow_settings(&self, before: &Settings) {
        let (before, after) = (before.known(), self.settings().known().clone());
        let mut live = self.live();
        if before.model != after.model {
            live.model = after.model.clone().unwrap_or_else(|| self.config.default_model.clone());
        }
        if before.effort_level != after.effort_level {
            let wanted = after.effort_level.as_deref();
            live.effort = wanted.and_then(|level| level.parse::<Effort>().ok());
        }
        if before.output_style != after.output_style {
            live.output_style =
                after.output_style.clone().unwrap_or_else(|| style::DEFAULT.to_owned());
        }
        let budget = (after.always_thinking_enabled, after.max_thinking_tokens);
        if (before.always_thinking_enabled, before.max_thinking_tokens) != budget {
            live.thinking = match budget {
                (Some(false), _) | (_, Some(0)) => Some(Thinking::Disabled),
                (_, Some(budget_tokens)) => {
                    Some(Thinking::Enabled { budget_tokens, display: None })
                }
                (_, None) => None,
            };
        }
    }
}

/// The variables that settings set for commands.
fn variables(settings: &Settings, trust: Trust) -> BTreeMap<String, String> {
    let set = settings.variables(trust);
    set.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The variables to set, and those to take away.
fn changed_variables(
    before: &BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
) -> Vec<(String, Option<String>)> {
    let gone = before.keys().filter(|name| !after.contains_key(*name));
    let gone = gone.map(|name| (name.clone(), None));
    let set = after.iter().filter(|(name, value)| before.get(*name) != Some(value));
    set.map(|(name, value)| (name.clone(), Some(value.clone()))).chain(gone).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_come_change_and_go() {
        let of = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let changed = changed_variables(
            &of(&[("SAME", "1"), ("OTHER", "1"), ("GONE", "1")]),
            &of(&[("SAME", "1"), ("OTHER", "2"), ("NEW", "3")]),
        );
        let shown: Vec<_> = changed.iter().map(|(n, v)| (n.as_str(), v.as_deref())).collect();
        assert_eq!(shown, [("NEW", Some("3")), ("OTHER", Some("2")), ("GONE", None)]);
    }
}

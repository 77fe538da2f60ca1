//! Settings: what they are, and changing them while the session runs.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use bowline_protocol::{
    AppliedSettings, ApplyFlagSettings, Effort, Extra, InformationalLevel,
    ListPermissionRulesResponse, Maybe, UpdateSettings,
};
use serde_json::{Map, Value, json};

use super::{Answered, ControlError, ControlReply};
use crate::{
    context::style,
    session::Shared,
    settings::{NO_SANDBOX, Settings, SettingsError, Source},
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

/// What is kept counts for sessions to come; of it, this one takes over the style alone.
pub(super) fn update_settings(shared: &Arc<Shared>, request: UpdateSettings) -> Answered {
    let before = shared.settings().known().output_style.clone();
    let places = &shared.config.places;
    let written = shared.settings().update(places, &request);
    written.map_err(|error| ControlError::new(error.to_string()))?;
    for file in [places.user_file(), places.local_file()] {
        shared.note_settings_file(&file);
    }
    shared.follow_style(before.as_deref());
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
        let changed = changed_variables(&variables(before), &variables(&now));
        self.workspace.update_environment(changed);
    }

    /// Takes over what has changed in the settings since `before`, and nothing else: flags and requests
    /// may have decided the rest.
    fn follow_settings(&self, before: &Settings) {
        let (thinking, after) = {
            let settings = self.settings();
            (settings.thinking(), settings.known().clone())
        };
        let before = before.known();
        self.follow_style(before.output_style.as_deref());
        let mut live = self.live();
        if before.model != after.model {
            live.model = after.model.clone().unwrap_or_else(|| self.config.default_model.clone());
        }
        if before.effort_level != after.effort_level {
            let wanted = after.effort_level.as_deref();
            live.effort = wanted.and_then(|level| level.parse::<Effort>().ok());
        }
        let budget = (after.always_thinking_enabled, after.max_thinking_tokens);
        if (before.always_thinking_enabled, before.max_thinking_tokens) != budget {
            live.thinking = thinking;
        }
    }

    /// Answers in the style of the settings, if that is not the one of `before`.
    fn follow_style(&self, before: Option<&str>) {
        let style = self.settings().known().output_style.clone();
        if style.as_deref() != before {
            self.live().output_style = style.unwrap_or_else(|| style::DEFAULT.to_owned());
        }
    }

    /// Writes to a settings file, and takes over what that changes.
    pub(crate) fn edit_settings(
        &self,
        source: Source,
        path: PathBuf,
        change: impl FnOnce(&mut Map<String, Value>),
    ) -> Result<(), SettingsError> {
        let before = self.settings().clone();
        self.settings().edit(source, path.clone(), change)?;
        self.note_settings_file(&path);
        self.follow_settings(&before);
        Ok(())
    }
}

/// The variables that settings set for commands.
fn variables(settings: &Settings) -> BTreeMap<String, String> {
    let set = settings.variables();
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

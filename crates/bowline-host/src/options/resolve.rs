//! The settings that a session would have, without a session.

use bowline_engine::settings::{Settings, SettingsPaths, SettingsRequest, SourceSet, Trust};

use super::{AgentOrigin, Options, SettingSource, arguments};
use crate::error::Error;

impl Options {
    /// The settings that an agent with these options would have, read as `bowline` reads them and
    /// without starting it: `resolveSettings` of the TypeScript SDK.
    ///
    /// These are the values of files and options, not those in effect: what of a project's files applies in
    /// a session depends on whether the folder is trusted there.
    ///
    /// ```
    /// use bowline_host::{Embedded, Options, Settings};
    /// use serde_json::json;
    ///
    /// # fn main() -> Result<(), bowline_host::Error> {
    /// let mut options = Options::default().embedded(Embedded::script(std::env::temp_dir()));
    /// options.settings.additional = Some(Settings::Inline(json!({"model": "opus"})));
    /// let settings = options.resolve_settings()?;
    /// let model = settings.get("model").expect("it was set");
    /// assert_eq!((model.value, model.source.as_str()), (&json!("opus"), "flagSettings"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn resolve_settings(&self) -> Result<Settings, Error> {
        let mut places = SettingsPaths::new(self.config_folder(), self.directory()?);
        if let Some(root) = &self.settings.project_config_root {
            places.project = places.project.join(root);
        }
        let all = match self.transport.origin() == AgentOrigin::InProcess {
            true => SourceSet::NONE,
            false => SourceSet::ALL,
        };
        self.load_settings(&places, self.sources().unwrap_or(all), Trust::Trusted)
    }

    /// Reads the settings at these paths.
    pub(crate) fn load_settings(
        &self,
        places: &SettingsPaths,
        sources: SourceSet,
        trust: Trust,
    ) -> Result<Settings, Error> {
        let flag = arguments::settings(self)?.map(|text| text.to_string_lossy().into_owned());
        let managed = self.settings.managed_settings.as_ref().map(ToString::to_string);
        let request = SettingsRequest { sources, flag, managed, trust };
        Settings::load(places, &request).map_err(|error| Error::Connection {
            what: "reading the settings".to_owned(),
            source: Some(error.into()),
        })
    }

    /// Sources of settings that apply, if these options name them.
    pub(crate) fn sources(&self) -> Option<SourceSet> {
        match (&self.settings.setting_sources, &self.settings.skills) {
            (Some(named), _) => Some(SourceSet {
                user: named.contains(&SettingSource::User),
                project: named.contains(&SettingSource::Project),
                local: named.contains(&SettingSource::Local),
            }),
            // Skills are found through settings.
            (None, Some(_)) => Some(SourceSet { user: true, project: true, local: false }),
            (None, None) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;
    use crate::Settings as Said;

    #[test]
    fn files_count_for_a_process_and_have_to_be_asked_for_in_this_one() {
        let folder = tempfile::tempdir().unwrap();
        let (home, project) = (folder.path().join("home"), folder.path().join("project"));
        let files = [(home.clone(), "low"), (project.join(".claude"), "high")];
        for (folder, effort) in files {
            fs::create_dir_all(&folder).unwrap();
            let settings = json!({"effortLevel": effort, "model": effort});
            fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
        }
        let model = |options: &Options| {
            let settings = options.resolve_settings().unwrap();
            let traced = settings.get("model");
            traced.map(|it| (it.value.as_str().unwrap().to_owned(), it.source.as_str()))
        };
        let mut options = Options::default().cwd(&project);
        options
            .process
            .env
            .insert("BOWLINE_CONFIG_DIR".to_owned(), Some(home.display().to_string()));
        assert_eq!(model(&options), Some(("high".to_owned(), "projectSettings")));
        options.settings.setting_sources = Some(vec![SettingSource::User]);
        assert_eq!(model(&options), Some(("low".to_owned(), "userSettings")));
        options.settings.additional = Some(Said::Inline(json!({"model": "mine"})));
        assert_eq!(model(&options), Some(("mine".to_owned(), "flagSettings")));

        let embedded = crate::Embedded::script(&project).saved_in(&home);
        let mut options = Options::default().embedded(embedded);
        assert_eq!(model(&options), None, "only the named sources are read");
        options.settings.setting_sources = Some(vec![SettingSource::Project]);
        assert_eq!(model(&options), Some(("high".to_owned(), "projectSettings")));
    }
}

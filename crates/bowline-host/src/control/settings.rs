//! Settings, plugins and skills while an agent works.

use bowline_protocol::{
    ApplyFlagSettings, GetSettings, GetSettingsResponse, RawJson, ReloadOutputStyles,
    ReloadOutputStylesResponse, ReloadPlugins, ReloadPluginsResponse, ReloadSkills,
    ReloadSkillsResponse, UpdateSettings,
};
use serde_json::Value;

use crate::{Client, Error, SettingSource};

impl Client {
    /// Uses these settings above those of files from now on. `null` takes a key back.
    pub async fn apply_flag_settings(&self, settings: Value) -> Result<(), Error> {
        let settings = RawJson::from(settings);
        self.request(ApplyFlagSettings { settings, ..ApplyFlagSettings::default() })
            .await
            .map(|_| ())
    }

    /// Writes into a settings file: that of the user, or that of the user in the project.
    pub async fn update_settings(&self, file: SettingSource, settings: Value) -> Result<(), Error> {
        let source = format!("{}Settings", file.as_str());
        let settings = RawJson::from(settings);
        self.request(UpdateSettings { source, settings, ..UpdateSettings::default() })
            .await
            .map(|_| ())
    }

    /// The settings, and where they come from.
    pub async fn settings(&self) -> Result<GetSettingsResponse, Error> {
        self.request(GetSettings::default()).await
    }

    /// Looks for plugins again.
    pub async fn reload_plugins(&self) -> Result<ReloadPluginsResponse, Error> {
        self.request(ReloadPlugins::default()).await
    }

    /// Looks for plugins again, with options: plugins to add, and when to hold back.
    ///
    /// ```no_run
    /// # async fn run(client: bowline_host::Client) -> Result<(), bowline_host::Error> {
    /// use bowline_host::protocol::ReloadPlugins;
    ///
    /// let mut how = ReloadPlugins::default();
    /// how.refuse_if_busy = Some(true);
    /// let there_are = client.reload_plugins_with(how).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn reload_plugins_with(
        &self,
        how: ReloadPlugins,
    ) -> Result<ReloadPluginsResponse, Error> {
        self.request(how).await
    }

    /// Looks for skills again.
    pub async fn reload_skills(&self) -> Result<ReloadSkillsResponse, Error> {
        self.request(ReloadSkills::default()).await
    }

    /// Looks for output styles again.
    pub async fn reload_output_styles(&self) -> Result<ReloadOutputStylesResponse, Error> {
        self.request(ReloadOutputStyles::default()).await
    }
}

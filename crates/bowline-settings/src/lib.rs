//! Settings: files and flags in layers, merged into one value that knows where each part came from.
//!
//! Nothing here looks at the environment: the folders come from [`SettingsPaths`].

mod change;
mod edit;
mod flag;
mod harmless_variables;
mod known;
mod layer;
mod load;
mod merge;
mod model;
mod paths;
mod payload;
mod permissions;
pub mod plugin;
mod policy;
mod problem;
mod sandbox;
mod servers;
mod source;
mod source_set;
mod trust;
mod untrusted_files;
mod untrusted_settings;
mod variables;

pub use edit::edit_file;
pub use known::{BowlineSettings, KnownSettings, PermissionSettings};
pub use layer::Layer;
pub use load::{SettingsRequest, files};
pub use merge::{Settings, Traced};
pub use paths::SettingsPaths;
pub use permissions::{LayerPermissions, PermissionLayers};
pub use policy::expand_home;
pub use problem::{Position, Problem, SettingsError};
pub use sandbox::{NO_SANDBOX, SandboxSetting};
pub use servers::{project_servers, servers_left_out};
pub use source::Source;
pub use source_set::SourceSet;
pub use trust::{
    HOOKS_SKIPPED, Part, ProjectTrust, SkippedHook, SkippedParts, StarterConsent, Trust,
    TrustError, TrustReason, TrustRecords, TrustedFolder,
};
pub use untrusted_settings::{is_harmless_model, shown, skipped_hooks};

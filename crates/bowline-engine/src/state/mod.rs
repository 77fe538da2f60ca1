//! Parts of a session's state. Each owns its lock and its methods, and does not depend on the others' callers.

mod background;
mod current_prompt;
mod host_profile;
mod main_tools;
mod models;
mod output;
mod pending;
mod permissions;
mod queue;
mod settings;
mod title;
mod turn_control;

pub(crate) use self::{
    background::BackgroundWork,
    current_prompt::CurrentPrompt,
    host_profile::{HostProfile, HostTraits},
    main_tools::MainTools,
    models::ModelSelection,
    output::OutputFormat,
    pending::PendingChanges,
    permissions::Permissions,
    queue::{PromptQueue, Queued},
    settings::{CurrentPlugins, CurrentSettings},
    title::SessionTitle,
    turn_control::TurnControl,
};

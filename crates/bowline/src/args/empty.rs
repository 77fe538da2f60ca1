//! Removal of empty values. Programs pass them for options that are not set, so an empty value means
//! the same as none, except where an empty value has a meaning: a prompt, a list of tools, a list of
//! settings.

use std::{convert::Infallible, path::PathBuf};

use super::RunArgs;

/// Reads a path. An empty one is dropped later.
pub(super) fn path(text: &str) -> Result<PathBuf, Infallible> {
    Ok(PathBuf::from(text))
}

impl RunArgs {
    /// Drops values that are empty.
    pub(super) fn drop_empty(&mut self) {
        let Self { output, model, permissions, session, sources, .. } = self;
        let texts = [
            &mut model.model,
            &mut model.fallback_model,
            &mut model.effort,
            &mut model.agent,
            &mut model.agents,
            &mut permissions.permission_prompt_tool,
            &mut output.json_schema,
            &mut output.workload,
            &mut session.session_id,
            &mut session.resume_session_at,
            &mut session.resume_drops_turn,
            &mut session.rewind_files,
            &mut session.name,
            &mut sources.settings,
            &mut sources.managed_settings,
        ];
        for text in texts {
            text.take_if(|text| text.is_empty());
        }
        let paths = [
            &mut model.system_prompt_file,
            &mut model.append_system_prompt_file,
            &mut output.debug_file,
        ];
        for path in paths {
            path.take_if(|path| path.as_os_str().is_empty());
        }
        sources.mcp_config.retain(|config| !config.is_empty());
        sources.plugin_dir.retain(|path| !path.as_os_str().is_empty());
        sources.plugin_dir_no_mcp.retain(|path| !path.as_os_str().is_empty());
    }
}

//! Tools that are the engine's own business: they start agents, ask people or a model, change the mode.

mod agent;
mod ask_user_question;
mod plan_mode;
mod skill;
mod web_search;

use std::sync::Arc;

use bowline_tools::Tool;

use crate::{agent::Identity, config::PermissionPrompts, session::Shared, toolset::AGENT_TOOL};

/// The engine's own tools for the main agent. Those that ask a person are only there if one is.
pub(crate) fn engine_tools(session: &Arc<Shared>) -> Vec<Arc<dyn Tool>> {
    let mut tools = vec![agent(session, Identity::Main), skill::tool(session)];
    tools.extend(web_search::tool(session));
    if session.config.permission_prompts == PermissionPrompts::Host {
        tools.push(ask_user_question::tool());
        tools.extend(plan_mode::tools(session));
    }
    tools
}

/// Whether a tool is about the conversation it is called in, and means nothing without one.
pub(crate) fn needs_conversation(name: &str) -> bool {
    const ABOUT_THE_CONVERSATION: [&str; 6] = [
        AGENT_TOOL,
        "AskUserQuestion",
        "EnterPlanMode",
        "ExitPlanMode",
        "Skill",
        "StructuredOutput",
    ];
    ABOUT_THE_CONVERSATION.contains(&name)
}

/// The tool that starts agents below `parent`.
pub(crate) fn agent(session: &Arc<Shared>, parent: Identity) -> Arc<dyn Tool> {
    Arc::new(agent::AgentTool::new(session, parent))
}

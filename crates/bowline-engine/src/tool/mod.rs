//! Tools of the engine itself: skills, web search, questions to the user, plan mode.

mod ask_user_question;
mod plan_mode;
mod skill;
mod web_search;

use std::sync::{Arc, Weak};

use bowline_tools::Tool;

use crate::{
    config::PermissionPrompts,
    identity::Identity,
    session_context::SessionContext,
    subagent::agent_tool,
    toolset::{AGENT_TOOL, Toolset},
};

/// Tools that exist only if the host handles permission requests.
const FOR_A_PERSON: [&str; 3] = ["AskUserQuestion", "EnterPlanMode", "ExitPlanMode"];

/// The tools that are disabled in this session.
pub(crate) fn disabled(session: &SessionContext) -> impl Iterator<Item = String> {
    let asks = session.config.permission_prompts == PermissionPrompts::Host;
    FOR_A_PERSON.into_iter().filter(move |_| !asks).map(str::to_owned)
}

/// The engine's own tools for the main agent, as part of `all` that it can call. Those that prompt
/// the user exist only if the host can do so.
pub(crate) fn engine_tools(
    session: &Arc<SessionContext>,
    all: &Weak<Toolset>,
) -> Vec<Arc<dyn Tool>> {
    let mut tools = vec![agent_tool(session, Identity::Main, all), skill::tool(session)];
    tools.extend(web_search::tool(session));
    if session.config.permission_prompts == PermissionPrompts::Host {
        tools.push(ask_user_question::tool());
        tools.extend(plan_mode::tools(session));
    }
    tools
}

/// Whether a tool works only within a conversation.
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

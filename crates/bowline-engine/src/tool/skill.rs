//! `Skill`: returns the text of a skill or a custom command to the model.

use std::sync::{Arc, Weak};

use bowline_protocol::ContentBlock;
use bowline_tools::{
    Access, Tool, ToolCall, ToolFailure, ToolOutput, ToolSpec, Workspace, schema_of,
};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    library::{self, CustomCommand},
    session_context::SessionContext,
};

const NAME: &str = "Skill";
const DESCRIPTION: &str = "Loads a skill: instructions that people have written for a kind of task. \
    Call it before you begin a task that one of the listed skills is for, and follow what it says.";

/// What the model says when it wants a skill.
#[derive(Debug, Deserialize, JsonSchema)]
struct Input {
    /// The name of the skill.
    skill: String,
    /// What to tell it.
    args: Option<String>,
}

struct SkillTool {
    spec: ToolSpec,
    session: Weak<SessionContext>,
}

/// The tool.
pub(super) fn tool(session: &Arc<SessionContext>) -> Arc<dyn Tool> {
    let spec = ToolSpec::new(NAME, DESCRIPTION, schema_of::<Input>()).read_only();
    Arc::new(SkillTool { spec, session: Arc::downgrade(session) })
}

impl SkillTool {
    fn find(&self, name: &str) -> Result<CustomCommand, ToolFailure> {
        let session = self.session.upgrade();
        let session = session.ok_or_else(|| ToolFailure::running("the session has ended"))?;
        let name = name.trim().trim_start_matches('/');
        if name.is_empty() {
            return Err(ToolFailure::input("Invalid skill format: "));
        }
        let found = session.commands.find_custom(name);
        let skill = found.ok_or_else(|| {
            ToolFailure::input(match library::is_builtin(name) {
                true => format!(
                    "{name} is a built-in CLI command, not a skill. Only the user can run /{name}."
                ),
                false => format!("Unknown skill: {name}"),
            })
        })?;
        match skill.is_for_model {
            true => Ok(skill),
            false => Err(ToolFailure::input(format!(
                "Skill {name} cannot be used with Skill tool due to disable-model-invocation"
            ))),
        }
    }

    async fn load(&self, call: ToolCall) -> Result<ToolOutput, ToolFailure> {
        let input: Input = call.input()?;
        let skill = self.find(&input.skill)?;
        let body = library::body(&skill, input.args.as_deref().unwrap_or_default())
            .await
            .map_err(|error| ToolFailure::running(format!("{}: {error}", skill.path.display())))?;
        let name = input.skill.trim().trim_start_matches('/');
        let mut structured = json!({"success": true, "commandName": name});
        if !skill.allowed_tools.is_empty() {
            structured["allowedTools"] = skill.allowed_tools.clone().into();
        }
        let mut output = ToolOutput::text(format!("Launching skill: {name}"));
        output.follow_up = vec![ContentBlock::text(body)];
        Ok(output.structured(structured))
    }
}

impl Tool for SkillTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn access(&self, _: &Value, _: &Workspace) -> Access {
        Access::Nothing
    }

    fn check<'a>(
        &'a self,
        input: &'a Value,
        _: &'a Workspace,
    ) -> BoxFuture<'a, Result<(), ToolFailure>> {
        let name = input.get("skill").and_then(Value::as_str).unwrap_or_default();
        Box::pin(std::future::ready(self.find(name).map(drop)))
    }

    fn run(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>> {
        Box::pin(self.load(call))
    }
}

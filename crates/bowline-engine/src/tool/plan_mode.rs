//! `EnterPlanMode` and `ExitPlanMode`: a plan first, changes once the user approves it.

use std::sync::{Arc, Weak};

use bowline_protocol::{PermissionMode, StatusMessage};
use bowline_tools::{
    Access, Tool, ToolCall, ToolFailure, ToolOutput, ToolSpec, Workspace, schema_of,
};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{context::plan, session_context::SessionContext};

const ENTER: &str = "EnterPlanMode";
const ENTER_DESCRIPTION: &str = "Switches to plan mode, in which you look and think and change \
    nothing. Use it before work that is large or can be done in several ways.";
const EXIT: &str = "ExitPlanMode";
const EXIT_DESCRIPTION: &str = "Shows the user your plan and asks to begin. The plan is what stands \
    in the plan file; write it there first. Call this only in plan mode.";

/// No arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// What may stand in a request to leave plan mode.
#[derive(Debug, Deserialize, JsonSchema)]
struct ExitInput {
    /// The plan, as the user's interface may have edited it.
    plan: Option<String>,
}

struct PlanTool {
    spec: ToolSpec,
    session: Weak<SessionContext>,
    direction: Direction,
}

#[derive(Clone, Copy)]
enum Direction {
    Enter,
    Exit,
}

/// Both tools.
pub(super) fn tools(session: &Arc<SessionContext>) -> [Arc<dyn Tool>; 2] {
    let enter = ToolSpec::new(ENTER, ENTER_DESCRIPTION, schema_of::<Nothing>()).read_only();
    let exit = ToolSpec::new(EXIT, EXIT_DESCRIPTION, schema_of::<ExitInput>());
    [(enter, Direction::Enter), (exit, Direction::Exit)].map(|(spec, direction)| {
        let session = Arc::downgrade(session);
        Arc::new(PlanTool { spec, session, direction }) as Arc<dyn Tool>
    })
}

impl PlanTool {
    async fn switch(&self, call: ToolCall) -> Result<ToolOutput, ToolFailure> {
        let gone = || ToolFailure::running("the session has ended");
        let session = self.session.upgrade().ok_or_else(gone)?;
        match self.direction {
            Direction::Enter => {
                session.permissions.enter_plan_mode();
                tell_mode(&session).await;
                let message = "Entered plan mode. Look around and think, and change nothing until \
                               the user has agreed to your plan.";
                let text = format!("{message} {}", plan::where_to_write(&session));
                Ok(ToolOutput::text(text).structured(json!({"message": message})))
            }
            Direction::Exit => {
                let input: ExitInput = call.input()?;
                let written = session.permissions.plan();
                session.permissions.leave_plan_mode();
                tell_mode(&session).await;
                Ok(approved(&session, written, input.plan))
            }
        }
    }
}

/// The result when the user approves.
fn approved(
    session: &SessionContext,
    written: Option<String>,
    shown: Option<String>,
) -> ToolOutput {
    let edited = shown.as_ref().is_some_and(|shown| Some(shown) != written.as_ref());
    let path =
        session.permissions.plan_file().map(|path| path.display().to_string()).unwrap_or_default();
    let Some(plan) = shown.or(written) else {
        let text = "User has approved exiting plan mode. You can now proceed.";
        let structured = json!({"plan": null, "isAgent": false, "filePath": path});
        return ToolOutput::text(text).structured(structured);
    };
    let heading = if edited { "Approved Plan (edited by user)" } else { "Approved Plan" };
    let text = format!(
        "User has approved your plan. You can now carry it out. It is kept in {path}.\n\n\
         ## {heading}:\n{plan}"
    );
    let mut structured = json!({"plan": plan, "isAgent": false, "filePath": path});
    if edited {
        structured["planWasEdited"] = true.into();
    }
    ToolOutput::text(text).structured(structured)
}

async fn tell_mode(session: &SessionContext) {
    let permission_mode = Some(session.permissions.mode());
    session.sink.send(StatusMessage { permission_mode, ..StatusMessage::default() }).await;
}

impl Tool for PlanTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn access(&self, _: &Value, _: &Workspace) -> Access {
        Access::Nothing
    }

    fn check<'a>(
        &'a self,
        _: &'a Value,
        _: &'a Workspace,
    ) -> BoxFuture<'a, Result<(), ToolFailure>> {
        let in_plan_mode = || {
            self.session.upgrade().is_some_and(|it| it.permissions.mode() == PermissionMode::Plan)
        };
        let checked = match self.direction {
            Direction::Exit if !in_plan_mode() => Err(ToolFailure::input(
                "You are not in plan mode. If the user has agreed to your plan, go on with the \
                 work; EnterPlanMode enters plan mode.",
            )),
            Direction::Enter | Direction::Exit => Ok(()),
        };
        Box::pin(std::future::ready(checked))
    }

    fn run(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>> {
        Box::pin(self.switch(call))
    }
}

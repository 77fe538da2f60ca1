//! `bowline demo`: an agent at work on a small project, offline and the same every time.

use std::{fs, pin::pin, process::ExitCode, sync::Arc};

use bowline_engine::{Answer, Host, PermissionPrompts, Session, SessionConfig};
use bowline_model::{BoxFuture, Providers};
use bowline_protocol::{
    CanUseTool, ContentBlock, Message, PermissionAllow, PermissionDeny, PermissionResult,
    UserMessage,
};

use crate::{print_line, serving::exit_code};

/// The project: a program with a mistake in it.
const PROGRAM: &str = "#!/bin/sh\n# Greets the person who is named.\necho \"Helo, $1!\"\n";

/// Responses and tool calls of the model. A real one would find them by itself.
const SCRIPT: &str = r#"SAY I will look at the program first.
TOOL Read {"file_path": "greet.sh"}
NEXT
SAY There is a typo in the greeting: "Helo". I will fix it.
TOOL Edit {"file_path": "greet.sh", "old_string": "Helo", "new_string": "Hello"}
NEXT
SAY Now I run it, to see that it works.
TOOL Bash {"command": "sh greet.sh Bowline", "description": "run the program"}
NEXT
SAY And I would like to clean up.
TOOL Bash {"command": "rm greet.sh", "description": "remove the program"}
NEXT
SAY The greeting is right now, and the program runs. Removing it was refused, which is what permissions are for."#;

/// Runs the demo.
pub(crate) async fn run(keep: bool) -> anyhow::Result<ExitCode> {
    let folder = bowline_private::disposable_folder("bowline-demo-")?;
    fs::write(folder.path().join("greet.sh"), PROGRAM)?;
    print_line(
        "A small project, a scripted model, no network. The policy: every call that needs approval is allowed,\n\
         except commands that remove files.\n",
    )?;
    print_line(
        "> There is something wrong with greet.sh. Please fix it and show that it works.\n",
    )?;

    let mut config = SessionConfig::new(folder.path(), Arc::new(Providers::new()), "script");
    config.permission_prompts = PermissionPrompts::Host;
    let (session, work) = Session::start(config, Arc::new(DemoHost))?;
    session.prompt(UserMessage::prompt(SCRIPT)).await;
    session.end_of_input().await;
    let end = pin!(work).await;

    if keep {
        print_line(&format!("\nThe project is in {}", folder.keep().display()))?;
    }
    Ok(exit_code(end))
}

/// A host that prints messages and decides permission requests by a simple rule.
struct DemoHost;

impl Host for DemoHost {
    fn emit(&self, message: Message) -> BoxFuture<'_, ()> {
        for line in described(&message) {
            print_line(&line).ok();
        }
        Box::pin(std::future::ready(()))
    }

    fn can_use_tool(&self, request: CanUseTool) -> Answer<'_, PermissionResult> {
        let removes = request.input.get().contains("rm ");
        let what = request.description.as_deref().unwrap_or(&request.tool_name);
        let verdict = if removes { "no, it removes files" } else { "yes" };
        print_line(&format!("  ? may {} run ({what})? {verdict}", request.tool_name)).ok();
        let decision = if removes {
            PermissionResult::Deny(PermissionDeny {
                message: "Commands that remove files are not allowed here.".to_owned(),
                ..PermissionDeny::default()
            })
        } else {
            PermissionResult::Allow(PermissionAllow::default())
        };
        Box::pin(std::future::ready(Ok(decision)))
    }
}

/// Lines that describe a message.
fn described(message: &Message) -> Vec<String> {
    match message {
        Message::Assistant(assistant) => {
            assistant.message.content.iter().filter_map(response_line).collect()
        }
        Message::User(user) => {
            let blocks = user.message.content.clone().into_blocks();
            blocks.iter().filter_map(result_line).collect()
        }
        Message::Result(result) => {
            let turns = result.num_turns;
            vec![format!("\nDone: {turns} model requests in {} ms.", result.duration_ms)]
        }
        _ => Vec::new(),
    }
}

fn response_line(block: &ContentBlock) -> Option<String> {
    match block {
        ContentBlock::Text(text) => Some(text.text.clone()),
        ContentBlock::ToolUse(call) => Some(format!("  → {} {}", call.name, call.input.get())),
        _ => None,
    }
}

fn result_line(block: &ContentBlock) -> Option<String> {
    let ContentBlock::ToolResult(result) = block else { return None };
    let text = serde_json::to_value(&result.content).ok()?;
    let text = match &text {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mark = if result.is_error == Some(true) { "✗" } else { "✓" };
    let lines = text.lines().take(4).collect::<Vec<_>>().join("\n    ");
    Some(format!("  {mark} {lines}\n"))
}

//! `bowline demo`: an agent at work on a small project, offline and the same every time.

use std::{fs, pin::pin, process::ExitCode, sync::Arc};

use bowline_engine::{Answer, Host, PermissionPrompts, Session, SessionConfig};
use bowline_model::{BoxFuture, Providers};
use bowline_protocol::{
    CanUseTool, ContentBlock, Message, PermissionAllow, PermissionDeny, PermissionResult,
    UserMessage,
};

use crate::{say, serving::exit_code};

/// The project: a program with a mistake in it.
const PROGRAM: &str = "#!/bin/sh\n# Greets whoever is named.\necho \"Helo, $1!\"\n";

/// What the model says and does. A real one would find it out by itself.
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
    say("A small project, a scripted model, no network. The policy: whatever asks is allowed,\n\
         except commands that remove files.\n")?;
    say("> There is something wrong with greet.sh. Please fix it and show that it works.\n")?;

    let mut config = SessionConfig::new(folder.path(), Arc::new(Providers::new()), "script");
    config.permission_prompts = PermissionPrompts::Host;
    let (session, work) = Session::start(config, Arc::new(Audience))?;
    session.prompt(UserMessage::prompt(SCRIPT)).await;
    session.end_of_input().await;
    let end = pin!(work).await;

    if keep {
        say(&format!("\nThe project is in {}", folder.keep().display()))?;
    }
    Ok(exit_code(end))
}

/// Somebody who watches, and answers permission questions by a simple rule.
struct Audience;

impl Host for Audience {
    fn emit(&self, message: Message) -> BoxFuture<'_, ()> {
        for line in described(&message) {
            say(&line).ok();
        }
        Box::pin(std::future::ready(()))
    }

    fn can_use_tool(&self, question: CanUseTool) -> Answer<'_, PermissionResult> {
        let removes = question.input.get().contains("rm ");
        let what = question.description.as_deref().unwrap_or(&question.tool_name);
        let verdict = if removes { "no, it removes files" } else { "yes" };
        say(&format!("  ? may {} run ({what})? {verdict}", question.tool_name)).ok();
        let answer = if removes {
            PermissionResult::Deny(PermissionDeny {
                message: "Commands that remove files are not allowed here.".to_owned(),
                ..PermissionDeny::default()
            })
        } else {
            PermissionResult::Allow(PermissionAllow::default())
        };
        Box::pin(std::future::ready(Ok(answer)))
    }
}

/// A message in words.
fn described(message: &Message) -> Vec<String> {
    match message {
        Message::Assistant(said) => said.message.content.iter().filter_map(spoken).collect(),
        Message::User(said) => {
            let blocks = said.message.content.clone().into_blocks();
            blocks.iter().filter_map(returned).collect()
        }
        Message::Result(result) => {
            let turns = result.num_turns;
            vec![format!(
                "\nDone: the model was asked {turns} times, in {} ms.",
                result.duration_ms
            )]
        }
        _ => Vec::new(),
    }
}

fn spoken(block: &ContentBlock) -> Option<String> {
    match block {
        ContentBlock::Text(text) => Some(text.text.clone()),
        ContentBlock::ToolUse(call) => Some(format!("  → {} {}", call.name, call.input.get())),
        _ => None,
    }
}

fn returned(block: &ContentBlock) -> Option<String> {
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

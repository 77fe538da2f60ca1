//! Command hooks: how they are started, and the meaning of their exit codes.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    process::ExitStatus,
};

use bowline_process::{exit_code, group_command, set_variables};
use bowline_protocol::{
    CommandHook, HookEvent, HookInput, HookSpecificOutput, SyncHookOutput, WorktreeCreateOutput,
};
use tokio::process::Command;

use super::{
    Scripts,
    output::{self, HookReply},
    process::Process,
    report::FailureKind,
    texts,
};

/// The exit code that means "I object".
const OBJECTION: i32 = 2;

/// What programs that run as hooks find in their environment, beside what the agent has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookEnvironment {
    /// The project's folder.
    pub project_dir: PathBuf,
    /// How the agent was started (`sdk-py`, `cli` and so on).
    pub entrypoint: Option<String>,
    /// Where hooks leave what is to run before later commands of the session.
    pub scripts: Option<Scripts>,
    /// Variables that settings or the host have set; `None` takes one away.
    pub variables: BTreeMap<String, Option<String>>,
}

/// Starts a hook's program with `json` as its input.
pub(super) fn start(
    hook: &CommandHook,
    input: &HookInput,
    json: &str,
    environment: &HookEnvironment,
) -> io::Result<Process> {
    let mut started = Err(io::ErrorKind::NotFound.into());
    for command in commands(hook) {
        let mut line = String::with_capacity(json.len() + 1);
        line.push_str(json);
        line.push('\n');
        started = Process::start(prepare(command, input, environment), line.into_bytes());
        match &started {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            _ => break,
        }
    }
    started
}

/// What to try: the program itself, or a shell that is there.
fn commands(hook: &CommandHook) -> Vec<Command> {
    let shell = |program: &str, flags: &[&str]| {
        let mut command = group_command(program);
        command.args(flags).arg(&hook.command);
        command
    };
    if let Some(args) = &hook.args {
        let mut command = group_command(&hook.command);
        command.args(args);
        return vec![command];
    }
    match hook.shell.as_deref() {
        Some("powershell") => {
            let flags = ["-NoProfile", "-NonInteractive", "-Command"];
            vec![shell("pwsh", &flags), shell("powershell", &flags)]
        }
        _ => vec![shell("bash", &["-c"]), shell("sh", &["-c"])],
    }
}

fn prepare(mut command: Command, input: &HookInput, environment: &HookEnvironment) -> Command {
    // A folder that has gone would keep every hook from running.
    let cwd = Path::new(&input.base.cwd);
    command.current_dir(if cwd.is_dir() { cwd } else { &environment.project_dir });
    // An agent that was itself started by an agent has some that are not ours.
    command.env_remove("CLAUDE_EFFORT").env_remove("CLAUDE_ENV_FILE");
    set_variables(&mut command, &environment.variables);
    command
        .env("CLAUDE_PROJECT_DIR", &environment.project_dir)
        .env("CLAUDECODE", "1")
        .env("CLAUDE_CODE_SESSION_ID", input.base.session_id.as_str())
        .env("CLAUDE_CODE_CHILD_SESSION", "1")
        .env("CLAUDE_PID", std::process::id().to_string());
    if let Some(effort) = &input.base.effort {
        command.env("CLAUDE_EFFORT", &effort.level);
    }
    if let Some(entrypoint) = &environment.entrypoint {
        command.env("CLAUDE_CODE_ENTRYPOINT", entrypoint);
    }
    let scripts = environment.scripts.as_ref();
    if let Some(file) = scripts.and_then(|scripts| scripts.prepare(&input.event_name())) {
        command.env("CLAUDE_ENV_FILE", file);
    }
    command
}

/// What a program that has ended means to say.
pub(super) fn interpret(
    hook: &CommandHook,
    event: &HookEvent,
    status: &io::Result<ExitStatus>,
    stdout: &[u8],
    stderr: &[u8],
) -> HookReply {
    let stdout = String::from_utf8_lossy(stdout);
    let stderr = String::from_utf8_lossy(stderr);
    let code = match status {
        Ok(status) => exit_code(status),
        Err(error) => return HookReply::Failed(FailureKind::NotRun, error.to_string()),
    };
    match code {
        0 => printed(event, stdout.trim()),
        OBJECTION if output::can_object(event) => {
            HookReply::Objection(texts::command_reason(&hook.command, &stderr))
        }
        code => HookReply::Failed(FailureKind::ExitCode(code), stderr.trim_end().to_owned()),
    }
}

/// Meaning of printed text: a reply, text for the model, or nothing.
pub(super) fn printed(event: &HookEvent, text: &str) -> HookReply {
    if text.starts_with('{') {
        output::read(event, text)
    } else if output::prints_context(event) && !text.is_empty() {
        HookReply::Printed(text.to_owned())
    } else if *event == HookEvent::WorktreeCreate && !text.is_empty() {
        // Whatever the program printed before, its last line is the path of the worktree.
        let worktree_path = text.lines().next_back().unwrap_or_default().to_owned();
        let output = WorktreeCreateOutput { worktree_path, extra: Default::default() };
        let hook_specific_output = Some(HookSpecificOutput::WorktreeCreate(output));
        HookReply::Output(Box::new(SyncHookOutput { hook_specific_output, ..Default::default() }))
    } else {
        HookReply::Output(Box::default())
    }
}

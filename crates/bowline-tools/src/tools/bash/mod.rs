//! `Bash`: runs a shell command, in the foreground or in the background.

mod exit_meaning;
mod result;

use std::{sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    output::{ToolFailure, ToolOutput},
    process::{ShellCommand, complete_confinement, git_environment, only_shows_settings},
    schema::schema_of,
    tasks::{Job, NewJob},
    tool::{Access, Tool, ToolCall, ToolSpec, read_input},
    workspace::{Options, Workspace},
};

const DESCRIPTION: &str = "\
Runs a command in bash and returns its output, standard error included.

- Aliases and functions of the user's shell profile can be used.
- The working directory carries over from one command to the next as long as it stays inside the \
working directories; variables and functions do not. Prefer absolute paths to `cd`.
- There is no terminal and no input: use options that do not ask questions.
- `timeout` is in milliseconds. A command that takes longer is moved to the background.
- With `run_in_background` the call returns at once with a task id and the file to which the \
output goes; you are told when the command ends. Do not add `&` yourself, and do not poll with \
`sleep`.
- Very long output is saved to a file of which you see the beginning.
- Use the Read, Edit, Write, Glob and Grep tools for files and searches rather than cat, sed, \
echo, find and grep. Quote paths with spaces. Send independent commands as separate calls in one \
message; join dependent ones with `&&`.";

/// Sleeping this long in the foreground is of no use: the work to wait for belongs in the
/// background.
const LONGEST_SLEEP: Duration = Duration::from_secs(25);

/// A character has at most four bytes.
const BYTES_PER_CHAR: usize = 4;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The command to run.
    command: String,
    /// How long it may run, in milliseconds.
    timeout: Option<f64>,
    /// What it does, in five to ten words.
    description: Option<String>,
    /// Whether to return at once and let it run on.
    run_in_background: Option<bool>,
    /// Runs it without a sandbox, where there is one.
    #[serde(rename = "dangerouslyDisableSandbox")]
    dangerously_disable_sandbox: Option<bool>,
}

impl Input {
    fn in_background(&self) -> bool {
        self.run_in_background.unwrap_or(false)
    }

    /// The time limit of the call, or the default where it has no valid one.
    fn limit(&self, default: Duration, max: Duration) -> Duration {
        let asked = self.timeout.filter(|millis| *millis > 0.0);
        let asked = asked.and_then(|millis| Duration::try_from_secs_f64(millis / 1000.0).ok());
        asked.unwrap_or(default).min(max)
    }
}

/// Runs shell commands.
pub(super) struct Bash {
    spec: ToolSpec,
}

impl Bash {
    pub(super) fn new(options: &Options) -> Self {
        let mut schema = schema_of::<Input>().to_value();
        if !options.background_tasks
            && let Some(properties) = schema["properties"].as_object_mut()
        {
            properties.remove("run_in_background");
        }
        // Its own limit is applied to the output before anything is added to it.
        let spec = ToolSpec::new("Bash", DESCRIPTION, schema.into())
            .destructive()
            .open_world()
            .max_result_chars(usize::MAX);
        Self { spec }
    }
}

impl Tool for Bash {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn access(&self, input: &Value, _: &Workspace) -> Access {
        Access::Command(input["command"].as_str().unwrap_or_default().to_owned())
    }

    fn is_concurrency_safe(&self, input: &Value) -> bool {
        input["command"].as_str().is_some_and(bowline_shell::is_read_only)
    }

    fn check<'a>(
        &'a self,
        input: &'a Value,
        _: &'a Workspace,
    ) -> BoxFuture<'a, Result<(), ToolFailure>> {
        Box::pin(async move {
            let input: Input = read_input(input)?;
            match exit_meaning::leading_sleep(&input.command) {
                Some(sleep) if sleep >= LONGEST_SLEEP && !input.in_background() => {
                    Err(ToolFailure::input(format!(
                        "Blocked: this command starts by sleeping for {} s. Run what you wait \
                         for with run_in_background and go on when you are told that it has \
                         ended; for a short pause use less than {} s.",
                        sleep.as_secs(),
                        LONGEST_SLEEP.as_secs()
                    )))
                }
                _ => Ok(()),
            }
        })
    }

    fn run(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>> {
        Box::pin(run(call))
    }
}

async fn run(call: ToolCall) -> Result<ToolOutput, ToolFailure> {
    let input: Input = call.input()?;
    let workspace = &call.workspace;
    let options = workspace.options();
    let dir = workspace.current_dir();
    let mut environment = workspace.command_environment();
    // The shell then keeps the name by which we know the directory, symlinks and all.
    environment.insert("PWD".to_owned(), dir.to_str().map(str::to_owned));
    let mut command = ShellCommand {
        command: input.command.clone(),
        dir: dir.clone(),
        environment,
        scripts: workspace.scripts(),
        profile: workspace.shell_definitions().await,
        confinement: None,
    };
    if let Some(judged) = &call.confinement {
        if !only_shows_settings(&input.command) {
            let count = workspace.variable("GIT_CONFIG_COUNT");
            command.environment.extend(git_environment(count.as_deref()));
        }
        command.confinement =
            Some(complete_confinement(judged, &command, &|name| workspace.variable(name)));
    }
    let job = NewJob {
        command,
        description: input.description.clone().unwrap_or_else(|| input.command.clone()),
        tool_use_id: call.id.clone(),
        memory: options.max_output_chars.saturating_mul(BYTES_PER_CHAR),
    };
    let mut job = workspace.tasks().start(job).map_err(|error| {
        ToolFailure::running(format!("Cannot start bash in {}: {error}", dir.display()))
    })?;
    if input.in_background() && options.background_tasks {
        let lifetime =
            input.limit(options.default_background_timeout, options.max_background_timeout);
        return started_in_background(job, lifetime);
    }

    let limit = input.limit(options.default_timeout, options.max_timeout);
    let detach_requested = job.detach_requested.clone();
    tokio::select! {
        ended = job.ended() => match ended {
            Some(end) => result::of(&input, job, end, &call),
            None => Err(ToolFailure::interrupted()),
        },
        () = call.cancel.cancelled() => {
            job.stop().await;
            Err(ToolFailure::interrupted())
        }
        () = detach_requested.cancelled() => {
            backgrounded_by_user(job, options.default_background_timeout)
        }
        () = tokio::time::sleep(limit) => {
            if options.background_tasks && exit_meaning::leading_sleep(&input.command).is_none() {
                moved_to_background(job, limit, options.default_background_timeout)
            } else {
                let capture = Arc::clone(&job.capture);
                job.stop().await;
                Err(result::timed_out(&capture, limit))
            }
        }
    }
}

fn started_in_background(job: Job, lifetime: Duration) -> Result<ToolOutput, ToolFailure> {
    let id = job.id.clone();
    let file = job.detach(lifetime).map_err(no_output_file)?;
    let text = format!(
        "Command running in background with ID: {id}. Output is being written to: {}. You will be \
         notified when it completes. To check interim output, use Read on that file path.",
        file.display()
    );
    let mut structured = result::structured("", false);
    structured["backgroundTaskId"] = json!(id);
    Ok(ToolOutput::text(text).structured(structured).explicitly_ok())
}

fn backgrounded_by_user(job: Job, lifetime: Duration) -> Result<ToolOutput, ToolFailure> {
    let id = job.id.clone();
    let file = job.detach(lifetime).map_err(no_output_file)?;
    let text = format!(
        "Command was manually backgrounded by user with ID: {id}. Output is being written to: {}. \
         If it is still running after {}m in the background, it will be stopped and you will be \
         notified.",
        file.display(),
        lifetime.as_secs() / 60
    );
    let mut structured = result::structured("", false);
    structured["backgroundTaskId"] = json!(id);
    structured["backgroundedByUser"] = true.into();
    Ok(ToolOutput::text(text).structured(structured).explicitly_ok())
}

fn moved_to_background(
    job: Job,
    limit: Duration,
    lifetime: Duration,
) -> Result<ToolOutput, ToolFailure> {
    let id = job.id.clone();
    let output = result::shown(&job.capture);
    let file = job.detach(lifetime).map_err(no_output_file)?;
    let gap = if output.is_empty() { "" } else { "\n\n" };
    let text = format!(
        "{output}{gap}The command did not finish within {} and was moved to the background (ID: \
         {id}). Output is being written to: {}. You will be notified when it completes.",
        result::seconds(limit),
        file.display()
    );
    let mut structured = result::structured(&output, false);
    structured["backgroundTaskId"] = json!(id);
    structured["timedOutAfterMs"] = json!(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
    Ok(ToolOutput::text(text).structured(structured).explicitly_ok())
}

fn no_output_file(error: std::io::Error) -> ToolFailure {
    ToolFailure::running(format!("Cannot write the output of a background command: {error}"))
}

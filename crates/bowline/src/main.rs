//! Entry point of the binary: reads the command line and opens the door that it asks for.

mod args;
mod claims;
mod commands;
mod environment;
mod first_line;
mod logging;
mod oneshot;
mod pipes;
mod process;
mod remote;
mod remote_log;
mod serving;
mod sessions;
mod setup;
mod signals;
mod startup_failure;
mod stdio;
mod terminal;
mod version;

use std::{io, path::PathBuf, process::ExitCode};

use anyhow::Context;

use crate::{
    args::{Args, Command, McpCommand, RunArgs, UsageError},
    commands::mcp_login::Browser,
    environment::Environment,
    remote_log::RemoteLog,
    setup::Audience,
    terminal::{Form, complain},
};

fn main() -> ExitCode {
    process::hide_from_other_processes();
    let done = match Args::read(std::env::args_os()) {
        Ok(Args { command: Some(command), .. }) => run_command(command),
        Ok(Args { run, .. }) => run_agent(&run),
        Err(UsageError::Help(text)) => print_line(text.trim_end()),
        Err(UsageError::Bad(text)) => Err(anyhow::Error::msg(text)),
    };
    match done {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            complain(format!("{error:#}"));
            startup_failure::await_first_line();
            ExitCode::FAILURE
        }
    }
}

fn run_command(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Schema { side } => commands::schema::print(side)?,
        Command::Completions { shell } => commands::completions::print(shell)?,
        Command::Man => commands::man::print()?,
        Command::Doctor => return with_runtime(commands::doctor::run()),
        Command::Trust(args) => return commands::trust::run(&args),
        Command::Demo { keep } => return with_runtime(commands::demo::run(keep)),
        Command::ScriptServer { listen, script } => {
            return with_runtime(commands::script_server::run(listen, script));
        }
        Command::Mcp { command: McpCommand::Serve(args) } => {
            return with_runtime(commands::mcp_serve::run(*args));
        }
        Command::Mcp { command: McpCommand::Login { no_browser, server } } => {
            let browser = if no_browser { Browser::Elsewhere } else { Browser::Opened };
            return with_runtime(commands::mcp_login::login(*server, browser));
        }
        Command::Mcp { command: McpCommand::Logout { server } } => {
            return with_runtime(commands::mcp_login::logout(*server));
        }
        Command::Rpc(args) => return with_runtime(commands::rpc::run(*args)),
    }
    Ok(ExitCode::SUCCESS)
}

fn run_agent(args: &RunArgs) -> anyhow::Result<ExitCode> {
    if args.version {
        return print_line(&version::line());
    }
    logging::start(&args.output)?;
    let environment = environment(args)?;
    let cwd = working_directory()?;
    if args.session.rewind_files.is_some() {
        return commands::rewind::run(args, &environment, &cwd);
    }
    match start_session(args, &environment, cwd) {
        Err(error) => match error.downcast_ref() {
            Some(error) => startup_failure::report(args, &environment, error),
            None => Err(error),
        },
        done => done,
    }
}

fn start_session(
    args: &RunArgs,
    environment: &Environment,
    cwd: PathBuf,
) -> anyhow::Result<ExitCode> {
    if args.session.init_only {
        let prepared = setup::prepare(args, environment, cwd, Audience::Reader)?;
        prepared.notices.iter().for_each(complain);
        return with_runtime(oneshot::prepare_folder(prepared));
    }
    let audience = setup::audience(args);
    if audience == Audience::Host && args.remote.sdk_url.is_none() {
        return stdio::run(args, environment, cwd);
    }
    let prepared = setup::prepare(args, environment, cwd, audience)?;
    prepared.notices.iter().for_each(complain);
    match &args.remote.sdk_url {
        Some(url) => with_runtime(remote::run(prepared, args, url, environment)),
        None => with_runtime(oneshot::run(prepared, args)),
    }
}

/// Returns the folder in which the program was started.
fn working_directory() -> anyhow::Result<PathBuf> {
    std::env::current_dir().context("Error: the working directory cannot be used")
}

/// Returns the environment, with the token from its file descriptor if a remote host or log needs it.
fn environment(args: &RunArgs) -> anyhow::Result<Environment> {
    let environment = Environment::of_process();
    let resumes_elsewhere = args.session.resume.as_deref().is_some_and(RemoteLog::is_address);
    if args.remote.sdk_url.is_none() && args.session.teleport.is_none() && !resumes_elsewhere {
        return Ok(environment);
    }
    let taken = environment.take_token();
    taken.context("Error: CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR")
}

/// Runs a future to its end on one thread. The work is the model's and the tools'; a second thread
/// would cost more at the start than it gives.
fn with_runtime(work: impl Future<Output = anyhow::Result<ExitCode>>) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(work);
    // A blocking read from stdin cannot be cancelled; the process exits without it.
    runtime.shutdown_background();
    done
}

fn print_line(text: &str) -> anyhow::Result<ExitCode> {
    terminal::print(text, Form::Text)?;
    Ok(ExitCode::SUCCESS)
}

/// Whether the reader of our output has closed it, as `head` does. That is not an error.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error.downcast_ref().is_some_and(broken)
}

//! One-shot runs: one prompt, its response, and exit (`-p`).

mod init_only;
mod printer;
mod progress;
mod prompt;

use std::{
    io::{self, IsTerminal},
    pin::pin,
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use anyhow::bail;
use bowline_engine::Session;
use bowline_protocol::UserMessage;
use tokio::time;

pub(crate) use self::init_only::prepare_folder;
use self::{printer::Printer, progress::Progress, prompt::Need};
use crate::{
    args::{LimitArgs, OutputFormat, RunArgs},
    complain, remote_log,
    serving::{GRACE, exit_code},
    setup::{Prepared, SetupError},
    signals::{Signals, Stop},
};

/// Interval at which the progress line is redrawn.
const REDRAW: Duration = Duration::from_millis(250);

/// Runs the prompt of the command line.
pub(crate) async fn run(prepared: Prepared, args: &RunArgs) -> anyhow::Result<ExitCode> {
    // A call that a hook deferred is made when its session is resumed.
    let resumed = prepared.config.resumed.as_ref();
    let need = match resumed.is_some_and(|resumed| !resumed.deferred.is_empty()) {
        true => Need::Optional,
        false => Need::Required,
    };
    let prompt = prompt::read(args.prompt.as_deref(), need).await?;
    let mut signals = Signals::listen()?;
    let format = args.output.output_format;
    let shown = io::stderr().is_terminal() && format != OutputFormat::StreamJson;
    let progress = shown.then(|| Progress::new(io::stderr(), prepared.config.prices.clone()));
    let max_turns = prepared.config.max_turns.map(u64::from);
    let limits = LimitArgs { max_turns, ..args.limits.clone() };
    let printer = Arc::new(Printer::new(format, args.output.verbose, limits, progress));
    let host = remote_log::wrap_host(printer.clone(), prepared.remote_log, args, &mut signals);
    let (session, work) = Session::start(prepared.config, host).map_err(SetupError::from)?;
    check_agent(args.model.agent.as_deref(), &session)?;
    let prompts = [session.initial_prompt(), prompt].into_iter().flatten().collect::<Vec<_>>();
    if !prompts.is_empty() {
        session.prompt(UserMessage::prompt(prompts.join("\n\n"))).await;
    }
    session.end_of_input().await;

    let mut work = pin!(work);
    let mut redraw = time::interval(REDRAW);
    let mut stopped = None;
    let end = loop {
        tokio::select! {
            end = &mut work => break Some(end),
            signal = signals.next() => match (signal, stopped) {
                (Stop::Interrupt, None) => {
                    printer.interrupt();
                    session.interrupt();
                    stopped = Some(signal);
                }
                _ => {
                    stopped = Some(stopped.unwrap_or(signal));
                    printer.silence();
                    session.shutdown();
                    break time::timeout(GRACE, &mut work).await.ok();
                }
            },
            () = printer.closed.cancelled(), if stopped.is_none() => {
                // The reader of our output has closed it.
                stopped = Some(Stop::Interrupt);
                printer.silence();
                session.shutdown();
            }
            _ = redraw.tick(), if shown => printer.redraw(),
        }
    };
    let printed = printer.finish();
    match (stopped.or(signals.pending()), end) {
        (Some(stop), _) => {
            if shown && printer.is_interrupted() {
                complain("Interrupted");
            }
            Ok(stop.exit_code())
        }
        (None, end) => {
            printed?;
            Ok(end.map_or(ExitCode::FAILURE, exit_code))
        }
    }
}

/// Refuses an unknown `--agent`: there is no host that could still define it.
fn check_agent(wanted: Option<&str>, session: &Session) -> anyhow::Result<()> {
    let Some(name) = wanted else { return Ok(()) };
    let agents = session.agents();
    if agents.iter().any(|agent| agent == name) {
        return Ok(());
    }
    bail!("--agent '{name}' not found. Available agents: {}", agents.join(", "))
}

//! `bowline script-server`: the script model as an HTTP API.

use std::{net::SocketAddr, path::PathBuf, process::ExitCode};

use anyhow::Context;
use bowline_model::script::{ScriptModel, ScriptServer};

use crate::{print_line, signals::Signals};

/// Serves the script model until a signal stops it.
pub(crate) async fn run(listen: SocketAddr, script: Option<PathBuf>) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::listen()?;
    let model = match script {
        Some(file) => ScriptModel::with_file(&file)?,
        None => ScriptModel::new(),
    };
    let mut server = ScriptServer::bind(listen, model)
        .await
        .with_context(|| format!("Error: cannot listen at {listen}"))?;
    let url = server.url();
    print_line(&format!("ANTHROPIC_BASE_URL={url}\nOPENAI_BASE_URL={url}/v1"))?;
    tokio::select! {
        served = server.wait() => {
            served?;
            Ok(ExitCode::SUCCESS)
        }
        stop = signals.next() => {
            server.shutdown().await?;
            Ok(stop.exit_code())
        }
    }
}

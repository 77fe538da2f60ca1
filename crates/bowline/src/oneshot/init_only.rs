//! `--init-only`: a session without a conversation, in which hooks prepare its folder.

use std::{pin::pin, process::ExitCode, sync::Arc};

use bowline_engine::{Host, Session};
use bowline_model::BoxFuture;
use bowline_protocol::Message;
use tokio::time;

use super::GRACE;
use crate::{
    setup::{Prepared, SetupError},
    signals::Signals,
};

/// A host that drops all messages: hooks report their failures themselves.
struct NullHost;

impl Host for NullHost {
    fn emit(&self, _: Message) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Runs Setup and SessionStart hooks.
pub(crate) async fn prepare_folder(prepared: Prepared) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::listen()?;
    let (session, work) =
        Session::start(prepared.config, Arc::new(NullHost)).map_err(SetupError::from)?;
    session.end_of_input().await;
    let mut work = pin!(work);
    tokio::select! {
        _ = &mut work => Ok(ExitCode::SUCCESS),
        signal = signals.next() => {
            session.shutdown();
            time::timeout(GRACE, &mut work).await.ok();
            Ok(signal.exit_code())
        }
    }
}

//! A session without a conversation: hooks prepare its folder, and it ends.

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

/// Nobody reads what such a session says: whether hooks succeed is for them to tell.
struct Silence;

impl Host for Silence {
    fn emit(&self, _: Message) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Lets hooks prepare the folder (`--init-only`).
pub(crate) async fn prepare_folder(prepared: Prepared) -> anyhow::Result<ExitCode> {
    let mut signals = Signals::listen()?;
    let (session, work) =
        Session::start(prepared.config, Arc::new(Silence)).map_err(SetupError::from)?;
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

//! The script model in process.

use std::{path::Path, sync::Arc};

use futures_util::stream;

use super::{
    attempts::Attempts,
    position::{NewestScript, ScriptPosition},
    response::{Play, Plays, ScriptedResponse},
    tokens,
};
use crate::{BoxFuture, ErrorKind, EventStream, Model, ModelError, ModelRequest};

/// The embedded script model; see the [module](crate::script) for its language.
#[derive(Debug, Default)]
pub struct ScriptModel {
    file: Option<String>,
    newest: NewestScript,
    attempts: Attempts,
}

impl ScriptModel {
    /// A model whose script is the prompt.
    pub fn new() -> Self {
        Self::default()
    }

    /// A model that responds to prompts without directives from this script.
    pub fn with_script(script: impl Into<String>) -> Self {
        Self { file: Some(script.into()), ..Self::default() }
    }

    /// A model that responds to prompts without directives from the script in this file.
    pub fn with_file(path: &Path) -> Result<Self, ModelError> {
        let script = std::fs::read_to_string(path).map_err(|error| {
            let message = format!("cannot read the script {}: {error}", path.display());
            ModelError::new(ErrorKind::Script, message)
        })?;
        Ok(Self::with_script(script))
    }

    pub(super) fn respond(&self, request: &ModelRequest) -> Result<ScriptedResponse, ModelError> {
        let position = ScriptPosition::find(request, self.file.as_deref(), &self.newest)?;
        let earlier = self.attempts.count(position.key);
        Ok(ScriptedResponse::new(request, position, earlier))
    }
}

impl Model for ScriptModel {
    fn stream(&self, request: Arc<ModelRequest>) -> BoxFuture<'_, Result<EventStream, ModelError>> {
        Box::pin(async move {
            let response = self.respond(&request)?;
            wait(response.delay).await;
            Ok(perform(response.plays?).with_request_id(Some(response.request_id)))
        })
    }

    fn count_tokens(
        &self,
        request: Arc<ModelRequest>,
    ) -> BoxFuture<'_, Result<Option<u64>, ModelError>> {
        Box::pin(async move { Ok(Some(tokens::count_input(&request))) })
    }
}

/// Plays a response in real time.
fn perform(plays: Plays) -> EventStream {
    EventStream::new(stream::unfold(Some(plays), |plays| async {
        let mut plays = plays?;
        loop {
            match plays.next()? {
                Play::Event(event) => return Some((Ok(event), Some(plays))),
                Play::Pause(pause) => wait(pause).await,
                Play::Hang => std::future::pending().await,
                Play::Cut => {
                    let message = "the scripted response was cut off";
                    return Some((Err(ModelError::new(ErrorKind::StreamCut, message)), None));
                }
                Play::Fail(error) => return Some((Err(error), None)),
            }
        }
    }))
}

/// Waits, without the millisecond that even an empty timer takes.
pub(super) async fn wait(pause: std::time::Duration) {
    if !pause.is_zero() {
        tokio::time::sleep(pause).await;
    }
}

//! The script model in process.

use std::{path::Path, sync::Arc};

use futures_util::stream;

use super::{
    answer::{Answer, Play, Plays},
    attempts::Attempts,
    place::{NewestScript, Place},
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

    /// A model that answers prompts without directives by this script.
    pub fn with_script(script: impl Into<String>) -> Self {
        Self { file: Some(script.into()), ..Self::default() }
    }

    /// A model that answers prompts without directives by the script in this file.
    pub fn with_file(path: &Path) -> Result<Self, ModelError> {
        let script = std::fs::read_to_string(path).map_err(|error| {
            let message = format!("cannot read the script {}: {error}", path.display());
            ModelError::new(ErrorKind::Script, message)
        })?;
        Ok(Self::with_script(script))
    }

    pub(super) fn answer(&self, request: &ModelRequest) -> Result<Answer, ModelError> {
        let place = Place::find(request, self.file.as_deref(), &self.newest)?;
        let earlier = self.attempts.count(place.key);
        Ok(Answer::new(request, place, earlier))
    }
}

impl Model for ScriptModel {
    fn stream(&self, request: Arc<ModelRequest>) -> BoxFuture<'_, Result<EventStream, ModelError>> {
        Box::pin(async move {
            let answer = self.answer(&request)?;
            wait(answer.delay).await;
            Ok(perform(answer.plays?).with_request_id(Some(answer.request_id)))
        })
    }

    fn count_tokens(
        &self,
        request: Arc<ModelRequest>,
    ) -> BoxFuture<'_, Result<Option<u64>, ModelError>> {
        Box::pin(async move { Ok(Some(tokens::count_input(&request))) })
    }
}

/// Plays an answer in real time.
fn perform(plays: Plays) -> EventStream {
    EventStream::new(stream::unfold(Some(plays), |plays| async {
        let mut plays = plays?;
        loop {
            match plays.next()? {
                Play::Event(event) => return Some((Ok(event), Some(plays))),
                Play::Pause(pause) => wait(pause).await,
                Play::Hang => std::future::pending().await,
                Play::Cut => {
                    let message = "the scripted answer was cut off";
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

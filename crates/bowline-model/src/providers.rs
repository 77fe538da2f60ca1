//! From the name of a model to the model.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use crate::{
    Anthropic, AnthropicConfig, Model, ModelError, ModelRef, OpenAi, OpenAiConfig, Timeouts,
    replay::{Pace, RecordFile, Recorder, ReplayModel},
    script::ScriptModel,
    secret::{Redactor, Secret},
};
use parking_lot::Mutex;

/// Everything needed to reach models, as the command line, settings and environment
/// say; this crate looks at none of them.
///
/// Share one between sessions: connections and the recording are shared with it.
#[derive(Debug, Default)]
pub struct Providers {
    /// The Anthropic API.
    pub anthropic: AnthropicConfig,
    /// A chat-completions server.
    pub openai: OpenAiConfig,
    /// Timeouts of HTTP requests.
    pub timeouts: Timeouts,
    /// File to record every exchange to.
    pub record: Option<PathBuf>,
    /// Speed of replays.
    pub replay_pace: Pace,
    made: Made,
}

/// Models created so far. Two models of one provider share its connections.
#[derive(Debug, Default)]
struct Made {
    anthropic: OnceLock<Arc<Anthropic>>,
    openai: OnceLock<Arc<OpenAi>>,
    recording: Mutex<Option<Arc<RecordFile>>>,
}

impl Providers {
    /// No keys, no servers: only scripts and recordings.
    pub fn new() -> Self {
        Self::default()
    }

    /// The model of this name. Nothing is connected before its first request.
    ///
    /// Fails if there is no way to reach it, and then lists the ways.
    pub fn connect(&self, model: &ModelRef) -> Result<Arc<dyn Model>, ModelError> {
        let model: Arc<dyn Model> = match model {
            ModelRef::Anthropic(_) => self.anthropic()?,
            ModelRef::OpenAi(_) => self.openai()?,
            ModelRef::Script(None) => Arc::new(ScriptModel::new()),
            ModelRef::Script(Some(file)) => Arc::new(ScriptModel::with_file(file)?),
            // A recording of a recording is useless.
            ModelRef::Replay(file) => {
                let recording = ReplayModel::open(file, self.replay_pace)?;
                return Ok(Arc::new(recording.with_redactor(self.redactor())));
            }
        };
        match &self.record {
            None => Ok(model),
            Some(path) => Ok(Arc::new(Recorder::new(model, self.recording(path)?))),
        }
    }

    fn anthropic(&self) -> Result<Arc<Anthropic>, ModelError> {
        if let Some(made) = self.made.anthropic.get() {
            return Ok(made.clone());
        }
        let new = Anthropic::new(&self.anthropic, self.timeouts)?;
        Ok(self.made.anthropic.get_or_init(|| Arc::new(new)).clone())
    }

    fn openai(&self) -> Result<Arc<OpenAi>, ModelError> {
        if let Some(made) = self.made.openai.get() {
            return Ok(made.clone());
        }
        let new = OpenAi::new(&self.openai, self.timeouts)?;
        Ok(self.made.openai.get_or_init(|| Arc::new(new)).clone())
    }

    fn recording(&self, path: &Path) -> Result<Arc<RecordFile>, ModelError> {
        // Under the lock, because creating the file twice would empty it.
        let mut made = self.made.recording.lock();
        match &*made {
            Some(made) => Ok(made.clone()),
            None => {
                let file = RecordFile::create(path)?.with_redactor(self.redactor());
                Ok(made.insert(Arc::new(file)).clone())
            }
        }
    }

    /// Hides every key there is.
    fn redactor(&self) -> Redactor {
        let keys = [&self.anthropic.api_key, &self.anthropic.auth_token, &self.openai.api_key];
        let headers = self.anthropic.headers.iter().chain(&self.openai.headers);
        let telling = headers.filter(|(name, _)| names_a_secret(name));
        let values = telling.map(|(_, value)| Secret::from(value.as_str()));
        Redactor::new(keys.into_iter().flatten().cloned().chain(values))
    }
}

/// Whether the value of a header is secret.
fn names_a_secret(header: &str) -> bool {
    let header = header.to_ascii_lowercase();
    ["auth", "cookie", "key", "secret", "token"].iter().any(|word| header.contains(word))
}

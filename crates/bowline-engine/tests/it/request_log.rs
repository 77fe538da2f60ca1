//! Request log of the script model.

use std::sync::{Arc, Mutex};

use bowline_engine::{ConnectedModel, Models, SessionConfig};
use bowline_model::{BoxFuture, EventStream, Model, ModelError, ModelRequest, Providers};
use bowline_protocol::{ContentBlock, Role};

/// The requests to a model, and its token counts.
#[derive(Clone, Default)]
pub(crate) struct RequestLog(Arc<Mutex<Vec<Arc<ModelRequest>>>>, Arc<Mutex<Vec<u64>>>);

impl RequestLog {
    /// Records the requests of a session with this configuration.
    pub(crate) fn record(&self, config: &mut SessionConfig) {
        config.models =
            Arc::new(RecordingProviders { providers: Providers::new(), log: self.clone() });
    }

    /// The requests so far.
    pub(crate) fn requests(&self) -> Vec<Arc<ModelRequest>> {
        self.0.lock().unwrap().clone()
    }

    /// The token counts that it returned.
    pub(crate) fn counted(&self) -> Vec<u64> {
        self.1.lock().unwrap().clone()
    }

    pub(crate) fn newest(&self) -> Arc<ModelRequest> {
        self.requests().last().expect("the model was asked").clone()
    }

    /// The system prompt of the newest request.
    pub(crate) fn system(&self) -> Vec<String> {
        self.newest().system.iter().map(|block| block.text.clone()).collect()
    }

    /// All text of the newest request's messages, one line per block: `U: …`, `A: …`.
    pub(crate) fn conversation(&self) -> Vec<String> {
        let request = self.newest();
        let messages = request.messages.iter().flat_map(|message| {
            let who = if message.role == Role::User { "U" } else { "A" };
            message.content.iter().map(move |block| match block {
                ContentBlock::Text(text) => format!("{who}: {}", text.text),
                ContentBlock::ToolUse(call) => format!("{who}: call {}", call.name),
                ContentBlock::ToolResult(_) => format!("{who}: result"),
                other => format!("{who}: {other:?}"),
            })
        });
        messages.collect()
    }
}

struct RecordingProviders {
    providers: Providers,
    log: RequestLog,
}

impl Models for RecordingProviders {
    fn connect(&self, name: &str) -> Result<ConnectedModel, ModelError> {
        let connected = Models::connect(&self.providers, name)?;
        let model = Arc::new(RecordingModel { model: connected.model, log: self.log.clone() });
        Ok(ConnectedModel { model, ..connected })
    }
}

struct RecordingModel {
    model: Arc<dyn Model>,
    log: RequestLog,
}

impl Model for RecordingModel {
    fn stream(&self, request: Arc<ModelRequest>) -> BoxFuture<'_, Result<EventStream, ModelError>> {
        self.log.0.lock().unwrap().push(Arc::clone(&request));
        self.model.stream(request)
    }

    fn count_tokens(
        &self,
        request: Arc<ModelRequest>,
    ) -> BoxFuture<'_, Result<Option<u64>, ModelError>> {
        Box::pin(async move {
            // Doubled, to distinguish it from the estimates, which are made the same way.
            let counted = self.model.count_tokens(request).await?.map(|tokens| tokens * 2);
            self.log.1.lock().unwrap().extend(counted);
            Ok(counted)
        })
    }
}

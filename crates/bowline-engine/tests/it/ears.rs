//! The script model, with everything it is asked written down.

use std::sync::{Arc, Mutex};

use bowline_engine::{ConnectedModel, Models, SessionConfig};
use bowline_model::{BoxFuture, EventStream, Model, ModelError, ModelRequest, Providers};
use bowline_protocol::{ContentBlock, Role};

/// What a model was asked.
#[derive(Clone, Default)]
pub(crate) struct Ears(Arc<Mutex<Vec<Arc<ModelRequest>>>>, Arc<Mutex<Vec<u64>>>);

impl Ears {
    /// Listens to what a session asks.
    pub(crate) fn listen(&self, config: &mut SessionConfig) {
        config.models = Arc::new(Listening { providers: Providers::new(), ears: self.clone() });
    }

    /// The requests so far.
    pub(crate) fn requests(&self) -> Vec<Arc<ModelRequest>> {
        self.0.lock().unwrap().clone()
    }

    /// What it counted for somebody, in tokens.
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

struct Listening {
    providers: Providers,
    ears: Ears,
}

impl Models for Listening {
    fn connect(&self, name: &str) -> Result<ConnectedModel, ModelError> {
        let connected = Models::connect(&self.providers, name)?;
        let model = Arc::new(Heard { model: connected.model, ears: self.ears.clone() });
        Ok(ConnectedModel { model, ..connected })
    }
}

struct Heard {
    model: Arc<dyn Model>,
    ears: Ears,
}

impl Model for Heard {
    fn stream(&self, request: Arc<ModelRequest>) -> BoxFuture<'_, Result<EventStream, ModelError>> {
        self.ears.0.lock().unwrap().push(Arc::clone(&request));
        self.model.stream(request)
    }

    fn count_tokens(
        &self,
        request: Arc<ModelRequest>,
    ) -> BoxFuture<'_, Result<Option<u64>, ModelError>> {
        Box::pin(async move {
            // Twice, so that it can be told from the estimates, which are made the same way.
            let counted = self.model.count_tokens(request).await?.map(|tokens| tokens * 2);
            self.ears.1.lock().unwrap().extend(counted);
            Ok(counted)
        })
    }
}

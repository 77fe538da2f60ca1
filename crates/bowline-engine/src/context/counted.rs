//! Token counts by the model's provider.

use std::{sync::Arc, time::Duration};

use bowline_model::{ModelMessage, ModelRequest};
use bowline_protocol::{ContentBlock, TextBlock};
use tokio::time::timeout;

use crate::{session_context::SessionContext, toolset::Toolset};

/// Timeout of counting; after it, estimates are used.
const COUNTING_TIME: Duration = Duration::from_secs(20);

/// The provider's counts, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(super) system: u64,
    pub(super) tools: u64,
    pub(super) messages: u64,
}

/// Requests the counts; `None` if the provider cannot count, or fails.
pub(crate) async fn count(session: &SessionContext) -> Option<Counted> {
    match timeout(COUNTING_TIME, request_counts(session)).await {
        Ok(counted) => counted,
        Err(_) => {
            tracing::debug!("token counts timed out; estimates are used");
            None
        }
    }
}

async fn request_counts(session: &SessionContext) -> Option<Counted> {
    let snapshot = session.model_context.snapshot();
    let connected = session.models.connect_selected().ok()?;
    let system = snapshot.system.into_iter();
    let system: Vec<_> = system.map(|text| TextBlock { text, ..TextBlock::default() }).collect();
    let tools = snapshot.tools.as_deref().map(Toolset::definitions).unwrap_or_default();
    // Providers count conversations only, so an empty one is replaced by the shortest possible.
    let has_begun = !snapshot.messages.is_empty();
    let messages = match has_begun {
        true => snapshot.messages,
        false => vec![Arc::new(ModelMessage::user(vec![ContentBlock::text(".")]))],
    };
    let request = |change: &dyn Fn(&mut ModelRequest)| {
        let mut request = ModelRequest::new(&connected.wire_name);
        request.messages.clone_from(&messages);
        request.betas.clone_from(&session.config.betas);
        change(&mut request);
        connected.model.count_tokens(Arc::new(request))
    };
    let (alone, with_system, with_tools) = tokio::join!(
        request(&|_| {}),
        request(&|request| request.system.clone_from(&system)),
        request(&|request| request.tools = tools.to_vec()),
    );
    let known = |count: Result<Option<u64>, bowline_model::ModelError>| {
        count.inspect_err(|error| tracing::debug!(%error, "tokens cannot be counted")).ok()?
    };
    let (alone, with_system, with_tools) = (known(alone)?, known(with_system)?, known(with_tools)?);
    Some(Counted {
        system: with_system.saturating_sub(alone),
        tools: with_tools.saturating_sub(alone),
        messages: if has_begun { alone } else { 0 },
    })
}

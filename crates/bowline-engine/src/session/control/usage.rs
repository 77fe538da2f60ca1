//! Control requests about context usage, cost and models.

use std::sync::Arc;

use bowline_protocol::{
    ContextDetail, GetContextUsage, ListModelsResponse, RawJson, UsageResponse,
};
use serde_json::json;

use super::{ControlError, ControlReply, ControlResult};
use crate::{catalog, clock::millis, context, session_context::SessionContext};

pub(super) async fn get_context_usage(
    context: &Arc<SessionContext>,
    request: GetContextUsage,
) -> ControlResult {
    context::foresee(context).await;
    let counted = match request.detail {
        Some(ContextDetail::Full) => context::count(context).await,
        None | Some(ContextDetail::Summary) => None,
        Some(other) => {
            let error = format!("get_context_usage: detail is summary or full, not {other}");
            return Err(ControlError::new(error));
        }
    };
    Ok(ControlReply::payload(&context::usage(context, counted)))
}

/// The usage of this session. The limits of a subscription are unknown here.
pub(super) fn get_usage(context: &Arc<SessionContext>) -> ControlResult {
    let ledger = context.usage.ledger();
    let session = json!({
        "total_cost_usd": ledger.total_cost(),
        "total_api_duration_ms": millis(ledger.times().api),
        "total_duration_ms": millis(ledger.times().wall()),
        "total_lines_added": ledger.changes().added,
        "total_lines_removed": ledger.changes().removed,
        "model_usage": ledger.by_model(),
    });
    let session = RawJson::from(session);
    Ok(ControlReply::payload(&UsageResponse { session, ..UsageResponse::default() }))
}

pub(super) fn list_models(context: &Arc<SessionContext>) -> ControlResult {
    let models = catalog::models(context);
    Ok(ControlReply::payload(&ListModelsResponse { models, ..ListModelsResponse::default() }))
}

//! Model requests and streamed responses: Anthropic, OpenAI-compatible, scripted and replayed.
//!
//! One trait, [`Model`]: a [`ModelRequest`] in, a stream of events out. The events
//! have the form of the Messages API for every provider, so that the engine knows one
//! kind of response:
//!
//! | [`ModelRef`] | provider |
//! |---|---|
//! | `claude-…`, `opus`, `anthropic/NAME` | the Anthropic Messages API, or a server that speaks it |
//! | `openai/NAME` | any chat-completions server |
//! | `script`, `script:FILE` | the embedded deterministic model ([`script`]) |
//! | `replay:FILE` | a recording of earlier exchanges ([`replay`]) |
//!
//! [`Providers`] turns a name into a model. Folding events into a message is
//! [`MessageFold`]'s subject, retries and backoff are [`RetryPolicy`]'s, the
//! cost is [`Prices`]'.
//!
//! This crate reads no environment variable and no settings, keeps no history
//! and never retries by itself: the caller decides.

mod anthropic;
mod catalog;
mod error;
mod event;
mod fold;
mod http;
mod model;
mod name;
mod openai;
mod prices;
mod providers;
pub mod replay;
mod request;
mod retry;
pub mod script;
mod secret;
pub mod sse;

pub use anthropic::{Anthropic, AnthropicConfig};
pub use catalog::{DEFAULT_MODEL, KNOWN_MODELS, KnownModel, Thinks, known_model, model_family};
pub use error::{ErrorKind, ModelError};
pub use fold::{Folded, MessageFold, UNPARSED_INPUT};
pub use futures_util::future::BoxFuture;
pub use http::Timeouts;
pub use model::{EventStream, Model};
pub use name::ModelRef;
pub use openai::{LimitField, OpenAi, OpenAiConfig};
pub use prices::{Price, Prices};
pub use providers::Providers;
pub use request::{
    Delivery, Metadata, ModelMessage, ModelRequest, Thinking, ThinkingDisplay, ToolChoice,
    ToolDefinition,
};
pub use retry::RetryPolicy;
pub use secret::Secret;

//! Everything this crate promises, over real sockets and files.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod anthropic_request;
mod anthropic_stream;
mod client;
mod closing;
mod failures;
mod fold;
mod names_and_prices;
mod odd_server;
mod openai_request;
mod openai_stream;
mod providers;
mod replay;
mod retry;
mod script;
mod script_server;
mod sse;
mod sse_fuzz;

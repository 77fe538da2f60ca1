//! The script model: deterministic, offline, controlled by directives in its prompt.
//!
//! # The language
//!
//! A script is lines of text. A line that is none of these is sent as text, so a
//! prompt without directives is echoed.
//!
//! | line | what the model does |
//! |---|---|
//! | `SAY text` | sends it, in a text block of its own, word by word |
//! | `THINK text` | thinks it, in a thinking block with a signature |
//! | `TOOL name {json}` | calls a tool; without JSON the input is `{}` |
//! | `NEXT` | ends this response; what follows is the next one |
//! | `TOKENS n` | sends `n` words of filler |
//! | `DELAY ms` | waits, here |
//! | `ERROR status` | fails with this status; the second attempt succeeds |
//! | `CUT` | breaks the connection in the middle of the block before, each time |
//!
//! For tests there is more:
//!
//! | line | what the model does |
//! |---|---|
//! | `ERRORS status n` | fails the first `n` attempts; all of them if `n` is negative |
//! | `ERRMSG text` | message of the errors of this response |
//! | `RETRYAFTER seconds` | `retry-after` of the errors of this response |
//! | `CUTS n` | like `CUT`, for the first `n` attempts |
//! | `HANG` | falls silent in the middle of the block before |
//! | `STREAMERR type text` | reports an error inside the stream, in the middle of the block before |
//! | `SLOW ms` | waits between the words of this response |
//! | `STOP reason` | gives this stop reason |
//! | `USAGE {json}` | these counts replace the computed ones |
//! | `TOOLRAW name text` | calls a tool with this text instead of JSON |
//! | `REDACTED` | thinks what only the API can read |
//! | `ECHORESULT` | repeats the newest tool result |
//! | `SUMMARY text` | response to a request to summarize the conversation |
//!
//! `CUT`, `HANG` and `STREAMERR` are for streams: a response requested in one piece
//! ignores them.
//!
//! # Where in the script a request is
//!
//! The conversation itself determines it, so the model keeps no state and any number of
//! sessions can share it:
//!
//! - The **prompt** is the newest message of the user with text of its own that
//!   either has directives or holds no tool result. Text in `<system-reminder>` tags
//!   is the engine's, never the user's.
//! - The **script** is the last text block of the prompt that has directives, or else
//!   all its texts.
//! - Each response since the prompt has used up one part, from `NEXT` to `NEXT`. After
//!   the last part the model sends `done`. A part without a block is a response
//!   without content.
//! - With a script file (`script:FILE`), prompts without directives are served by
//!   the file: one part per response since the beginning of the conversation.
//! - A request that ends in a long text without directives is one for a summary.
//!
//! Only failures count attempts: how often the same position was requested before is
//! counted by the model instance.
//!
//! Tokens are counted simply and always the same: a word of output is one token, and
//! so are four bytes of anything else.

mod attempts;
mod directive;
mod model;
mod position;
mod response;
#[cfg(feature = "script-server")]
mod server;
mod tokens;

pub use model::ScriptModel;
#[cfg(feature = "script-server")]
pub use server::{ScriptServer, SeenRequest};

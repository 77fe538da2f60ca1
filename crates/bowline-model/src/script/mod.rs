//! The script model: deterministic, offline, and told what to say by its prompt.
//!
//! # The language
//!
//! A script is lines of text. A line that is none of these is said as it is, so a
//! prompt without directives is echoed.
//!
//! | line | what the model does |
//! |---|---|
//! | `SAY text` | says it, in a text block of its own, word by word |
//! | `THINK text` | thinks it, in a thinking block with a signature |
//! | `TOOL name {json}` | calls a tool; without JSON the input is `{}` |
//! | `NEXT` | ends this answer; what follows answers the next request |
//! | `TOKENS n` | says `n` words of filler |
//! | `DELAY ms` | waits, here |
//! | `ERROR status` | fails with this status; the second attempt succeeds |
//! | `CUT` | breaks the connection in the middle of the block before, each time |
//!
//! For tests there is more:
//!
//! | line | what the model does |
//! |---|---|
//! | `ERRORS status n` | fails the first `n` attempts; all of them if `n` is negative |
//! | `ERRMSG text` | what the errors of this answer say |
//! | `RETRYAFTER seconds` | what the errors of this answer ask to wait |
//! | `CUTS n` | like `CUT`, for the first `n` attempts |
//! | `HANG` | falls silent in the middle of the block before |
//! | `STREAMERR type text` | reports an error inside the stream, in the middle of the block before |
//! | `SLOW ms` | waits between the words of this answer |
//! | `STOP reason` | gives this stop reason |
//! | `USAGE {json}` | these counts replace the computed ones |
//! | `TOOLRAW name text` | calls a tool with this text in place of JSON |
//! | `REDACTED` | thinks what only the API can read |
//! | `ECHORESULT` | repeats the newest tool result |
//! | `SUMMARY text` | what a request to summarize the conversation is answered with |
//!
//! `CUT`, `HANG` and `STREAMERR` are for streams: an answer asked for in one piece
//! ignores them.
//!
//! # Where in the script a request is
//!
//! The conversation itself tells, so the model keeps no state and any number of
//! sessions can share it:
//!
//! - The **prompt** is the newest message of the user with text of its own that
//!   either has directives or holds no tool result. Text in `<system-reminder>` tags
//!   is the engine's, never the user's.
//! - The **script** is the last text block of the prompt that has directives, or else
//!   all its texts.
//! - Each answer since the prompt has used up one part, from `NEXT` to `NEXT`. After
//!   the last part the model says `done`. A part without a block is an answer
//!   without content.
//! - With a script file (`script:FILE`), prompts without directives are answered by
//!   the file: one part per answer since the beginning of the conversation.
//! - A request that ends in a long text without directives is one for a summary.
//!
//! Only failures count attempts: how often the same place has been asked before is
//! remembered by the model that was asked.
//!
//! Tokens are counted simply and always the same: a word of output is one token, and
//! so are four bytes of anything else.

mod answer;
mod attempts;
mod line;
mod model;
mod place;
#[cfg(feature = "script-server")]
mod server;
mod tokens;

pub use model::ScriptModel;
#[cfg(feature = "script-server")]
pub use server::{ScriptServer, SeenRequest};

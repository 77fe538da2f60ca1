//! Messages of an agent, as a stream.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use bowline_protocol::{ContentBlock, Message, ResultSubtype};
use futures_util::{Stream, StreamExt, stream::BoxStream};
use serde::de::DeserializeOwned;

use crate::error::Error;

/// Messages of an agent, as a [`Stream`].
///
/// An error [about one message](Error::is_about_one_message) is followed by others; any other
/// error is the last item.
///
/// Cancel safety: no message is lost when a future that waits for one is dropped.
///
/// ```
/// use bowline_host::{Embedded, Message, Options, query};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), bowline_host::Error> {
/// let options = Options::default().embedded(Embedded::script(std::env::temp_dir()));
/// let mut messages = query("SAY hello", options);
/// while let Some(message) = messages.next().await {
///     match message {
///         Ok(Message::Result(result)) => assert_eq!(result.result.as_deref(), Some("hello")),
///         Ok(other) => println!("{other:?}"),
///         Err(error) if error.is_about_one_message() => eprintln!("skipped: {error}"),
///         Err(error) => return Err(error),
///     }
/// }
/// # Ok(())
/// # }
/// ```
pub struct Messages(BoxStream<'static, Result<Message, Error>>);

impl Messages {
    pub(crate) fn new(
        messages: impl Stream<Item = Result<Message, Error>> + Send + 'static,
    ) -> Self {
        Self(messages.boxed())
    }

    /// The next message.
    pub async fn next(&mut self) -> Option<Result<Message, Error>> {
        self.0.next().await
    }

    /// Reads on to the end and puts the assistant's words together. A run whose last result is a
    /// failure is an [`Error::Failed`].
    pub async fn text(mut self) -> Result<String, Error> {
        let mut text = String::new();
        let mut last = None;
        while let Some(message) = self.next().await {
            match message? {
                Message::Assistant(response) if response.parent_tool_use_id.as_ref().is_none() => {
                    for block in &response.message.content {
                        if let ContentBlock::Text(block) = block {
                            text.push_str(&block.text);
                        }
                    }
                }
                Message::Result(result) => last = Some(result),
                _ => {}
            }
        }
        match last {
            Some(result) if result.is_error => Err(Error::Failed(result)),
            _ => Ok(text),
        }
    }

    /// Reads on to the end and gives the result's structured output as a type of yours: what
    /// [`output_schema`](crate::GenerationOptions::output_schema) requests. No output, or one of
    /// another shape, is an [`Error::Output`]; a run that failed otherwise, an [`Error::Failed`].
    pub async fn output<T: DeserializeOwned>(mut self) -> Result<T, Error> {
        let mut last = None;
        while let Some(message) = self.next().await {
            if let Message::Result(result) = message? {
                last = Some(result);
            }
        }
        let result = last.ok_or_else(|| Error::Output("there is no result".to_owned()))?;
        if let Some(output) = result.structured_output.as_ref() {
            return output.parse().map_err(|error| {
                Error::Output(format!("the output does not have the shape it should: {error}"))
            });
        }
        let gave_up = result.subtype == ResultSubtype::ErrorMaxStructuredOutputRetries;
        if result.is_error && !gave_up {
            return Err(Error::Failed(result));
        }
        let text = result.result.as_deref().unwrap_or(result.subtype.as_str());
        Err(Error::Output(format!("the result has no structured output: {text}")))
    }
}

impl Stream for Messages {
    type Item = Result<Message, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(context)
    }
}

impl fmt::Debug for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Messages")
    }
}

//! What an agent says, as a stream.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use bowline_protocol::{ContentBlock, Message};
use futures_util::{Stream, StreamExt, stream::BoxStream};

use crate::Error;

/// What an agent says, as a [`Stream`].
///
/// An error [about one message](Error::is_about_one_message) is followed by others; any other
/// error is the last item.
///
/// Cancel safety: no message is lost when a future that waits for one is dropped.
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

    /// Reads on to the end and puts the assistant's words together.
    pub async fn text(mut self) -> Result<String, Error> {
        let mut text = String::new();
        while let Some(message) = self.next().await {
            if let Message::Assistant(answer) = message?
                && answer.parent_tool_use_id.as_ref().is_none()
            {
                for block in &answer.message.content {
                    if let ContentBlock::Text(block) = block {
                        text.push_str(&block.text);
                    }
                }
            }
        }
        Ok(text)
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

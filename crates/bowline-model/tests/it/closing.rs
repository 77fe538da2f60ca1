//! Dropping closes the connection, at every point.

use std::sync::Arc;

use bowline_model::Model;
use futures_util::{FutureExt, StreamExt};

use crate::{
    asking::{anthropic, openai, prompt},
    odd_server::{OddServer, Step, stream_head},
};

const START: &str = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\
                     \"msg_1\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[]}}\n\n";

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let steps = vec![stream_head(), Step::Chunk(START.into()), Step::Hold];
    let mut server = OddServer::once(steps).await;
    let model = anthropic(&server.url);
    let mut stream = model.stream(Arc::new(prompt("hi"))).await.unwrap();
    assert!(stream.next().await.unwrap().is_ok());
    assert!(stream.next().now_or_never().is_none(), "the rest is still to come");
    drop(stream);
    server.client_gone().await;
}

#[tokio::test]
async fn dropping_the_request_closes_the_connection() {
    let mut server = OddServer::once(vec![Step::Hold]).await;
    let model = openai(&server.url);
    let mut asking = model.stream(Arc::new(prompt("hi")));
    tokio::select! {
        _ = &mut asking => panic!("the server never answers"),
        _ = server.request() => {}
    }
    drop(asking);
    server.client_gone().await;
}

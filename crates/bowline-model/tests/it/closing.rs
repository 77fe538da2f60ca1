//! Dropping closes the connection, at every point.

use std::sync::Arc;

use bowline_model::Model;
use bowline_protocol::StreamEvent;
use futures_util::{FutureExt, StreamExt};

use crate::{
    client::{anthropic, openai, prompt},
    odd_server::{OddServer, PATIENCE, Step, lasting_stream_head, stream_head},
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
    let mut client = model.stream(Arc::new(prompt("hi")));
    tokio::select! {
        _ = &mut client => panic!("the server never answers"),
        _ = server.request() => {}
    }
    drop(client);
    server.client_gone().await;
}

#[tokio::test]
async fn connection_is_reused_after_a_complete_response() {
    let stop = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
    let response = || {
        let body = [START, stop].concat();
        vec![lasting_stream_head(), Step::Chunk(body.into()), Step::End]
    };
    let mut server = OddServer::on_one_connection(vec![response(), response(), response()]).await;
    let model = anthropic(&server.url);
    for _ in 0..3 {
        // A second connection would wait for ever; the server takes no other.
        let client = model.stream(Arc::new(prompt("hi")));
        let mut stream = tokio::time::timeout(PATIENCE, client).await.unwrap().unwrap();
        // Nobody waits for more than the last event.
        while !matches!(stream.next().await.unwrap().unwrap(), StreamEvent::MessageStop(_)) {}
        drop(stream);
        server.request().await;
    }
}

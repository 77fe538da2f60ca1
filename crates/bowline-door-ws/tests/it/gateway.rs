//! Hosts behind a proxy, whom the agent can reach in no other way.

use bowline_door_ws::{ConnectionEnd, ConnectionFailure, DialError, Dialer, Proxies, Proxy};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use crate::{
    plain_host::Connection,
    rig::{Agent, Talk, quick, soon},
};

/// A dialer of a host that has no address here, by way of a proxy.
fn dialer(gateway: &TcpListener) -> Dialer {
    let mut dialer = Dialer::new("ws://host.invalid:8080/agents/1".parse().unwrap());
    let mut proxies = Proxies::default();
    let port = gateway.local_addr().unwrap().port();
    proxies.http = Some(format!("http://me:secret@127.0.0.1:{port}"));
    dialer.proxy = proxies.proxy_for(&dialer.address).unwrap();
    dialer
}

/// What the next one to come asks the proxy for.
async fn asked(gateway: &TcpListener) -> (TcpStream, String) {
    let (mut stream, _) = soon("a dial", gateway.accept()).await.unwrap();
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(soon("a request", stream.read_u8()).await.unwrap());
    }
    (stream, String::from_utf8(request).unwrap())
}

#[tokio::test]
async fn a_proxy_is_asked_for_the_host_by_its_name() {
    let gateway = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut agent = Agent::with(dialer(&gateway), quick(), Talk::Whole);
    let (mut stream, request) = asked(&gateway).await;
    let expected = "CONNECT host.invalid:8080 HTTP/1.1\r\nHost: host.invalid:8080\r\n\
                    Proxy-Authorization: Basic bWU6c2VjcmV0\r\n\r\n";
    assert_eq!(request, expected);
    stream.write_all(b"HTTP/1.1 200 Connection established\r\nVia: gateway\r\n\r\n").await.unwrap();
    // From here on the proxy is the host.
    let mut connection = Connection::over(stream, None).await.unwrap();
    assert_eq!(connection.path, "/agents/1");
    assert_eq!(connection.header("host"), Some("host.invalid:8080"));
    assert_eq!(connection.header("proxy-authorization"), None);
    connection.prompt("u1", "SAY from behind").await;
    assert_eq!(connection.await_kind("result").await["result"], "from behind");
    connection.hang_up().await;
    assert!(matches!(agent.end().await.1, ConnectionEnd::Closed));
}

#[tokio::test]
async fn a_proxy_that_refuses_is_named_without_its_password() {
    let gateway = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let dialer = dialer(&gateway);
    let named = dialer.proxy.as_ref().map(Proxy::to_string).unwrap();
    let mut policy = quick();
    policy.attempts = 0;
    // Not even a proxy that answers as the host would when it is over ends the session in order.
    for (answer, expected) in [
        ("HTTP/1.1 407 Who are you\r\n\r\n", "responded with status 407"),
        ("HTTP/1.1 410 Gone\r\n\r\n", "responded with status 410"),
        ("220 mail ready\r\n\r\n", "does not speak HTTP"),
    ] {
        let mut agent = Agent::with(dialer.clone(), policy.clone(), Talk::Whole);
        let (mut stream, _) = asked(&gateway).await;
        stream.write_all(answer.as_bytes()).await.unwrap();
        let ending = agent.end().await.1;
        let ConnectionEnd::AttemptsExhausted { failure: ConnectionFailure::Dial(error), .. } =
            ending
        else {
            panic!("{ending:?}")
        };
        assert!(matches!(error, DialError::Proxy { .. }), "{error:?}");
        assert_eq!(error.to_string(), format!("the proxy {named} {expected}"));
    }
}

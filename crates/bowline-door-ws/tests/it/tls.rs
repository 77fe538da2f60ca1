//! Hosts that prove who they are.

use std::{path::PathBuf, sync::Arc};

use bowline_door_ws::{ConnectionEnd, ConnectionFailure, DialError, Dialer, Roots};
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_tungstenite::accept_async;

use crate::rig::{Agent, Talk, quick, soon};

/// A file beside the tests: an authority, and a server that it vouches for as `localhost`.
fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/tls").join(name)
}

fn acceptor() -> TlsAcceptor {
    let chain = CertificateDer::pem_file_iter(file("server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(file("server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain.map(Result::unwrap).collect(), key)
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

fn dialer(listener: &TcpListener, roots: Roots) -> Dialer {
    let port = listener.local_addr().unwrap().port();
    let mut dialer = Dialer::new(format!("wss://localhost:{port}/").parse().unwrap());
    dialer.roots = roots;
    dialer
}

#[tokio::test]
async fn an_authority_that_was_given_is_believed() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let dialer = dialer(&listener, Roots::File(file("authority.pem")));
    let mut agent = Agent::with(dialer, quick(), Talk::Whole);
    let (stream, _) = soon("a dial", listener.accept()).await.unwrap();
    let stream = acceptor().accept(stream).await.unwrap();
    let mut socket = accept_async(stream).await.unwrap();
    socket.close(Some(crate::plain_host::goodbye(1000))).await.unwrap();
    assert!(matches!(agent.end().await.1, ConnectionEnd::Closed));
}

#[tokio::test]
async fn whom_nobody_vouches_for_is_not_talked_to() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.pem");
    std::fs::write(&empty, "").unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    for roots in [Roots::System, Roots::File(empty)] {
        let mut policy = quick();
        policy.attempts = 0;
        let mut agent = Agent::with(dialer(&listener, roots.clone()), policy, Talk::Whole);
        if roots == Roots::System {
            let (stream, _) = soon("a dial", listener.accept()).await.unwrap();
            assert!(acceptor().accept(stream).await.is_err());
        }
        let ending = agent.end().await.1;
        let ConnectionEnd::AttemptsExhausted {
            failure: ConnectionFailure::Dial(error),
            connected: false,
            ..
        } = ending
        else {
            panic!("{ending:?}")
        };
        // A system without any authorities believes nobody, either.
        assert!(matches!(error, DialError::Tls(_) | DialError::Roots(_)), "{error}");
    }
}

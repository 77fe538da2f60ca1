//! An agent with the script model, behind the door under test, in this process.

use std::{
    fs::{File, OpenOptions},
    path::PathBuf,
    process::Command,
    sync::Arc,
    time::Duration,
};

use bowline_door_ws::{
    ConnectionEnd, Dialer, InputError, KeepAlive, Opening, ReconnectPolicy, open,
};
use bowline_engine::{PermissionPrompts, Session, SessionConfig, SessionEnd};
use bowline_model::Providers;
use tempfile::TempDir;
use tokio::{task::JoinHandle, time};

/// Longer than anything here takes; a test that waits this long has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Whether messages are also said while they grow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Talk {
    Whole,
    InPieces,
}

/// An agent under test.
pub(crate) struct Agent {
    folder: TempDir,
    running: JoinHandle<(Result<SessionEnd, InputError>, ConnectionEnd)>,
}

impl Agent {
    /// An agent that dials this URL.
    pub(crate) fn dialing(url: &str, policy: ReconnectPolicy) -> Self {
        Self::with(Dialer::new(url.parse().unwrap()), policy, Talk::Whole)
    }

    pub(crate) fn with(mut dialer: Dialer, policy: ReconnectPolicy, talk: Talk) -> Self {
        dialer.limit = dialer.limit.min(Duration::from_secs(2));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        let mut config = SessionConfig::new(path, Arc::new(Providers::new()), "script");
        config.permission_prompts = PermissionPrompts::Host;
        config.include_partial_messages = talk == Talk::InPieces;
        // Hosts insist on one that they know.
        config.version = "2.1.325".to_owned();
        let (door, reconnector) = open(dialer, policy, Opening::Free);
        let (session, work) = Session::start(config, door.host()).unwrap();
        let served = door.serve(session, work);
        let running = tokio::spawn(async { tokio::join!(served, reconnector.run()) });
        Self { folder, running }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What a file in its folder says.
    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap_or_default()
    }

    /// A file in its folder that blocks its reader.
    pub(crate) fn gate(&self) -> PathBuf {
        let gate = self.file("gate");
        assert!(Command::new("mkfifo").arg(&gate).status().unwrap().success());
        gate
    }

    /// Waits until it has ended.
    pub(crate) async fn end(&mut self) -> (Result<SessionEnd, InputError>, ConnectionEnd) {
        soon("the agent's end", &mut self.running).await.unwrap()
    }
}

/// Quick to dial again, and patient with a host that is there.
pub(crate) fn quick() -> ReconnectPolicy {
    let mut policy = ReconnectPolicy::default();
    policy.first_wait = Duration::from_millis(5);
    policy.longest_wait = Duration::from_millis(20);
    policy.keep_alive = KeepAlive { ping: Duration::from_millis(500), silence: PATIENCE };
    policy
}

/// Fails a test that hangs.
pub(crate) async fn soon<T>(what: &str, work: impl Future<Output = T>) -> T {
    match time::timeout(PATIENCE, work).await {
        Ok(done) => done,
        Err(_) => panic!("{what} hangs"),
    }
}

/// Waits until somebody reads from a gate. Dropping the file lets them through.
pub(crate) async fn reader(gate: PathBuf) -> File {
    let open = move || OpenOptions::new().write(true).open(gate).unwrap();
    soon("a reader", tokio::task::spawn_blocking(open)).await.unwrap()
}

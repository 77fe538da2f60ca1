//! Cache of files read from disk, snapshot of the last request, and count of dropped tokens.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use bowline_model::ModelMessage;
use bowline_protocol::AgentId;
use parking_lot::{Mutex, MutexGuard};

use super::{
    environment::Environment,
    memory::{MemoryFile, MemoryReader},
    repository::{self, Look},
};
use crate::{config::SessionConfig, settings::ProjectTrust, toolset::Toolset};

/// The state of a session's context.
#[derive(Default)]
pub(crate) struct ContextState {
    conversation: Mutex<OfConversation>,
    snapshot: Mutex<Snapshot>,
    compactions: Mutex<Compactions>,
}

/// State that is reset when the conversation is cleared or compacted.
#[derive(Default)]
struct OfConversation {
    loaded: Option<Arc<Loaded>>,
    reader: Option<MemoryReader>,
    reason: LoadReason,
    status: Status,
}

/// The files read from disk.
pub(crate) struct Loaded {
    pub(crate) memory: Vec<MemoryFile>,
    pub(crate) environment: Environment,
}

/// The context of the last model request.
#[derive(Clone, Default)]
pub(crate) struct Snapshot {
    pub(crate) system: Vec<String>,
    pub(crate) messages: Vec<Arc<ModelMessage>>,
    pub(crate) tools: Option<Arc<Toolset>>,
}

/// Totals of the compactions so far.
#[derive(Debug, Default)]
pub(crate) struct Compactions {
    /// Tokens dropped by all of them.
    pub(crate) dropped_tokens: u64,
    /// The prompt whose turn last overflowed, and the agents that were compacted for it.
    pub(crate) overflowed: (Option<String>, Vec<Option<AgentId>>),
}

/// The reason for reading instructions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum LoadReason {
    #[default]
    SessionStart,
    Compact,
    NestedTraversal,
    PathGlobMatch,
    Include,
}

impl LoadReason {
    /// The name in hook inputs.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::SessionStart => "session_start",
            Self::Compact => "compact",
            Self::NestedTraversal => "nested_traversal",
            Self::PathGlobMatch => "path_glob_match",
            Self::Include => "include",
        }
    }
}

/// State of the repository for the model.
#[derive(Default)]
enum Status {
    /// Not needed yet.
    #[default]
    Unknown,
    /// Being read.
    Looking(Look),
    /// The model has it, or there are no changes.
    Told,
}

impl ContextState {
    /// The files read from disk; with the reason if this call has read them.
    pub(crate) fn load(
        &self,
        config: &SessionConfig,
        home: Option<PathBuf>,
        trust: &ProjectTrust,
    ) -> (Arc<Loaded>, Option<LoadReason>) {
        let mut conversation = self.conversation.lock();
        if let Some(loaded) = &conversation.loaded {
            return (Arc::clone(loaded), None);
        }
        let mut reader = MemoryReader::new(home, trust.clone());
        let memory = reader.read_all(&config.places, &config.cwd, config.sources);
        let environment = Environment::look(config.cwd.clone());
        let loaded = Arc::new(Loaded { memory, environment });
        conversation.loaded = Some(Arc::clone(&loaded));
        conversation.reader = Some(reader);
        (loaded, Some(conversation.reason))
    }

    /// The files, if they were read.
    pub(crate) fn loaded(&self) -> Option<Arc<Loaded>> {
        self.conversation.lock().loaded.clone()
    }

    /// Discards the cache, so that the next call reads everything again.
    pub(crate) fn forget(&self, reason: LoadReason) {
        let mut conversation = self.conversation.lock();
        let status = match reason {
            LoadReason::Compact => std::mem::take(&mut conversation.status),
            _ => Status::Unknown,
        };
        *conversation = OfConversation { reason, status, ..OfConversation::default() };
    }

    /// Reads the instructions of the folders between the session's folder and a file, and the rules
    /// about that file.
    pub(crate) fn read_nested(&self, config: &SessionConfig, file: &Path) -> Vec<MemoryFile> {
        let Ok(inside) = file.strip_prefix(&config.cwd) else { return Vec::new() };
        let mut conversation = self.conversation.lock();
        let Some(reader) = &mut conversation.reader else { return Vec::new() };
        let mut folder = config.cwd.clone();
        let mut files = Vec::new();
        for part in inside.parent().into_iter().flat_map(Path::components) {
            folder.push(part);
            files.extend(reader.read_folder(&folder, config.sources));
        }
        files.extend(reader.take_rules_about(file));
        files
    }

    /// Starts reading the state of the repository, once.
    pub(crate) fn look_at_repository(&self) {
        let mut conversation = self.conversation.lock();
        let Some(loaded) = conversation.loaded.clone() else { return };
        if let Status::Unknown = conversation.status {
            conversation.status = match &loaded.environment.repository {
                Some(repository) => Status::Looking(repository::look(&repository.top)),
                None => Status::Told,
            };
        }
    }

    /// The changes in the repository; returned once.
    pub(crate) async fn take_status(&self) -> Option<String> {
        let look = {
            let mut conversation = self.conversation.lock();
            match std::mem::replace(&mut conversation.status, Status::Told) {
                Status::Looking(look) => look,
                other => {
                    conversation.status = other;
                    return None;
                }
            }
        };
        look.await.ok().flatten()
    }

    pub(crate) fn note(&self, snapshot: Snapshot) {
        *self.snapshot.lock() = snapshot;
    }

    /// The context of the last model request.
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.snapshot.lock().clone()
    }

    pub(crate) fn compactions(&self) -> MutexGuard<'_, Compactions> {
        self.compactions.lock()
    }
}

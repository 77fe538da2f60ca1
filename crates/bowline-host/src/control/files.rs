//! Files as the agent sees them.

use std::time::{SystemTime, UNIX_EPOCH};

use bowline_protocol::{
    Extra, MessageUuid, ReadFile, ReadFileResponse, RewindFiles, RewindFilesResponse, SeedReadState,
};

use crate::{Client, Error};

impl Client {
    /// Puts files back as they were before a prompt. Needs
    /// [`file_checkpointing`](crate::SessionOptions::file_checkpointing) and the prompt's uuid.
    pub async fn rewind_files(
        &self,
        prompt: impl Into<MessageUuid>,
    ) -> Result<RewindFilesResponse, Error> {
        self.request(RewindFiles { user_message_id: prompt.into(), ..RewindFiles::default() }).await
    }

    /// What [`rewind_files`](Self::rewind_files) would do.
    pub async fn preview_rewind(
        &self,
        prompt: impl Into<MessageUuid>,
    ) -> Result<RewindFilesResponse, Error> {
        let dry_run = Some(true);
        self.request(RewindFiles {
            user_message_id: prompt.into(),
            dry_run,
            ..RewindFiles::default()
        })
        .await
    }

    /// Reads a file where the agent works.
    pub async fn read_file(&self, path: impl Into<String>) -> Result<ReadFileResponse, Error> {
        self.request(ReadFile { path: path.into(), ..ReadFile::default() }).await
    }

    /// Reads at most this many bytes of a file where the agent works.
    pub async fn read_file_start(
        &self,
        path: impl Into<String>,
        max_bytes: u64,
    ) -> Result<ReadFileResponse, Error> {
        let (path, max_bytes) = (path.into(), Some(max_bytes));
        self.request(ReadFile { path, max_bytes, ..ReadFile::default() }).await
    }

    /// Reads at most this many bytes of a file that need not be text. They come in base 64.
    pub async fn read_file_in_base64(
        &self,
        path: impl Into<String>,
        max_bytes: u64,
    ) -> Result<ReadFileResponse, Error> {
        let (path, max_bytes) = (path.into(), Some(max_bytes));
        let encoding = Some("base64".to_owned());
        self.request(ReadFile { path, max_bytes, encoding, ..ReadFile::default() }).await
    }

    /// Has the agent take a file for read as it was at this time, so that it may edit it.
    pub async fn seed_read_state(
        &self,
        path: impl Into<String>,
        changed: SystemTime,
    ) -> Result<(), Error> {
        let since = changed.duration_since(UNIX_EPOCH).unwrap_or_default();
        let mtime = u64::try_from(since.as_millis()).unwrap_or(u64::MAX).into();
        let call = SeedReadState { path: path.into(), mtime, extra: Extra::new() };
        self.request(call).await.map(|_| ())
    }
}

//! Stored logins: one file for each server, readable by its owner only.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use async_trait::async_trait;
use rmcp::transport::auth::{
    AuthError, CredentialRefreshGuard, CredentialStore, StoredCredentials,
};
use serde::{Deserialize, Serialize};

/// The file of one server's login.
#[derive(Debug, Clone)]
pub(crate) struct LoginFile {
    path: PathBuf,
    /// The server. What is kept for another address under the same name is not for this one.
    url: String,
}

/// What is in the file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Kept {
    url: String,
    /// The secret of a client that was registered for this login.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) client_secret: Option<String>,
    /// Scopes that the server wanted since: the next login asks for them too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) wanted_scopes: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) credentials: Option<StoredCredentials>,
}

impl LoginFile {
    pub(crate) fn new(folder: &Path, server: &str, url: &str) -> Self {
        Self { path: folder.join(file_name(server)), url: url.to_owned() }
    }

    /// What is kept. An invalid file is treated as absent: the user logs in again.
    pub(crate) fn read(&self) -> io::Result<Option<Kept>> {
        let text = match fs::read(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let kept = serde_json::from_slice::<Kept>(&text)
            .inspect_err(|error| tracing::warn!(%error, path = %self.path.display(), "not a login"))
            .ok();
        Ok(kept.filter(|kept| kept.url == self.url))
    }

    /// Changes what is kept. Readers see the old or the new file, never half of one.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Kept)) -> io::Result<()> {
        let mut kept = self.read()?.unwrap_or_default();
        kept.url.clone_from(&self.url);
        change(&mut kept);
        let folder = self.path.parent().unwrap_or(Path::new("."));
        bowline_private::folder(folder)?;
        bowline_private::replace(&self.path, serde_json::to_vec(&kept)?)
    }

    /// Forgets the login.
    pub(crate) fn remove(&self) -> io::Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }
}

/// Each name has a file of its own, whatever is in it.
fn file_name(server: &str) -> String {
    let mut name = String::with_capacity(server.len() + 5);
    for byte in server.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => name.push(byte.into()),
            _ => name.push_str(&format!("%{byte:02X}")),
        }
    }
    name + ".json"
}

#[async_trait]
impl CredentialStore for LoginFile {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        Ok(self.read().map_err(lost)?.and_then(|kept| kept.credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        self.change(|kept| kept.credentials = Some(credentials)).map_err(lost)
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.remove().map_err(lost)
    }

    /// Many servers accept a refresh token once: two processes must not use the same one.
    async fn acquire_refresh_guard(&self) -> Result<Option<CredentialRefreshGuard>, AuthError> {
        let path = self.path.with_extension("lock");
        let lock = move || -> io::Result<File> {
            let mut options = OpenOptions::new();
            options.create(true).truncate(false).write(true);
            let file = bowline_private::open(&path, &mut options)?;
            file.lock()?;
            Ok(file)
        };
        let locked = tokio::task::spawn_blocking(lock).await.map_err(io::Error::other);
        let file = locked.flatten().map_err(lost)?;
        Ok(Some(CredentialRefreshGuard::new(file)))
    }
}

fn lost(error: io::Error) -> AuthError {
    AuthError::CredentialStoreError(error.to_string())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn kept(file: &LoginFile) -> Option<Vec<String>> {
        file.read().unwrap().map(|kept| kept.wanted_scopes)
    }

    #[test]
    fn a_login_is_for_its_owner_and_its_address_only() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("mcp-logins");
        let file = LoginFile::new(&folder, "my server", "https://a/mcp");
        assert_eq!(kept(&file), None);
        file.change(|kept| kept.wanted_scopes.push("x".to_owned())).unwrap();
        assert_eq!(kept(&file), Some(vec!["x".to_owned()]));

        let path = folder.join("my%20server.json");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(&folder)), (0o600, 0o700));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing is left beside it");

        assert_eq!(kept(&LoginFile::new(&folder, "my server", "https://b/mcp")), None);
        assert_eq!(kept(&LoginFile::new(&folder, "my_server", "https://a/mcp")), None);
        file.remove().unwrap();
        file.remove().unwrap();
        assert_eq!(kept(&file), None);
    }

    #[test]
    fn an_invalid_file_is_no_login() {
        let home = tempfile::tempdir().unwrap();
        let file = LoginFile::new(home.path(), "s", "https://a");
        fs::write(home.path().join("s.json"), "{nonsense").unwrap();
        assert_eq!(kept(&file), None);
        file.change(|kept| kept.wanted_scopes.push("x".to_owned())).unwrap();
        assert_eq!(kept(&file), Some(vec!["x".to_owned()]));
    }
}

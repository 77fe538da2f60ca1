//! One login: the page on which the user agrees, and what the browser brings back.

use bowline_protocol::{McpOauth, McpRemoteServer};
use reqwest::{Client, Url};
use rmcp::transport::auth::{
    AuthorizationManager, AuthorizationMetadata, OAuthClientConfig, WWWAuthenticateParams,
};

use super::{LoginError, LoginFile, authority::find_authority};

/// What authorization servers show users for our name.
const CLIENT_NAME: &str = "Bowline";

/// The scope that lets a login outlive its first token.
const OFFLINE_ACCESS: &str = "offline_access";

/// A login that waits for its user.
pub(crate) struct Login {
    manager: AuthorizationManager,
    file: LoginFile,
    /// The secret of a client that was registered for this login.
    client_secret: Option<String>,
    pub(crate) url: String,
    pub(crate) state: String,
}

/// What a server said when it refused us, as far as it said anything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The `WWW-Authenticate` header of its refusal.
    pub(crate) challenge: Option<String>,
    /// Scopes that the present login does not have.
    pub(crate) scopes: Vec<String>,
}

impl Login {
    /// Finds out how to log in, and makes the page's address. `redirect_uri` is where the browser
    /// is to come back to.
    pub(crate) async fn begin(
        server: &McpRemoteServer,
        file: LoginFile,
        challenge: Option<&str>,
        redirect_uri: &str,
        client: &Client,
    ) -> Result<Self, LoginError> {
        let oauth = server.oauth.clone().unwrap_or_default();
        let mut manager = AuthorizationManager::new(server.url.as_str()).await?;
        manager.set_credential_store(file.clone());
        let metadata = find_authority(&manager, &server.url, challenge, client).await?;
        manager.set_metadata(metadata.clone());

        let scopes = scopes(&oauth, &file, &metadata, &manager).await?;
        let scopes: Vec<_> = scopes.iter().map(String::as_str).collect();
        let own_client = own_client(&oauth, &metadata, redirect_uri);
        let client_secret = match own_client {
            Some(client) => {
                manager.configure_client(client)?;
                None
            }
            None => {
                let registered = manager.register_client(CLIENT_NAME, redirect_uri, &scopes).await;
                registered.map_err(|error| LoginError::NoClient(error.to_string()))?.client_secret
            }
        };
        let url = manager.get_authorization_url(&scopes).await?;
        let state = parameter(&url, "state").unwrap_or_default();
        Ok(Self { manager, file, client_secret, url, state })
    }

    /// Whether the address that the browser came back to is of this login, and says yes or no.
    pub(crate) fn check(&self, callback_url: &str) -> Result<(), LoginError> {
        let says = |name| parameter(callback_url, name);
        if says("code").is_none() && says("error").is_none() {
            return Err(LoginError::NoCode);
        }
        match says("state").as_ref() == Some(&self.state) {
            true => Ok(()),
            false => Err(LoginError::OtherLogin),
        }
    }

    /// Trades what the browser brought back, which was [checked](Self::check), for tokens and
    /// keeps them.
    pub(crate) async fn finish(&self, callback_url: &str) -> Result<(), LoginError> {
        let says = |name| parameter(callback_url, name);
        if let Some(error) = says("error") {
            return Err(LoginError::Refused(says("error_description").unwrap_or(error)));
        }
        let code = says("code").ok_or(LoginError::NoCode)?;
        let issuer = says("iss");
        self.manager
            .exchange_code_for_token_with_issuer(&code, &self.state, issuer.as_deref())
            .await?;
        self.file.change(|kept| {
            kept.client_secret.clone_from(&self.client_secret);
            kept.wanted_scopes.clear();
        })?;
        Ok(())
    }
}

/// What to ask for: what the configuration says; else what the last login had and what the server
/// wanted since; else what the server names.
async fn scopes(
    oauth: &McpOauth,
    file: &LoginFile,
    metadata: &AuthorizationMetadata,
    manager: &AuthorizationManager,
) -> Result<Vec<String>, LoginError> {
    if let Some(scopes) = &oauth.scopes {
        return Ok(scopes.split_whitespace().map(str::to_owned).collect());
    }
    let kept = file.read()?.filter(|kept| !kept.wanted_scopes.is_empty());
    let Some(kept) = kept else { return Ok(manager.select_initial_scopes(&[]).await) };
    let mut scopes = kept.credentials.map_or_else(Vec::new, |had| had.granted_scopes);
    let offered = metadata.scopes_supported.iter().flatten();
    let offline = offered.filter(|scope| *scope == OFFLINE_ACCESS).cloned();
    for scope in kept.wanted_scopes.into_iter().chain(offline) {
        if !scopes.contains(&scope) {
            scopes.push(scope);
        }
    }
    Ok(scopes)
}

/// The client that we are without registering, if there is one.
fn own_client(
    oauth: &McpOauth,
    metadata: &AuthorizationMetadata,
    redirect_uri: &str,
) -> Option<OAuthClientConfig> {
    let reads_documents = metadata.additional_fields.get("client_id_metadata_document_supported");
    let reads_documents = reads_documents.and_then(serde_json::Value::as_bool) == Some(true);
    let document = oauth.client_metadata_url.as_ref().filter(|_| reads_documents);
    let id = oauth.client_id.as_ref().or(document)?;
    let client = OAuthClientConfig::new(id, redirect_uri);
    Some(match oauth.client_secret.as_ref().filter(|_| oauth.client_id.is_some()) {
        Some(secret) => client.with_client_secret(secret),
        None => client,
    })
}

fn parameter(url: &str, name: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

impl Wanted {
    /// What a refusal with this header wants.
    pub(crate) fn new(challenge: Option<String>, url: &str) -> Self {
        let read = challenge.as_deref().zip(Url::parse(url).ok());
        let read = read.map(|(header, url)| WWWAuthenticateParams::parse(header, &url));
        let more = read.filter(WWWAuthenticateParams::is_insufficient_scope);
        let scopes = more.and_then(|read| read.scope).unwrap_or_default();
        Self { challenge, scopes: scopes.split_whitespace().map(str::to_owned).collect() }
    }
}

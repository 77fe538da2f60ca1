//! Connections that say who the user is.

use bowline_protocol::{McpGrantType, McpOauth, McpRemoteServer};
use reqwest::Client;
use rmcp::transport::auth::{AuthClient, AuthError, AuthorizationManager, OAuthClientConfig};

use super::{LoginFile, authority::find_authority, unattended};

/// A client that sends the tokens of a login and refreshes them; `None` if there is no login.
///
/// The authorization server is asked again each time who it is: one that has changed gets no
/// tokens of its predecessor.
pub(crate) async fn authorized(
    server: &McpRemoteServer,
    file: Option<&LoginFile>,
    client: &Client,
) -> Result<Option<AuthClient<Client>>, AuthError> {
    let oauth = server.oauth.clone().unwrap_or_default();
    let manager = match oauth.grant_type {
        Some(McpGrantType::ClientCredentials) => {
            Some(unattended::as_itself(server, &oauth, client).await?)
        }
        Some(McpGrantType::JwtBearer) => {
            Some(unattended::vouched_for(server, &oauth, client).await?)
        }
        Some(McpGrantType::AuthorizationCode) | None => {
            kept_login(server, &oauth, file, client).await?
        }
    };
    Ok(manager.map(|manager| AuthClient::new(client.clone(), manager)))
}

/// The login of a user, if there was one.
async fn kept_login(
    server: &McpRemoteServer,
    oauth: &McpOauth,
    file: Option<&LoginFile>,
    client: &Client,
) -> Result<Option<AuthorizationManager>, AuthError> {
    let Some(file) = file else { return Ok(None) };
    let kept = file.read().map_err(|error| AuthError::CredentialStoreError(error.to_string()))?;
    let Some((credentials, secret)) =
        kept.and_then(|kept| Some((kept.credentials?, kept.client_secret)))
    else {
        return Ok(None);
    };
    let mut manager = AuthorizationManager::new(server.url.as_str()).await?;
    manager.set_metadata(find_authority(&manager, &server.url, None, client).await?);
    manager.set_credential_store(file.clone());
    if !manager.initialize_from_store().await? {
        return Ok(None);
    }
    // A client with a secret needs it to refresh.
    let configured = oauth.client_secret.clone().filter(|_| oauth.client_id.is_some());
    if let Some(secret) = configured.or(secret) {
        // No browser is redirected from here, so the address does not matter.
        let client = OAuthClientConfig::new(credentials.client_id, server.url.as_str());
        manager.configure_client(client.with_client_secret(secret))?;
    }
    Ok(Some(manager))
}

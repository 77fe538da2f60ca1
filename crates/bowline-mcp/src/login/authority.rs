//! Finding who lets users of a server in.

use reqwest::{Client, StatusCode, Url};
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, WWWAuthenticateParams,
};

/// What a server says about its authority, since the protocol's second version.
const RESOURCE: &str = "/.well-known/oauth-protected-resource";

/// What an authority says about itself.
const AUTHORITY: &str = "/.well-known/oauth-authorization-server";

/// What the authority of a server says about itself. `challenge` is the header with which the
/// server refused us.
///
/// An authority must have the name under which it was found (RFC 8414, 3.3). Servers of the
/// protocol's first version, which do not say who their authority is, are their own: there the
/// name may have a path more than the address that the first version prescribes.
pub(super) async fn find_authority(
    manager: &AuthorizationManager,
    server_url: &str,
    challenge: Option<&str>,
    client: &Client,
) -> Result<AuthorizationMetadata, AuthError> {
    let error = match manager.resolve_metadata_from_challenge(challenge).await {
        Ok(found) => return Ok(found.metadata),
        Err(error) => error,
    };
    let AuthError::AuthorizationServerMismatch { received_issuer, .. } = &error else {
        return Err(error);
    };
    let Ok(server) = Url::parse(server_url) else { return Err(error) };
    let is_itself = Url::parse(received_issuer).is_ok_and(|name| name.origin() == server.origin());
    let names_another = challenge.is_some_and(|it| {
        WWWAuthenticateParams::parse(it, &server).resource_metadata_url.is_some()
    });
    if !is_itself || names_another || describes_itself(&server, client).await {
        return Err(error);
    }
    let metadata = client.get(at(&server, AUTHORITY)).send().await;
    let unreadable = |error: String| {
        AuthError::MetadataError(format!("the authority's description cannot be read: {error}"))
    };
    let body = super::body::read(metadata.map_err(|_| error)?).await.map_err(unreadable)?;
    serde_json::from_slice(&body).map_err(|error| unreadable(error.to_string()))
}

/// Whether a server says who its authority is.
async fn describes_itself(server: &Url, client: &Client) -> bool {
    let path = server.path().trim_end_matches('/');
    for path in [format!("{RESOURCE}{path}"), RESOURCE.to_owned()] {
        let response = client.get(at(server, &path)).send().await;
        if response.is_ok_and(|response| response.status() == StatusCode::OK) {
            return true;
        }
    }
    false
}

fn at(server: &Url, path: &str) -> Url {
    let mut url = server.clone();
    url.set_path(path);
    url.set_query(None);
    url.set_fragment(None);
    url
}

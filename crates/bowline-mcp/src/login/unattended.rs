//! Logins without a browser: a client that logs in as itself, and a user for whom a company's
//! identity provider vouches.

use std::time::{SystemTime, UNIX_EPOCH};

use bowline_protocol::{McpIdentityProvider, McpOauth, McpRemoteServer};
use oauth2::{ClientSecret, TokenResponse};
use reqwest::{Client, Url, header::CONTENT_TYPE};
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, ClientCredentialsConfig,
    CredentialStore, InMemoryCredentialStore, OAuthTokenResponse, StoredCredentials,
    default_oauth_http_client,
    enterprise::{EmaAuthorizationServer, EmaClientAuthentication, EmaExchangeRequest},
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{authority::find_authority, signed::ClientKey};

/// What proves that a client is who it says it is, for those that sign.
const SIGNED_PROOF: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// A login that needs no user.
struct Unattended<'a> {
    server: &'a McpRemoteServer,
    oauth: &'a McpOauth,
    client_id: &'a str,
    manager: AuthorizationManager,
    metadata: AuthorizationMetadata,
}

/// The client's own login, with its secret or its key.
pub(super) async fn as_itself(
    server: &McpRemoteServer,
    oauth: &McpOauth,
    client: &Client,
) -> Result<AuthorizationManager, AuthError> {
    match (&oauth.client_secret, &oauth.client_private_key) {
        (_, Some(key)) => {
            let login = Unattended::begin(server, oauth, client).await?;
            let token = login.with_key(key, client).await?;
            login.keep(token).await
        }
        (Some(secret), None) => {
            Unattended::begin(server, oauth, client).await?.with_secret(secret).await
        }
        (None, None) => {
            Err(refused("grantType client_credentials needs a clientSecret or a clientPrivateKey"))
        }
    }
}

/// The login of a user for whom an identity provider vouches.
pub(super) async fn vouched_for(
    server: &McpRemoteServer,
    oauth: &McpOauth,
    client: &Client,
) -> Result<AuthorizationManager, AuthError> {
    let Some(provider) = &oauth.identity_provider else {
        return Err(refused("grantType jwt_bearer needs an identityProvider"));
    };
    let login = Unattended::begin(server, oauth, client).await?;
    let token = login.through(provider).await?;
    login.keep(token).await
}

impl<'a> Unattended<'a> {
    async fn begin(
        server: &'a McpRemoteServer,
        oauth: &'a McpOauth,
        client: &Client,
    ) -> Result<Self, AuthError> {
        let client_id = oauth.client_id.as_deref();
        let client_id = client_id.ok_or_else(|| refused("this grantType needs a clientId"))?;
        let mut manager = AuthorizationManager::new(server.url.as_str()).await?;
        let metadata = find_authority(&manager, &server.url, None, client).await?;
        manager.set_metadata(metadata.clone());
        Ok(Self { server, oauth, client_id, manager, metadata })
    }

    /// The scopes that the configuration asks for.
    fn configured_scopes(&self) -> Option<Vec<String>> {
        let scopes = self.oauth.scopes.as_ref()?;
        Some(scopes.split_whitespace().map(str::to_owned).collect())
    }

    /// What to ask for: what the configuration says, else what the server names.
    async fn scopes(&self) -> Vec<String> {
        match self.configured_scopes() {
            Some(scopes) => scopes,
            None => self.manager.select_initial_scopes(&[]).await,
        }
    }

    async fn with_secret(mut self, secret: &str) -> Result<AuthorizationManager, AuthError> {
        let config = ClientCredentialsConfig::ClientSecret {
            client_id: self.client_id.to_owned(),
            client_secret: secret.to_owned(),
            scopes: self.scopes().await,
            resource: Some(self.server.url.clone()),
        };
        self.manager.validate_client_credentials_metadata(&config)?;
        self.manager.configure_client_credentials(&config)?;
        self.manager.exchange_client_credentials(&config).await?;
        Ok(self.manager)
    }

    /// rmcp can do this too, but only with a second library for cryptography.
    async fn with_key(&self, key: &str, client: &Client) -> Result<OAuthTokenResponse, AuthError> {
        let key = ClientKey::from_pem(key).map_err(|error| refused(&error.to_string()))?;
        let (method, algorithm) = ("private_key_jwt", key.algorithm());
        if !self.supports("token_endpoint_auth_methods_supported", method)
            || !self.supports("token_endpoint_auth_signing_alg_values_supported", algorithm)
        {
            let wanted = format!("the authority does not accept {method} with {algorithm}");
            return Err(refused(&wanted));
        }
        let audience = self.metadata.issuer.as_deref().unwrap_or(&self.metadata.token_endpoint);
        let proof = key.prove(self.client_id, audience);
        let proof = proof.map_err(|error| refused(&error.to_string()))?;
        let scopes = self.scopes().await.join(" ");
        let mut form = vec![
            ("grant_type", "client_credentials"),
            ("client_assertion_type", SIGNED_PROOF),
            ("client_assertion", &proof),
            ("resource", &self.server.url),
        ];
        if !scopes.is_empty() {
            form.push(("scope", &scopes));
        }
        let endpoint = secure(&self.metadata.token_endpoint)?;
        let body =
            Url::parse_with_params("form:", form).map_err(|error| refused(&error.to_string()))?;
        let request = client
            .post(endpoint)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(body.query().unwrap_or_default().to_owned());
        read_token(request).await
    }

    /// Trades what the identity provider says of the user for a token of the server's authority.
    async fn through(
        &self,
        provider: &McpIdentityProvider,
    ) -> Result<OAuthTokenResponse, AuthError> {
        let McpIdentityProvider { issuer, token_endpoint, client_id, .. } = provider;
        let idp = EmaAuthorizationServer::new(issuer, token_endpoint, client_id)
            .with_client_authentication(by_secret(
                provider.client_secret.as_deref(),
                EmaClientAuthentication::ClientSecretBasic,
            ));
        let endpoint = &self.metadata.token_endpoint;
        let issuer = self.metadata.issuer.as_deref().unwrap_or_default();
        let sent =
            match self.supports("token_endpoint_auth_methods_supported", "client_secret_basic") {
                true => EmaClientAuthentication::ClientSecretBasic,
                false => EmaClientAuthentication::ClientSecretPost,
            };
        let authority = EmaAuthorizationServer::new(issuer, endpoint, self.client_id)
            .with_client_authentication(by_secret(self.oauth.client_secret.as_deref(), sent));
        let request = EmaExchangeRequest::new_with_id_token(
            idp,
            authority,
            &self.server.url,
            &provider.id_token,
        );
        let http = default_oauth_http_client()?;
        // What the user may do there is the provider's to say, unless the configuration asks for less.
        let scopes = self.configured_scopes().unwrap_or_default();
        let exchanged = request.with_scopes(scopes).exchange(&http, &http).await;
        let token = exchanged.map_err(|error| refused(&error.to_string()))?;
        let mut read =
            json!({ "access_token": token.access_token.secret(), "token_type": "bearer" });
        if let Some(lifetime) = token.expires_in {
            read["expires_in"] = lifetime.as_secs().into();
        }
        serde_json::from_value(read).map_err(|error| refused(&error.to_string()))
    }

    /// Whether the authority knows something, as far as it says what it knows.
    fn supports(&self, what: &str, wanted: &str) -> bool {
        let known = self.metadata.additional_fields.get(what).and_then(Value::as_array);
        known.is_none_or(|known| known.iter().any(|one| one == wanted))
    }

    /// Hands over a login that has this token, in memory only: a new one costs nothing.
    async fn keep(mut self, token: OAuthTokenResponse) -> Result<AuthorizationManager, AuthError> {
        let granted = token.scopes().into_iter().flatten().map(|scope| scope.to_string()).collect();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let store = InMemoryCredentialStore::new();
        let kept =
            StoredCredentials::new(self.client_id.to_owned(), Some(token), granted, Some(now));
        store.save(kept.with_issuer(self.metadata.issuer)).await?;
        self.manager.set_credential_store(store);
        Ok(self.manager)
    }
}

fn by_secret(
    secret: Option<&str>,
    sent: fn(ClientSecret) -> EmaClientAuthentication,
) -> EmaClientAuthentication {
    secret
        .map_or(EmaClientAuthentication::None, |secret| sent(ClientSecret::new(secret.to_owned())))
}

/// An address that a proof may be sent to: it must be encrypted on the way.
fn secure(url: &str) -> Result<Url, AuthError> {
    let read = Url::parse(url).ok().filter(|url| match (url.scheme(), url.host_str()) {
        ("https", _) => true,
        ("http", Some(host)) => matches!(host, "localhost" | "127.0.0.1" | "[::1]"),
        _ => false,
    });
    read.ok_or_else(|| refused("the authority's token endpoint is not an https address"))
}

async fn read_token(request: reqwest::RequestBuilder) -> Result<OAuthTokenResponse, AuthError> {
    #[derive(Deserialize)]
    struct Refusal {
        error: String,
        #[serde(default)]
        error_description: String,
    }
    let failed = |error: reqwest::Error| refused(&error.to_string());
    let response = request.send().await.map_err(failed)?;
    let status = response.status();
    let body = super::body::read(response).await.map_err(|error| refused(&error))?;
    if status.is_success() {
        return serde_json::from_slice(&body).map_err(|error| refused(&error.to_string()));
    }
    Err(refused(&match serde_json::from_slice::<Refusal>(&body) {
        Ok(Refusal { error, error_description }) => {
            format!("the authority says {error}: {error_description}")
        }
        Err(_) => format!("the authorization server responded with HTTP {status}"),
    }))
}

fn refused(why: &str) -> AuthError {
    AuthError::ClientCredentialsError(why.to_owned())
}

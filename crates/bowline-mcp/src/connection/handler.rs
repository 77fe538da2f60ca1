//! Handler of the requests and notifications of servers.
#![expect(deprecated, reason = "roots leave MCP some day; the servers there are ask for them")]

use std::sync::Arc;

use bowline_protocol::{Elicitation, ElicitationAction, ElicitationResponse, RawJson};
use bowline_tools::Workspace;
use rmcp::{
    ClientHandler, RoleClient,
    model::{
        ClientConfig, CustomNotification, CustomRequest, CustomResult, ElicitRequestParams,
        ElicitResult, ErrorCode, ErrorData, Extensions, Implementation, ListRootsResult, Root,
    },
    service::{NotificationContext, RequestContext},
};
use serde::{Deserialize, Deserializer, de::IgnoredAny};
use serde_json::{Value, json, value::RawValue};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::{defaults, message::RawParams};
use crate::{host::Elicit, options::ClientInfo};

/// How many elicitations of one server may be open; more are refused.
const MAX_OPEN_ELICITATIONS: usize = 4;

/// The client's side of one server's requests.
pub(crate) struct Handler {
    server: String,
    config: ClientConfig,
    elicit: Option<Arc<dyn Elicit>>,
    workspace: Arc<Workspace>,
    elicitations: Semaphore,
}

impl Handler {
    pub(super) fn new(
        server: &str,
        client: &ClientInfo,
        elicit: Option<Arc<dyn Elicit>>,
        workspace: Arc<Workspace>,
    ) -> Self {
        let mut capabilities = json!({"roots": {}});
        if elicit.is_some() {
            capabilities["elicitation"] = json!({"form": {}, "url": {}});
        }
        let capabilities =
            serde_json::from_value(capabilities).expect("these are capabilities MCP knows");
        let mut identity = Implementation::new(&client.name, &client.version);
        identity.title = client.title.clone();
        identity.description = client.description.clone();
        identity.website_url = client.website_url.clone();
        let config = ClientConfig::new(capabilities, identity)
            .with_protocol_version(rmcp::model::ProtocolVersion::LATEST_WITH_INITIALIZE);
        let elicitations = Semaphore::new(MAX_OPEN_ELICITATIONS);
        Self { server: server.to_owned(), config, elicit, workspace, elicitations }
    }

    /// Prompts the user, until the server cancels the request.
    async fn elicit(
        &self,
        params: ElicitationParams,
        cancel: &CancellationToken,
    ) -> Result<ElicitationResponse, ErrorData> {
        let refuse = |why: &'static str| ErrorData::new(ErrorCode::INTERNAL_ERROR, why, None);
        let elicit = self
            .elicit
            .as_ref()
            .ok_or_else(|| refuse("elicitation is not supported: no user is attached"))?;
        let permit = self.elicitations.try_acquire();
        let _permit = permit.map_err(|_| refuse("too many elicitations at once"))?;
        let schema = params.requested_schema.clone();
        let mut response = tokio::select! {
            response = elicit.elicit(params.for_host(&self.server)) => response,
            () = cancel.cancelled() => return Err(refuse("the elicitation was cancelled")),
        };
        if let (ElicitationAction::Accept, Some(schema)) = (&response.action, &schema) {
            response.content = defaults::complete(response.content.take(), schema);
        }
        Ok(response)
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        let urls = self.workspace.roots().into_iter().filter_map(|root| {
            let name = root.file_name().map(|name| name.to_string_lossy().into_owned());
            let mut root = Root::new(reqwest::Url::from_file_path(root).ok()?);
            root.name = name;
            Some(root)
        });
        Ok(ListRootsResult::new(urls.collect()))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let params = ElicitationParams::read(&context.extensions, &request)?;
        let response = self.elicit(params, &context.ct).await?;
        let mut result = ElicitResult::new(match response.action {
            ElicitationAction::Accept => rmcp::model::ElicitationAction::Accept,
            ElicitationAction::Cancel => rmcp::model::ElicitationAction::Cancel,
            _ => rmcp::model::ElicitationAction::Decline,
        });
        result.content = response.content.map(|content| content.to_value());
        Ok(result)
    }

    /// Elicitations whose schema `rmcp` does not know land here.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method != "elicitation/create" {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None));
        }
        let params = ElicitationParams::deserialize(request.params.unwrap_or_default())
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        let response = self.elicit(params, &context.ct).await?;
        let response =
            serde_json::to_value(&response).unwrap_or_else(|_| json!({"action": "decline"}));
        Ok(CustomResult(response))
    }

    async fn on_custom_notification(
        &self,
        notification: CustomNotification,
        _: NotificationContext<RoleClient>,
    ) {
        if notification.method == "notifications/elicitation/complete"
            && let Some(elicit) = &self.elicit
            && let Some(params) = &notification.params
            && let Some(id) = params.get("elicitationId").and_then(Value::as_str)
        {
            elicit.complete(&self.server, id);
        }
    }
}

/// The params of an elicitation, as the server wrote them.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ElicitationParams {
    message: String,
    mode: Option<String>,
    url: Option<String>,
    elicitation_id: Option<String>,
    #[serde(default, deserialize_with = "raw")]
    requested_schema: Option<RawJson>,
}

/// `RawJson` can only be read from text, and here text and trees are both read.
fn raw<'de, D: Deserializer<'de>>(from: D) -> Result<Option<RawJson>, D::Error> {
    Ok(Option::<Value>::deserialize(from)?.map(RawJson::from))
}

impl ElicitationParams {
    fn read(extensions: &Extensions, request: &ElicitRequestParams) -> Result<Self, ErrorData> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct AsWritten {
            requested_schema: Option<RawJson>,
        }
        let bad = |error: serde_json::Error| ErrorData::invalid_params(error.to_string(), None);
        let tree = serde_json::to_value(request).map_err(bad)?;
        let mut params = Self::deserialize(tree).map_err(bad)?;
        if let Some(RawParams(raw)) = extensions.get::<RawParams>()
            && let Ok(written) = serde_json::from_str::<AsWritten>(raw.get())
        {
            params.requested_schema = written.requested_schema;
        }
        Ok(params)
    }

    fn for_host(self, server: &str) -> Elicitation {
        let url = self.url.is_some();
        let mode = self.mode.unwrap_or_else(|| if url { "url" } else { "form" }.to_owned());
        Elicitation {
            mcp_server_name: server.to_owned(),
            message: self.message,
            mode: Some(mode),
            url: self.url,
            elicitation_id: self.elicitation_id,
            property_order: self.requested_schema.as_ref().and_then(property_order),
            requested_schema: self.requested_schema,
            ..Elicitation::default()
        }
    }
}

/// The names of a schema's properties in the order in which they are written.
fn property_order(schema: &RawJson) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    struct Schema {
        properties: Box<RawValue>,
    }
    struct Keys(Vec<String>);
    impl<'de> Deserialize<'de> for Keys {
        fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            struct InOrder;
            impl<'de> serde::de::Visitor<'de> for InOrder {
                type Value = Keys;
                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("an object")
                }
                fn visit_map<A: serde::de::MapAccess<'de>>(
                    self,
                    mut map: A,
                ) -> Result<Keys, A::Error> {
                    let mut keys = Vec::new();
                    while let Some((key, IgnoredAny)) = map.next_entry()? {
                        keys.push(key);
                    }
                    Ok(Keys(keys))
                }
            }
            from.deserialize_map(InOrder)
        }
    }
    let schema: Schema = schema.parse().ok()?;
    serde_json::from_str::<Keys>(schema.properties.get()).ok().map(|keys| keys.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_asked_for_as_written() {
        let schema = RawJson::from_text(
            r#"{"type":"object","properties":{"zip":{"type":"string"},"age":{"type":"number"}}}"#
                .to_owned(),
        )
        .unwrap();
        assert_eq!(property_order(&schema).unwrap(), ["zip", "age"]);
        assert_eq!(property_order(&RawJson::empty_object()), None);
    }
}

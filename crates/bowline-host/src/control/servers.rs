//! MCP servers while an agent works.

use bowline_protocol::{
    McpAuthenticate, McpAuthenticateResponse, McpCall, McpClearAuth, McpOauthCallbackUrl,
    McpReadResource, McpReadResourceResponse, McpReconnect, McpSetServers, McpSetServersResponse,
    McpStatus, McpStatusResponse, McpToggle, PermissionMode, RawJson, SetMcpPermissionModeOverride,
    WarningResponse,
};

use crate::{Client, Error, McpServers, SdkServer, options::check::no_clash};

impl Client {
    /// How the MCP servers are doing: `get_mcp_status`, `mcpServerStatus`.
    pub async fn mcp_status(&self) -> Result<McpStatusResponse, Error> {
        self.request(McpStatus::default()).await
    }

    /// Uses these MCP servers instead of those set before and of those in this program. The model
    /// has their tools from its next request on.
    ///
    /// ```no_run
    /// use bowline_host::{Client, McpServer, McpServers, Tool};
    ///
    /// # async fn run(client: Client, tool: Tool) -> Result<(), bowline_host::Error> {
    /// let calculator = McpServer::new("calc").tool(tool);
    /// client.set_mcp_servers(McpServers::default().here(calculator)).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn set_mcp_servers(
        &self,
        servers: impl Into<McpServers>,
    ) -> Result<McpSetServersResponse, Error> {
        let McpServers { elsewhere, here } = servers.into();
        here.iter().try_for_each(SdkServer::check)?;
        no_clash(&here, elsewhere.keys())?;
        let request = |servers| self.request(McpSetServers { servers, ..McpSetServers::default() });
        let served = &self.connection.responder.servers;
        let _changing = served.changing.lock().await;
        let names: Vec<_> = here.iter().map(|server| server.name().to_owned()).collect();
        let (known, new): (Vec<_>, Vec<_>) = here.into_iter().partition(|it| served.has(it.name()));
        let mut all = elsewhere;
        all.extend(new.iter().map(SdkServer::config));
        // The agent may list their tools before it responds.
        served.add(new);
        if !known.is_empty() {
            // An agent takes a server of the same name for the same: it has to drop the old one first.
            request(all.clone()).await?;
            all.extend(known.iter().map(SdkServer::config));
            served.add(known);
        }
        let set = request(all).await?;
        served.retain(&names);
        Ok(set)
    }

    /// Connects to an MCP server again.
    pub async fn reconnect_mcp_server(&self, name: impl Into<String>) -> Result<(), Error> {
        let call = McpReconnect { server_name: name.into(), ..McpReconnect::default() };
        self.request(call).await.map(|_| ())
    }

    /// Switches an MCP server on.
    pub async fn enable_mcp_server(&self, name: impl Into<String>) -> Result<(), Error> {
        self.toggle_mcp_server(name, true).await
    }

    /// Switches an MCP server off.
    pub async fn disable_mcp_server(&self, name: impl Into<String>) -> Result<(), Error> {
        self.toggle_mcp_server(name, false).await
    }

    /// Switches an MCP server on or off. Where it is clear which,
    /// [`enable_mcp_server`](Self::enable_mcp_server) and
    /// [`disable_mcp_server`](Self::disable_mcp_server) are clearer.
    ///
    /// ```no_run
    /// # async fn run(client: bowline_host::Client) -> Result<(), bowline_host::Error> {
    /// let at_night = false;
    /// client.toggle_mcp_server("calc", !at_night).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn toggle_mcp_server(
        &self,
        name: impl Into<String>,
        enabled: bool,
    ) -> Result<(), Error> {
        let server_name = name.into();
        self.request(McpToggle { server_name, enabled, ..McpToggle::default() }).await.map(|_| ())
    }

    /// Begins a login to an MCP server that wants one: `mcpAuthenticate`. The response has the page
    /// to show the user. The agent waits on a port of its machine for the browser to come back,
    /// unless the call names another redirect address.
    pub async fn authenticate_mcp_server(
        &self,
        login: McpAuthenticate,
    ) -> Result<McpAuthenticateResponse, Error> {
        self.request(login).await
    }

    /// Hands in the address that the browser came back to: `mcpSubmitOAuthCallbackUrl`.
    pub async fn finish_mcp_login(
        &self,
        name: impl Into<String>,
        callback_url: impl Into<String>,
    ) -> Result<(), Error> {
        let (server_name, callback_url) = (name.into(), callback_url.into());
        let call = McpOauthCallbackUrl { server_name, callback_url, ..Default::default() };
        self.request(call).await.map(|_| ())
    }

    /// Forgets the login to an MCP server: `mcpClearAuth`.
    pub async fn clear_mcp_login(&self, name: impl Into<String>) -> Result<(), Error> {
        let call = McpClearAuth { server_name: name.into(), ..McpClearAuth::default() };
        self.request(call).await.map(|_| ())
    }

    /// Reads a resource of an MCP server.
    pub async fn read_mcp_resource(
        &self,
        server: impl Into<String>,
        uri: impl Into<String>,
    ) -> Result<McpReadResourceResponse, Error> {
        let (server_name, uri) = (server.into(), uri.into());
        self.request(McpReadResource { server_name, uri, ..McpReadResource::default() }).await
    }

    /// Calls a tool of an MCP server, as in `mcp__<server>__<tool>`. The response is its result as
    /// MCP has it.
    pub async fn call_mcp_tool(
        &self,
        tool: impl Into<String>,
        arguments: impl Into<RawJson>,
    ) -> Result<RawJson, Error> {
        let arguments = Some(arguments.into());
        self.request(McpCall { tool: tool.into(), arguments, ..McpCall::default() }).await
    }

    /// Is more or less strict about the tools of one MCP server; `None` is as strict as about
    /// others. The response may have a warning, for example that there is no such server yet.
    pub async fn set_mcp_permission_mode_override(
        &self,
        server: impl Into<String>,
        mode: Option<PermissionMode>,
    ) -> Result<WarningResponse, Error> {
        let server_name = server.into();
        let call = SetMcpPermissionModeOverride {
            server_name,
            mode,
            ..SetMcpPermissionModeOverride::default()
        };
        self.request(call).await
    }
}

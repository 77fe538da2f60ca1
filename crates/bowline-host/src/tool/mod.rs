//! Tools of this program for its agent, and the MCP servers they belong to.

mod arguments;
mod context;
mod definition;
mod handler;
mod result;
#[cfg(feature = "rmcp")]
mod rmcp_guard;
#[cfg(feature = "rmcp")]
mod rmcp_server;
#[cfg(feature = "schema")]
mod schema;
mod served;
mod server;
mod server_messages;
mod server_request;
mod stoppable;
mod tool_server;
mod type_schema;

pub use bowline_protocol::{ResourceContents, ToolAnnotations, ToolContent, ToolResult};
pub use context::{Progress, ToolContext};
pub use definition::Tool;
pub use handler::{HandleTool, ToolHandler};
pub use result::{IntoToolResult, Structured};
#[cfg(feature = "rmcp")]
pub use rmcp_server::RmcpServer;
#[cfg(feature = "schema")]
pub use schema::Field;
#[cfg(feature = "embedded")]
pub(crate) use served::DirectCall;
pub(crate) use served::{CurrentSession, Served};
pub use server::{McpServer, McpServers, SdkServer};
pub(crate) use server_messages::{ServerMessages, server_messages};
pub(crate) use server_request::ServerRequest;
pub(crate) use type_schema::schema_of_type;

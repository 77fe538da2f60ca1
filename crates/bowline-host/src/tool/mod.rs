//! Tools that this program lends to its agent, and the servers that hold them.

mod arguments;
mod context;
mod definition;
#[cfg(feature = "rmcp")]
mod guarded;
mod handler;
mod incoming;
mod outlet;
mod result;
#[cfg(feature = "rmcp")]
mod rmcp;
mod rpc;
#[cfg(feature = "schema")]
mod schema;
mod served;
mod server;
mod stops;
mod type_schema;

pub use bowline_protocol::{ResourceContents, ToolAnnotations, ToolContent, ToolResult};
pub use context::{Progress, ToolContext};
pub use definition::Tool;
pub use handler::{HandleTool, ToolHandler};
pub(crate) use incoming::Incoming;
pub(crate) use outlet::{Outlet, outlet};
pub use result::{IntoToolResult, Structured};
#[cfg(feature = "rmcp")]
pub use rmcp::RmcpServer;
#[cfg(feature = "schema")]
pub use schema::Field;
#[cfg(feature = "embedded")]
pub(crate) use served::DirectCall;
pub(crate) use served::{CurrentSession, Served};
pub use server::{McpServer, McpServers, SdkServer};
pub(crate) use type_schema::schema_of_type;

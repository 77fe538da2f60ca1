//! Tools that this program lends to its agent, and the servers that hold them.

mod context;
mod definition;
#[cfg(feature = "rmcp")]
mod guarded;
mod handler;
mod incoming;
mod listed;
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

pub use context::{Progress, ToolContext};
pub use definition::Tool;
pub use handler::{HandleTool, ToolHandler};
#[cfg(feature = "embedded")]
pub(crate) use incoming::CallMeta;
pub(crate) use incoming::{CallParams, Incoming};
pub use listed::ToolAnnotations;
pub(crate) use listed::schema_of_type;
pub(crate) use outlet::{Outlet, outlet};
pub use result::{IntoToolResult, ResourceContents, Structured, ToolContent, ToolResult};
#[cfg(feature = "rmcp")]
pub use rmcp::RmcpServer;
#[cfg(feature = "embedded")]
pub(crate) use rpc::ServedTools;
#[cfg(feature = "schema")]
pub use schema::Field;
pub(crate) use served::{CurrentSession, Served};
pub use server::{McpServer, McpServers, SdkServer};

//! Tools that this program lends to its agent, and the servers that hold them.

mod definition;
mod handler;
mod result;
mod rpc;
mod server;

pub use definition::{Tool, ToolAnnotations};
pub use handler::{ToolContext, ToolHandler};
pub use result::{IntoToolResult, Structured, ToolContent, ToolResult};
pub use server::McpServer;

//! Content blocks: what the messages of a conversation are made of.
//!
//! They are the Messages API's own blocks, passed through. Each keeps the fields
//! it does not know, because it goes back to the model and into transcripts.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};

use crate::{
    extra::Extra,
    id::ToolUseId,
    raw::RawJson,
    wire::{open_enum, read_by_tag},
};

/// One block of a message.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContentBlock {
    /// Prose.
    Text(TextBlock),
    /// The model's reasoning.
    Thinking(ThinkingBlock),
    /// Reasoning that only the API can read.
    RedactedThinking(RedactedThinkingBlock),
    /// The model calls a tool.
    ToolUse(ToolUseBlock),
    /// Result of a tool.
    ToolResult(ToolResultBlock),
    /// A picture.
    Image(ImageBlock),
    /// A PDF or a text with a title.
    Document(DocumentBlock),
    /// A passage found by a search, offered for citation.
    SearchResult(SearchResultBlock),
    /// Names a tool whose definition is loaded on demand.
    ToolReference(ToolReferenceBlock),
    /// The model calls a tool that the API itself runs.
    ServerToolUse(ToolUseBlock),
    /// Result of the API's web search.
    WebSearchToolResult(ServerToolResultBlock),
    /// Result of the API's web fetch.
    WebFetchToolResult(ServerToolResultBlock),
    /// Result of the API's code execution.
    CodeExecutionToolResult(ServerToolResultBlock),
    /// Result of the API's shell.
    BashCodeExecutionToolResult(ServerToolResultBlock),
    /// Result of the API's text editor.
    TextEditorCodeExecutionToolResult(ServerToolResultBlock),
    /// Result of the API's tool search.
    ToolSearchToolResult(ServerToolResultBlock),
    /// Result of the API's advisor.
    AdvisorToolResult(ServerToolResultBlock),
    /// A file handed to the API's container.
    ContainerUpload(ContainerUploadBlock),
    /// A block this version does not know, byte for byte as it came.
    #[serde(untagged)]
    Unknown(RawJson),
}

read_by_tag!(ContentBlock, Type, {
    "text" => Text,
    "thinking" => Thinking,
    "redacted_thinking" => RedactedThinking,
    "tool_use" => ToolUse,
    "tool_result" => ToolResult,
    "image" => Image,
    "document" => Document,
    "search_result" => SearchResult,
    "tool_reference" => ToolReference,
    "server_tool_use" => ServerToolUse,
    "web_search_tool_result" => WebSearchToolResult,
    "web_fetch_tool_result" => WebFetchToolResult,
    "code_execution_tool_result" => CodeExecutionToolResult,
    "bash_code_execution_tool_result" => BashCodeExecutionToolResult,
    "text_editor_code_execution_tool_result" => TextEditorCodeExecutionToolResult,
    "tool_search_tool_result" => ToolSearchToolResult,
    "advisor_tool_result" => AdvisorToolResult,
    "container_upload" => ContainerUpload,
});

impl ContentBlock {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextBlock { text: text.into(), ..TextBlock::default() })
    }

    /// A picture: its bytes in base 64, and what it is, as in `image/png`.
    ///
    /// ```
    /// use bowline_protocol::ContentBlock;
    ///
    /// let here = ContentBlock::image("iVBORw0KGgo=", "image/png");
    /// let elsewhere = ContentBlock::image_at("https://example.com/knot.png");
    /// ```
    pub fn image(data: impl Into<String>, media_type: impl Into<String>) -> Self {
        let source = Source::base64(media_type, data);
        Self::Image(ImageBlock { source, extra: Extra::new() })
    }

    /// A picture at an address, from where the API fetches it.
    pub fn image_at(url: impl Into<String>) -> Self {
        Self::Image(ImageBlock { source: Source::url(url), extra: Extra::new() })
    }

    /// The text, if this is a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(block) => Some(&block.text),
            _ => None,
        }
    }
}

/// Prose.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TextBlock {
    /// The prose itself.
    pub text: String,
    /// Fields this version does not know (`citations`, `cache_control`).
    #[serde(flatten)]
    pub extra: Extra,
}

/// The model's reasoning. It goes back to the API unchanged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThinkingBlock {
    /// The reasoning, possibly empty.
    pub thinking: String,
    /// The API's seal on it.
    #[serde(default)]
    pub signature: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Reasoning that only the API can read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RedactedThinkingBlock {
    /// The sealed reasoning.
    pub data: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The model calls a tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolUseBlock {
    /// Names the call; its result refers to it.
    pub id: ToolUseId,
    /// The tool. Tools of an MCP server are `mcp__<server>__<tool>`.
    pub name: String,
    /// The arguments, an object.
    pub input: RawJson,
    /// Fields this version does not know (`caller`).
    #[serde(flatten)]
    pub extra: Extra,
}

/// Result of a tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolResultBlock {
    /// The call that produced this result.
    pub tool_use_id: ToolUseId,
    /// The result; absent means empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
    /// Whether the tool failed; absent means no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImageBlock {
    /// Source of its bytes.
    pub source: Source,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A PDF, or a text with a title.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DocumentBlock {
    /// Source of its bytes.
    pub source: Source,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Context about it for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Fields this version does not know (`citations`, `cache_control`).
    #[serde(flatten)]
    pub extra: Extra,
}

/// A passage found by a search.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchResultBlock {
    /// Source.
    pub source: String,
    /// Title.
    pub title: String,
    /// The passage.
    pub content: Vec<ContentBlock>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Names a tool whose definition is loaded on demand.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolReferenceBlock {
    /// The tool.
    pub tool_name: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Result of a tool that the API runs itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerToolResultBlock {
    /// The call that produced this result.
    pub tool_use_id: ToolUseId,
    /// The result, in the shape of the tool.
    pub content: RawJson,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A file handed to the API's container.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContainerUploadBlock {
    /// The file.
    pub file_id: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Source of an image or document.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Source {
    /// Here, in base 64.
    Base64(InlineSource),
    /// Here, as text.
    Text(InlineSource),
    /// Here, as blocks.
    Content(ContentSource),
    /// At an address.
    Url(UrlSource),
    /// In a file known to the API.
    File(FileSource),
    /// A source this version does not know, byte for byte as it came.
    #[serde(untagged)]
    Unknown(RawJson),
}

read_by_tag!(Source, Type, {
    "base64" => Base64,
    "text" => Text,
    "content" => Content,
    "url" => Url,
    "file" => File,
});

impl Source {
    /// Bytes in base 64.
    pub fn base64(media_type: impl Into<String>, data: impl Into<String>) -> Self {
        let (media_type, data) = (media_type.into(), data.into());
        Self::Base64(InlineSource { media_type, data, extra: Extra::new() })
    }

    /// Bytes at an address.
    pub fn url(url: impl Into<String>) -> Self {
        Self::Url(UrlSource { url: url.into(), extra: Extra::new() })
    }
}

/// Bytes that travel inside the block.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InlineSource {
    /// As in `image/png`.
    pub media_type: String,
    /// The bytes: base 64, or text for a text source.
    pub data: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A document made of blocks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContentSource {
    /// Its blocks.
    pub content: Content,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Bytes at an address.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UrlSource {
    /// The address.
    pub url: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A file known to the API.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileSource {
    /// Its id there.
    pub file_id: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The content of a message or a tool result: prose, or blocks.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Content {
    /// Prose.
    Text(String),
    /// Blocks.
    Blocks(Vec<ContentBlock>),
}

impl Content {
    /// The content as blocks.
    pub fn into_blocks(self) -> Vec<ContentBlock> {
        match self {
            Self::Text(text) => vec![ContentBlock::text(text)],
            Self::Blocks(blocks) => blocks,
        }
    }

    /// All its prose, one line per text block.
    pub fn to_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Blocks(blocks) => {
                blocks.iter().filter_map(ContentBlock::as_text).collect::<Vec<_>>().join("\n")
            }
        }
    }
}

impl Default for Content {
    fn default() -> Self {
        Self::Blocks(Vec::new())
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<ContentBlock>> for Content {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Self::Blocks(blocks)
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct StringOrBlocks;

        impl<'de> de::Visitor<'de> for StringOrBlocks {
            type Value = Content;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an array of content blocks")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Content, E> {
                Ok(Content::Text(text.to_owned()))
            }

            fn visit_string<E: de::Error>(self, text: String) -> Result<Content, E> {
                Ok(Content::Text(text))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<Content, A::Error> {
                // Mostly there is one block, and a long conversation has many such lists: no room
                // for blocks that do not come.
                let mut blocks: Vec<ContentBlock> = seq.next_element()?.into_iter().collect();
                while let Some(block) = seq.next_element()? {
                    blocks.push(block);
                }
                Ok(Content::Blocks(blocks))
            }
        }

        from.deserialize_any(StringOrBlocks)
    }
}

open_enum! {
    /// Role.
    Role {
        /// The user, a program on their behalf, or tool results.
        User = "user",
        /// The model.
        Assistant = "assistant",
        /// The engine, inside a conversation (a newer API feature).
        System = "system",
    }
}

//! Model names as people type them, and their providers.

use std::{fmt, path::PathBuf, str::FromStr};

use crate::{ErrorKind, ModelError, catalog};

/// A model and who provides it.
///
/// ```
/// use bowline_model::ModelRef;
///
/// let model: ModelRef = "openai/qwen3:8b".parse()?;
/// assert_eq!(model, ModelRef::OpenAi("qwen3:8b".to_owned()));
/// # Ok::<(), bowline_model::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ModelRef {
    /// A model of the Anthropic API, or of a server that speaks it.
    Anthropic(String),
    /// A model of a chat-completions server.
    OpenAi(String),
    /// The embedded script model; with a file, that file is the script.
    Script(Option<PathBuf>),
    /// A recording.
    Replay(PathBuf),
}

impl ModelRef {
    /// Value for [`ModelRequest::model`](crate::ModelRequest::model).
    pub fn name(&self) -> &str {
        match self {
            Self::Anthropic(name) | Self::OpenAi(name) => name,
            Self::Script(_) => "script",
            Self::Replay(_) => "replay",
        }
    }
}

impl FromStr for ModelRef {
    type Err = ModelError;

    /// Reads `claude-…` or an alias, `anthropic/NAME`, `openai/NAME`, `script`,
    /// `script:FILE` or `replay:FILE`. Any other name is one of a server that speaks
    /// the Messages API.
    fn from_str(text: &str) -> Result<Self, ModelError> {
        let text = text.trim();
        let missing =
            |what: &str| ModelError::new(ErrorKind::Unsupported, format!("model {text:?}: {what}"));
        if let Some(name) = text.strip_prefix("openai/") {
            return match name {
                "" => Err(missing("a name has to follow `openai/`")),
                name => Ok(Self::OpenAi(name.to_owned())),
            };
        }
        if text == "script" {
            return Ok(Self::Script(None));
        }
        if let Some(file) = text.strip_prefix("script:") {
            return match file {
                "" => Err(missing("a file has to follow `script:`")),
                file => Ok(Self::Script(Some(file.into()))),
            };
        }
        if let Some(file) = text.strip_prefix("replay:") {
            return match file {
                "" => Err(missing("a file has to follow `replay:`")),
                file => Ok(Self::Replay(file.into())),
            };
        }
        match text.strip_prefix("anthropic/").unwrap_or(text) {
            "" => Err(missing("a name is missing")),
            name => Ok(Self::Anthropic(catalog::resolve_alias(name).to_owned())),
        }
    }
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anthropic(name) => f.write_str(name),
            Self::OpenAi(name) => write!(f, "openai/{name}"),
            Self::Script(None) => f.write_str("script"),
            Self::Script(Some(file)) => write!(f, "script:{}", file.display()),
            Self::Replay(file) => write!(f, "replay:{}", file.display()),
        }
    }
}

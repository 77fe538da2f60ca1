//! Environment variables that hold model credentials.

/// Variables with which a model can be used at the user's expense. Programs that a project brings along
/// do not get them, and by a setting (`bowline.hideKeys`) commands of the model do not either.
pub const MODEL_KEYS: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    // A gateway's key is often in a header.
    "ANTHROPIC_CUSTOM_HEADERS",
    "ANTHROPIC_FOUNDRY_API_KEY",
    "AWS_BEARER_TOKEN_BEDROCK",
    "CLAUDE_CODE_OAUTH_REFRESH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "OPENAI_API_KEY",
];

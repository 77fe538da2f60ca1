//! Configuration of models: providers, fallbacks, thinking, effort.

use bowline_model::{AnthropicConfig, OpenAiConfig, Providers, Secret, Thinking, ThinkingDisplay};
use bowline_protocol::Effort;

use crate::{
    args::{ModelArgs, RunArgs, ThinkingArg, ThinkingDisplayArg},
    environment::Environment,
    version,
};

/// The models that the environment gives access to. Nothing is connected yet.
///
/// `helped` is the key of `apiKeyHelper`, if it ran.
pub(super) fn models(
    args: &RunArgs,
    environment: &Environment,
    entrypoint: &str,
    helped: Option<&Secret>,
) -> Providers {
    let who = ["external".to_owned(), entrypoint.to_owned()];
    let who: Vec<_> = who.into_iter().chain(environment.client_apps()).collect();
    let agent = format!("bowline/{} ({})", version::BOWLINE, who.join(", "));
    let agent = ("user-agent".to_owned(), agent);
    let secret = |text: Option<&str>| text.map(Secret::from);
    let mut headers = environment.anthropic_headers();
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("user-agent")) {
        headers.push(agent.clone());
    }
    let mut providers = Providers::new();
    providers.anthropic = AnthropicConfig {
        base_url: environment.anthropic_base_url().map(str::to_owned),
        api_key: secret(environment.anthropic_api_key()).or_else(|| helped.cloned()),
        // Gateways expect it where tokens are.
        auth_token: secret(environment.anthropic_auth_token()).or_else(|| helped.cloned()),
        headers,
        ..AnthropicConfig::default()
    };
    providers.openai = OpenAiConfig {
        base_url: environment.openai_base_url().map(str::to_owned),
        api_key: secret(environment.openai_api_key()),
        headers: vec![agent],
        ..OpenAiConfig::default()
    };
    providers.record.clone_from(&args.output.record);
    providers
}

/// Fallback models, used when the first is overloaded.
pub(super) fn fallbacks(args: &RunArgs, model: &str, settings: Vec<String>) -> Vec<String> {
    let Some(list) = &args.model.fallback_model else { return settings };
    // A model is not its own fallback.
    let names = list.split(',').map(str::trim).filter(|name| !name.is_empty() && *name != model);
    names.map(str::to_owned).collect()
}

/// Whether the model thinks before it responds.
pub(super) fn thinking(
    args: &ModelArgs,
    always: Option<bool>,
    budget: Option<u64>,
) -> Option<Thinking> {
    let display = args.thinking_display.map(|display| match display {
        // The API knows no highlights; a summary is the nearest to them.
        ThinkingDisplayArg::Summarized | ThinkingDisplayArg::Highlights => {
            ThinkingDisplay::Summarized
        }
        ThinkingDisplayArg::Omitted => ThinkingDisplay::Omitted,
    });
    match (args.thinking, args.max_thinking_tokens.or(budget)) {
        (Some(ThinkingArg::Disabled), _) | (None, Some(0)) => Some(Thinking::Disabled),
        (Some(ThinkingArg::Adaptive), _) | (Some(ThinkingArg::Enabled), None | Some(0)) => {
            Some(Thinking::Adaptive { display })
        }
        (_, Some(budget_tokens)) => Some(Thinking::Enabled { budget_tokens, display }),
        (None, None) => match always {
            Some(true) => Some(Thinking::Adaptive { display }),
            Some(false) => Some(Thinking::Disabled),
            None => display.map(|display| Thinking::Adaptive { display: Some(display) }),
        },
    }
}

/// Effort of the model. An unknown level becomes a notice.
pub(super) fn effort(level: Option<String>, notices: &mut Vec<String>) -> Option<Effort> {
    let level = level?;
    let effort = level.parse().ok();
    if effort.is_none() {
        notices.push(format!(
            "Warning: Unknown --effort value '{level}' — ignoring it and using the default effort. \
             Valid values: low, medium, high, xhigh, max."
        ));
    }
    effort
}

//! From names to models.

use bowline_model::{
    AnthropicConfig, ErrorKind, Model, ModelError, ModelRef, OpenAiConfig, Providers,
};

use crate::client::{collect, fold, prompt};

fn connect(providers: &Providers, name: &str) -> Result<std::sync::Arc<dyn Model>, ModelError> {
    providers.connect(&name.parse::<ModelRef>().unwrap())
}

#[test]
fn missing_key_error_names_three_ways_out() {
    for name in ["opus", "openai/anything"] {
        let error = connect(&Providers::new(), name).err().unwrap();
        assert_eq!(error.kind, ErrorKind::NoCredentials);
        assert!(!error.is_retryable());
        for way in ["ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "--model script"] {
            assert!(error.to_string().contains(way), "{name}: {error}");
        }
    }
}

#[test]
fn a_key_or_a_server_is_enough_and_nothing_is_connected() {
    let mut providers = Providers::new();
    providers.anthropic = AnthropicConfig { api_key: Some("k".into()), ..Default::default() };
    providers.openai =
        OpenAiConfig { base_url: Some("http://127.0.0.1:9/v1".to_owned()), ..Default::default() };
    assert!(connect(&providers, "opus").is_ok());
    assert!(connect(&providers, "openai/x").is_ok());
}

#[tokio::test]
async fn script_model_needs_no_configuration() {
    let model = connect(&Providers::new(), "script").unwrap();
    let stream = model.stream(prompt("SAY hello").into()).await.unwrap();
    let message = fold(&collect(stream).await.unwrap());
    assert_eq!(message.content[0].as_text(), Some("hello"));
}

#[tokio::test]
async fn script_file_responds_to_plain_prompts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scenario.txt");
    std::fs::write(&path, "SAY from the file").unwrap();
    let model = connect(&Providers::new(), &format!("script:{}", path.display())).unwrap();
    let stream = model.stream(prompt("anything").into()).await.unwrap();
    let message = fold(&collect(stream).await.unwrap());
    assert_eq!(message.content[0].as_text(), Some("from the file"));

    let missing = connect(&Providers::new(), "script:no/such/file").err().unwrap();
    assert_eq!(missing.kind, ErrorKind::Script);
    assert!(missing.to_string().contains("no/such/file"), "{missing}");
}

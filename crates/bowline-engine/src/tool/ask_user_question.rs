//! `AskUserQuestion`: shows the user questions with choices; the host fills in the answers.

use std::sync::Arc;

use bowline_tools::{
    Access, Tool, ToolCall, ToolFailure, ToolOutput, ToolSpec, Workspace, schema_of,
};
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

const NAME: &str = "AskUserQuestion";
const DESCRIPTION: &str = "Asks the user one to four questions, each with two to four choices. Use \
    it when you need a decision that only the user can make and that you cannot find out yourself. \
    The user can always answer in their own words instead.";

/// The error for duplicate questions or choices.
const AMBIGUOUS: &str = "Question texts must be unique, option labels must be unique within each \
    question";

/// What the model asks, and, once the person has decided, the answers.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The questions.
    #[schemars(length(min = 1, max = 4))]
    questions: Vec<Question>,
    /// The answers, by question; the user's interface fills them in.
    answers: Option<Map<String, Value>>,
    /// Notes on the answers; the user's interface fills them in.
    annotations: Option<Map<String, Value>>,
    /// Where the questions come from.
    #[serde(rename = "metadata")]
    _metadata: Option<Map<String, Value>>,
    /// An answer in the user's own words; the user's interface fills it in.
    response: Option<String>,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Question {
    /// The whole question, with a question mark.
    question: String,
    /// A word or two that label it.
    header: String,
    /// The choices.
    #[schemars(length(min = 2, max = 4))]
    options: Vec<Choice>,
    /// Whether several may be chosen.
    #[serde(default)]
    multi_select: bool,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Choice {
    /// What is chosen, in a few words.
    label: String,
    /// What it means.
    description: String,
    /// Something to look at while choosing.
    #[serde(skip_serializing_if = "Option::is_none")]
    preview: Option<String>,
}

impl Input {
    /// Answers refer to questions and labels by their texts, so these must be unique.
    fn is_unambiguous(&self) -> bool {
        let differ = |mut texts: Vec<&str>| {
            let count = texts.len();
            texts.sort_unstable();
            texts.dedup();
            texts.len() == count
        };
        differ(self.questions.iter().map(|it| it.question.as_str()).collect())
            && self.questions.iter().all(|question| {
                differ(question.options.iter().map(|option| option.label.as_str()).collect())
            })
    }
}

struct AskUserQuestion {
    spec: ToolSpec,
}

/// The tool.
pub(super) fn tool() -> Arc<dyn Tool> {
    let spec = ToolSpec::new(NAME, DESCRIPTION, schema_of::<Input>()).read_only();
    Arc::new(AskUserQuestion { spec })
}

impl Tool for AskUserQuestion {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn access(&self, _: &Value, _: &Workspace) -> Access {
        Access::Nothing
    }

    fn check<'a>(
        &'a self,
        input: &'a Value,
        _: &'a Workspace,
    ) -> BoxFuture<'a, Result<(), ToolFailure>> {
        let checked = match Input::deserialize(input) {
            Ok(input) if !input.is_unambiguous() => Err(ToolFailure::issue(AMBIGUOUS)),
            // An input that does not fit the schema was refused before.
            Ok(_) | Err(_) => Ok(()),
        };
        Box::pin(std::future::ready(checked))
    }

    fn run(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolOutput, ToolFailure>> {
        Box::pin(std::future::ready(call.input().map(answered)))
    }
}

/// The result. The host has put the answers into the input when it permitted the call.
fn answered(input: Input) -> ToolOutput {
    let answers = input.answers.unwrap_or_default();
    let quoted = |(question, answer): (&String, &Value)| {
        let answer = answer.as_str().map_or_else(|| answer.to_string(), str::to_owned);
        format!("\"{question}\"=\"{answer}\"")
    };
    let listed: Vec<_> = answers.iter().map(quoted).collect();
    let text = match (&input.response, listed.is_empty()) {
        (Some(response), _) => format!("The user responded: {response}"),
        (None, true) => "The user did not answer the questions.".to_owned(),
        (None, false) => format!(
            "Your questions have been answered: {}. You can now continue with these answers in \
             mind.",
            listed.join(", ")
        ),
    };
    let mut structured = json!({"questions": input.questions, "answers": answers});
    for (name, value) in [
        ("response", input.response.map(Value::String)),
        ("annotations", input.annotations.map(Value::Object)),
    ] {
        if let Some(value) = value {
            structured[name] = value;
        }
    }
    ToolOutput::text(text).structured(structured)
}

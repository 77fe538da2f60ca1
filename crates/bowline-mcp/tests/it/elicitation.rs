//! Requests of servers: elicitation and roots.

use std::sync::{Arc, Mutex};

use bowline_mcp::Elicit;
use bowline_protocol::{Elicitation, ElicitationAction, ElicitationResponse, Extra, RawJson};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use crate::rig::Rig;

/// Accepts the first question and declines the rest.
#[derive(Default)]
struct Person(Mutex<Vec<Elicitation>>);

impl Elicit for Person {
    fn elicit(&self, question: Elicitation) -> BoxFuture<'_, ElicitationResponse> {
        let mut asked = self.0.lock().unwrap();
        asked.push(question);
        let (action, content) = match asked.len() {
            1 => (ElicitationAction::Accept, Some(RawJson::from(json!({"name": "Ada"})))),
            _ => (ElicitationAction::Decline, None),
        };
        Box::pin(async { ElicitationResponse { action, content, extra: Extra::new() } })
    }
}

#[tokio::test]
async fn questions_reach_a_person_and_answers_the_server() {
    let person = Arc::new(Person::default());
    let rig = Rig::with(|setup| setup.elicit = Some(person.clone())).connected().await;
    let first: Value = serde_json::from_str(&rig.text("mcp__std__ask", json!({})).await).unwrap();
    assert_eq!(first, json!({"action": "accept", "content": {"name": "Ada"}}));
    let second: Value = serde_json::from_str(&rig.text("mcp__std__ask", json!({})).await).unwrap();
    assert_eq!(second, json!({"action": "decline"}));

    let asked = person.0.lock().unwrap();
    let question = serde_json::to_value(&asked[0]).unwrap();
    assert_eq!(question["mcp_server_name"], "std");
    assert_eq!(question["message"], "Who are you?");
    assert_eq!(question["mode"], "form");
    assert_eq!(question["requested_schema"]["type"], "object");
    assert_eq!(question["property_order"], json!(["name", "age"]), "as the server wrote them");
}

#[tokio::test]
async fn without_a_person_the_question_is_refused() {
    let rig = Rig::new().connected().await;
    assert_eq!(rig.text("mcp__std__ask", json!({})).await, "null");
}

#[tokio::test]
async fn roots_are_the_directories_of_the_workspace() {
    let rig = Rig::new().connected().await;
    rig.workspace.set_added_roots(vec!["/srv/more of it".into()]);
    let roots: Value = serde_json::from_str(&rig.text("mcp__std__roots", json!({})).await).unwrap();
    let start = format!("file://{}", rig.dir.path().display());
    assert_eq!(roots["roots"][0]["uri"], start);
    assert_eq!(
        roots["roots"][1],
        json!({"uri": "file:///srv/more%20of%20it", "name": "more of it"})
    );
}

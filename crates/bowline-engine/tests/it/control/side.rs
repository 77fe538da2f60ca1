//! Side questions: model requests outside the conversation.

use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::rig::Rig;

#[tokio::test]
async fn side_question_leaves_no_trace() {
    let mut rig = Rig::new();
    rig.run("SAY one").await;
    let request = json!({"subtype": "side_question", "question": "SAY aside"});
    let answer = rig.control_as("q1", request, CancellationToken::new()).await;
    assert_eq!(answer, Ok(json!({"response": "aside", "synthetic": false})));
    let received = rig.received();
    assert_eq!(received.len(), 1);
    assert_eq!(received[0]["subtype"], "control_request_progress");
    assert_eq!(
        (&received[0]["request_id"], &received[0]["status"]),
        (&json!("q1"), &json!("started"))
    );
    let export = rig.control(json!({"subtype": "export_conversation"})).await.unwrap();
    assert!(!export["text"].as_str().unwrap().contains("aside"));
}

#[tokio::test]
async fn side_question_runs_beside_a_turn_and_can_be_cancelled() {
    let mut rig = Rig::new();
    rig.prompt("HANG").await;
    rig.until(|frame| frame["subtype"] == "init").await;
    let request = json!({"subtype": "side_question", "question": "SAY aside"});
    assert_eq!(rig.control(request).await.unwrap()["response"], "aside");
    let cancel = CancellationToken::new();
    let request = json!({"subtype": "side_question", "question": "HANG"});
    let asked = rig.control_as("q2", request, cancel.clone());
    let (answer, ()) = tokio::join!(asked, async { cancel.cancel() });
    assert_eq!(answer, Err("Side question cancelled".to_owned()));
}

#[tokio::test]
async fn a_title_is_made_and_kept_if_that_is_wanted() {
    let mut rig = Rig::new();
    let request = |persist| {
        let description = "SAY \"Mend the net.\"";
        json!({"subtype": "generate_session_title", "description": description, "persist": persist})
    };
    assert_eq!(rig.control(request(false)).await, Ok(json!({"title": "Mend the net"})));
    assert_eq!(rig.received(), Vec::<serde_json::Value>::new());
    rig.control(request(true)).await.unwrap();
    assert_eq!(rig.received()[0]["title"], "Mend the net");
}

#[tokio::test]
async fn a_model_that_fails_is_an_error() {
    let rig = Rig::new();
    let request = json!({"subtype": "side_question", "question": "ERRORS 400 -1"});
    assert!(rig.control(request).await.is_err());
}

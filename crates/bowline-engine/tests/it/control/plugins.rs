//! Looking again for plugins, skills and output styles.

use serde_json::{Value, json};

use crate::rig::Rig;

fn write(rig: &Rig, file: &str, text: &str) {
    let path = rig.path().join(".claude").join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().filter_map(|entry| entry["name"].as_str()).collect()
}

#[tokio::test]
async fn a_skill_that_was_written_meanwhile_is_found() {
    let rig = Rig::new();
    let request = json!({"subtype": "reload_skills"});
    assert_eq!(rig.control(request.clone()).await, Ok(json!({"skills": []})));
    write(&rig, "skills/knots/SKILL.md", "---\nname: knots\ndescription: ties\n---\nTie it.");
    let answer = rig.control(request).await.unwrap();
    assert_eq!(names(&answer["skills"]), ["knots"]);
    assert_eq!(answer["skills"][0]["description"], "ties");
}

#[tokio::test]
async fn output_styles_are_looked_for_again() {
    let rig = Rig::new();
    let request = json!({"subtype": "reload_output_styles"});
    let styles = |answer: Value| answer["available_output_styles"].clone();
    assert_eq!(styles(rig.control(request.clone()).await.unwrap()), json!(["default"]));
    write(&rig, "output-styles/terse.md", "---\nname: Terse\n---\nBe brief.");
    assert_eq!(styles(rig.control(request).await.unwrap()), json!(["default", "Terse"]));
}

#[tokio::test]
async fn plugins_are_reloaded_unless_a_turn_runs_and_that_matters() {
    let mut rig = Rig::new();
    write(&rig, "commands/hoist.md", "Hoist the flag.");
    let answer = rig.control(json!({"subtype": "reload_plugins"})).await.unwrap();
    assert!(names(&answer["commands"]).contains(&"hoist"));
    assert_eq!((&answer["plugins"], &answer["error_count"]), (&json!([]), &json!(0)));
    let added = json!({"subtype": "reload_plugins", "add_plugins": [{"path": "/p"}]});
    assert_eq!(rig.control(added).await.unwrap()["error_count"], 1, "there are no plugins here");
    rig.prompt("HANG").await;
    rig.until(|frame| frame["subtype"] == "init").await;
    let busy = json!({"subtype": "reload_plugins", "refuse_if_busy": true});
    assert!(rig.control(busy).await.is_err());
    assert!(rig.control(json!({"subtype": "reload_plugins"})).await.is_ok());
}

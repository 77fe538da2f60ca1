//! The lists a model keeps.

use serde_json::json;

use crate::rig::Rig;

#[tokio::test]
async fn todo_write_replaces_the_whole_list() {
    let rig = Rig::new();
    let todo =
        |status: &str| json!([{ "content": "one", "status": status, "activeForm": "doing" }]);
    let (text, object) = rig.ok("TodoWrite", json!({ "todos": todo("pending") })).await;
    assert!(text.starts_with("Todos have been modified successfully. "));
    assert_eq!(object, json!({ "oldTodos": [], "newTodos": todo("pending") }));
    // A list may come as a string, and its items may say more than we keep.
    let with_more =
        "[{\"content\":\"one\",\"status\":\"completed\",\"activeForm\":\"doing\",\"x\":1}]";
    let (_, object) = rig.ok("TodoWrite", json!({ "todos": with_more })).await;
    assert_eq!(object, json!({ "oldTodos": todo("pending"), "newTodos": todo("completed") }));
    // Everything is done: the list is put away.
    let (_, object) = rig.ok("TodoWrite", json!({ "todos": [] })).await;
    assert_eq!(object["oldTodos"], json!([]));
}

#[tokio::test]
async fn todo_write_reports_invalid_items() {
    let rig = Rig::new();
    let text =
        rig.error("TodoWrite", json!({ "todos": [{ "content": "x", "status": "pending" }] })).await;
    assert!(text.contains("The required parameter `todos[0].activeForm` is missing"), "{text}");
    let empty = json!({ "todos": [{ "content": "", "status": "pending", "activeForm": "x" }] });
    let issues = json!([{
        "origin": "string", "code": "too_small", "minimum": 1, "inclusive": true,
        "path": ["todos", 0, "content"], "message": "Content cannot be empty",
    }]);
    let text = rig.error("TodoWrite", empty).await;
    let text = text.strip_prefix("<tool_use_error>InputValidationError: ").unwrap();
    let listed = text.strip_suffix("</tool_use_error>").unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(listed).unwrap(), issues);
    // One issue needs a sentence, so every issue is one.
    let text = rig.error("TodoWrite", json!({ "todos": [{ "content": "x" }] })).await;
    let choices = r#""pending"|"in_progress"|"completed""#;
    let last = format!(
        "The required parameter `todos[0].activeForm` is missing\n\
         The parameter `todos[0].status` is invalid: Invalid option: expected one of {choices}\
         </tool_use_error>"
    );
    assert!(text.ends_with(&last), "{text}");
}

#[tokio::test]
async fn task_tools_create_update_and_show_tasks() {
    let rig = Rig::new();
    let (text, object) =
        rig.ok("TaskCreate", json!({ "subject": "one", "description": "do one" })).await;
    assert_eq!(text, "Task #1 created successfully: one");
    assert_eq!(object, json!({ "task": { "id": "1", "subject": "one", "description": "do one" } }));
    let (_, object) = rig.ok("TaskCreate", json!({ "subject": "two" })).await;
    assert_eq!(object["task"]["description"], "two");

    let (text, object) = rig
        .ok("TaskUpdate", json!({ "taskId": "1", "status": "in_progress", "owner": "me" }))
        .await;
    assert_eq!(text, "Updated task #1 owner, status");
    assert_eq!(
        object,
        json!({ "success": true, "taskId": "1", "updatedFields": ["owner", "status"],
                "statusChange": { "from": "pending", "to": "in_progress" } })
    );
    let text = rig.text("TaskUpdate", json!({ "taskId": "2", "addBlockedBy": ["1", "9"] })).await;
    assert_eq!(text, "Updated task #2 blockedBy");
    let (text, object) = rig.ok("TaskList", json!({})).await;
    assert_eq!(text, "#1 [in_progress] one (me)\n#2 [pending] two [blocked by #1]");
    assert_eq!(object["tasks"][1]["blockedBy"], json!(["1"]));
    let text = rig.text("TaskGet", json!({ "taskId": "2" })).await;
    assert_eq!(text, "Task #2: two\nStatus: pending\nDescription: two\nBlocked by: #1");

    rig.text("TaskUpdate", json!({ "taskId": "1", "status": "completed" })).await;
    let text = rig.text("TaskList", json!({})).await;
    assert_eq!(text, "#1 [completed] one (me)\n#2 [pending] two");
}

#[tokio::test]
async fn deleted_task_numbers_are_not_reused() {
    let rig = Rig::new();
    assert_eq!(rig.text("TaskList", json!({})).await, "No tasks found");
    rig.text("TaskCreate", json!({ "subject": "one", "description": "" })).await;
    let (_, object) = rig.ok("TaskUpdate", json!({ "taskId": "1", "status": "deleted" })).await;
    assert_eq!(object["updatedFields"], json!(["deleted"]));
    let (text, object) = rig.ok("TaskGet", json!({ "taskId": "1" })).await;
    assert_eq!((text.as_str(), object), ("Task not found", json!({ "task": null })));
    let (text, object) = rig.ok("TaskUpdate", json!({ "taskId": "1", "subject": "x" })).await;
    assert_eq!((text.as_str(), &object["success"]), ("Task not found", &json!(false)));
    let text = rig.text("TaskCreate", json!({ "subject": "two", "description": "" })).await;
    assert_eq!(text, "Task #2 created successfully: two");
}

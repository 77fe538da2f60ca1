//! Skills: their text reaches the model when it calls one.

use crate::rig::{Rig, shapes, text};

#[tokio::test]
async fn skill_text_follows_the_tool_result() {
    let folder = tempfile::tempdir().unwrap();
    let skill = folder.path().join(".claude/skills/greet");
    std::fs::create_dir_all(&skill).unwrap();
    let body = "---\ndescription: how to greet\n---\nGreet $ARGUMENTS warmly.";
    std::fs::write(skill.join("SKILL.md"), body).unwrap();
    let mut rig = Rig::in_folder(folder, |_| {});
    let prompt = "TOOL Skill {\"skill\": \"greet\", \"args\": \"Ada\"}\nNEXT\nSAY hello Ada";
    let frames = rig.run(prompt).await;
    let skills: Vec<_> = frames[0]["skills"].as_array().unwrap().iter().collect();
    assert_eq!(skills, ["greet"]);
    assert_eq!(&shapes(&frames)[1..4], ["assistant:tool_use", "user:tool_result", "user:text"]);
    assert_eq!(text(&frames[2]), "Launching skill: greet");
    assert!(text(&frames[3]).ends_with("Greet Ada warmly."), "{}", frames[3]);
    assert_eq!(frames[3]["isSynthetic"], true);
    let frames = rig.run("TOOL Skill {\"skill\": \"nothing\"}\nNEXT\nSAY ok").await;
    assert!(text(&frames[2]).contains("Unknown skill: nothing"));
}

//! Files in the folders above the working directory, within one repository.

use bowline_engine::settings::SettingsPaths;
use serde_json::{Value, json};

use super::write;
use crate::rig::Rig;

fn names(list: &Value) -> Vec<&str> {
    let own = |name: &&str| ["near", "far", "shared", "team", "outside"].contains(name);
    let names = list.as_array().unwrap().iter().filter_map(|it| it["name"].as_str());
    names.filter(own).collect()
}

#[tokio::test]
async fn repository_files_apply_in_all_its_folders() {
    let folder = tempfile::tempdir().unwrap();
    let put = |path: &str, about: &str, name: &str| {
        let text = format!("---\nname: {name}\ndescription: {about}\n---\nSAY {about}");
        write(folder.path(), path, &text);
    };
    put(".claude/agents/outside.md", "not of this repository", "outside");
    put(".claude/commands/outside.md", "not of this repository", "outside");
    put("repo/.claude/agents/far.md", "far agent", "far");
    put("repo/.claude/agents/crew/team.md", "agent in a folder", "team");
    put("repo/.claude/commands/far.md", "far command", "far");
    put("repo/.claude/commands/shared.md", "far command", "shared");
    put("repo/src/.claude/commands/shared.md", "near command", "shared");
    put("repo/src/.claude/skills/near/SKILL.md", "near skill", "near");
    write(folder.path(), "repo/.git/HEAD", "ref: refs/heads/main");
    let mut rig = Rig::in_folder(folder, |config| {
        config.cwd = config.cwd.join("repo/src");
        config.places = SettingsPaths::new(config.cwd.join("config"), &config.cwd);
    });
    let answer = rig.control(json!({"subtype": "initialize"})).await.unwrap();
    assert_eq!(names(&answer["agents"]), ["far", "team"]);
    let mut commands = names(&answer["commands"]);
    commands.sort_unstable();
    assert_eq!(commands, ["far", "near", "shared"]);
    let said = |frames: Vec<Value>| frames.last().unwrap()["result"].clone();
    assert_eq!(said(rig.run("/far").await), "far command");
    assert_eq!(said(rig.run("/shared").await), "near command");
}

//! Commands, skills and styles of a clone.

use bowline_engine::settings::Trust::{Trusted, Untrusted};
use serde_json::json;

use super::{Clone, headed, names};

#[tokio::test]
async fn the_users_own_command_wins() {
    let skill = headed("description: d", "THEIRS");
    let told_name = headed("name: commit\ndescription: d", "THEIRS");
    for theirs in [
        ("work/.claude/commands/commit.md", "THEIRS"),
        ("work/.claude/skills/commit/SKILL.md", skill.as_str()),
        // A new name, and the user's name as an alias.
        ("work/.claude/skills/odd/SKILL.md", told_name.as_str()),
    ] {
        for (own, file) in [
            ("OWN", "home/commands/commit.md"),
            ("---\ndescription: d\n---\nOWN", "home/skills/commit/SKILL.md"),
            ("---\nname: commit\ndescription: d\n---\nOWN", "home/skills/other/SKILL.md"),
        ] {
            let mut session = Clone::new(&[(file, own), theirs]).open(Untrusted);
            session.rig.run("/commit").await;
            let received = session.request_text();
            assert!(
                received.contains("OWN") && !received.contains("THEIRS"),
                "{file}, {theirs:?}: {received}"
            );
            assert!(session.line().contains("part of commands"), "{}", session.line());
        }
    }
    let mut session = Clone::new(&[
        ("home/commands/commit.md", "OWN"),
        ("work/.claude/commands/commit.md", "THEIRS"),
    ])
    .open(Trusted);
    session.rig.run("/commit").await;
    assert!(session.request_text().contains("THEIRS"), "as the official CLI has it");
}

#[tokio::test]
async fn command_with_a_new_name_works() {
    for trust in [Untrusted, Trusted] {
        let mut session = Clone::new(&[
            ("work/.claude/commands/look.md", "Look at @notes."),
            ("work/notes", "NOTES"),
        ])
        .open(trust);
        session.rig.run("/look").await;
        assert!(session.request_text().contains("NOTES"), "{}", session.request_text());
        assert_eq!(session.line, None);
    }
}

#[tokio::test]
async fn allowed_tools_do_not_apply() {
    let text = headed(
        "description: d\nallowed-tools: Bash(touch:*)",
        "TOOL Bash {\"command\": \"touch pwned\"}\nNEXT\nSAY x",
    );
    for file in ["work/.claude/commands/go.md", "work/.claude/skills/go/SKILL.md"] {
        for (trust, asks) in [(Untrusted, true), (Trusted, false)] {
            let mut session = Clone::new(&[(file, &text)]).open(trust);
            session.rig.will_permit(json!({"behavior": "deny", "message": "no"}));
            assert_eq!(session.asks("/go").await, asks, "{file} {trust:?}");
            assert_eq!(session.root.join("work/pwned").exists(), !asks);
            assert_eq!(session.line().contains("allowed-tools of go"), asks);
        }
    }
}

#[tokio::test]
async fn programs_in_a_text_do_not_run() {
    // Each would run without a permission request: it only reads.
    for program in ["!`cat notes`", "before !`git status` after", "!`ls`"] {
        for file in ["work/.claude/commands/go.md", "work/.claude/skills/go/SKILL.md"] {
            let mut session =
                Clone::new(&[(file, program), ("work/notes", "NOTES")]).open(Untrusted);
            let frames = session.rig.run("/go").await;
            let result = frames.last().unwrap()["result"].as_str().unwrap();
            assert!(result.contains("bowline trust"), "{result}");
            assert!(session.log.requests().is_empty(), "the model is not asked");
            assert!(session.line().contains("programs of go"), "{}", session.line());
        }
    }
    let mut session =
        Clone::new(&[("work/.claude/commands/go.md", "!`cat notes`"), ("work/notes", "NOTES")])
            .open(Trusted);
    session.rig.run("/go").await;
    assert!(session.request_text().contains("NOTES"));
    // The user's own commands still run theirs.
    let mut session =
        Clone::new(&[("home/commands/go.md", "!`cat notes`"), ("work/notes", "NOTES")])
            .open(Untrusted);
    session.rig.run("/go").await;
    assert!(session.request_text().contains("NOTES"));
}

#[tokio::test]
async fn links_out_of_the_clone_are_neither_commands_nor_skills() {
    let text = headed("description: d", "SECRET");
    for (link, target, name) in [
        ("work/.claude/commands/go.md", "../../../outside/go.md", "go"),
        ("work/.claude/commands/sub", "../../../outside", "sub:go"),
        ("work/.claude/commands", "../../outside", "go"),
        ("work/.claude/skills/go/SKILL.md", "../../../../outside/go.md", "go"),
        ("work/.claude/skills/go", "../../../outside/go", "go"),
        ("work/.claude/skills", "../../outside", "go"),
    ] {
        for (trust, found) in [(Untrusted, false), (Trusted, true)] {
            let clone = Clone::new(&[("outside/go.md", &text), ("outside/go/SKILL.md", &text)]);
            let mut session = clone.linked(&[(link, target)]).open(trust);
            let answer = session.rig.control(json!({"subtype": "initialize"})).await.unwrap();
            assert_eq!(names(&answer["commands"]).contains(&name), found, "{link} {trust:?}");
            session.rig.run(&format!("/{name}")).await;
            session.rig.run(&format!("TOOL Skill {{\"skill\": \"{name}\"}}\nNEXT\nSAY x")).await;
            assert_eq!(session.request_text().contains("SECRET"), found, "{link} {trust:?}");
            assert_eq!(session.line().contains("link"), !found, "{}", session.line());
        }
    }
}

#[tokio::test]
async fn a_skill_that_becomes_a_link_later_is_not_read() {
    let text = headed("description: d", "harmless");
    for prompt in ["/go", "TOOL Skill {\"skill\": \"go\"}\nNEXT\nSAY x"] {
        let clone = Clone::new(&[("work/.claude/skills/go/SKILL.md", &text), ("secret", "SECRET")]);
        let mut session = clone.open(Untrusted);
        session.rig.run("SAY hi").await;
        let file = session.root.join("work/.claude/skills/go/SKILL.md");
        std::fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink(session.root.join("secret"), &file).unwrap();
        session.rig.run(prompt).await;
        assert!(!session.request_text().contains("SECRET"), "{prompt}");
    }
}

#[tokio::test]
async fn files_that_a_command_names_lie_in_the_project() {
    for (command, what) in
        [("work/.claude/commands/go.md", "theirs"), ("home/commands/go.md", "the user's")]
    {
        for (trust, received) in [(Untrusted, false), (Trusted, true)] {
            let clone = Clone::new(&[(command, "See @notes."), ("secret", "SECRET")]);
            let mut session = clone.linked(&[("work/notes", "../secret")]).open(trust);
            session.rig.run("/go").await;
            assert_eq!(session.request_text().contains("SECRET"), received, "{what} {trust:?}");
        }
    }
}

#[tokio::test]
async fn styles_of_a_clone_do_not_replace_existing_names() {
    let style = |name: &str| headed(&format!("name: {name}\ndescription: d"), "THEIRS");
    let own = headed("name: terse\ndescription: d", "OWN");
    for (name, trust, theirs) in [
        ("terse", Untrusted, false),
        ("terse", Trusted, true),
        ("Explanatory", Untrusted, false),
        ("Explanatory", Trusted, true),
        ("fresh", Untrusted, true),
        ("fresh", Trusted, true),
    ] {
        let settings = json!({"outputStyle": name}).to_string();
        let mut session = Clone::new(&[
            ("home/output-styles/terse.md", &own),
            ("work/.claude/output-styles/x.md", &style(name)),
            ("work/.claude/settings.json", &settings),
        ])
        .open(trust);
        session.rig.run("SAY hi").await;
        assert_eq!(session.request_text().contains("THEIRS"), theirs, "{name} {trust:?}");
        assert_eq!(session.line().contains("output style"), !theirs, "{}", session.line());
    }
    for (link, target) in [
        ("work/.claude/output-styles/x.md", "../../../outside/x.md"),
        ("work/.claude/output-styles", "../../outside"),
    ] {
        for (trust, theirs) in [(Untrusted, false), (Trusted, true)] {
            let settings = json!({"outputStyle": "fresh"}).to_string();
            let files =
                [("outside/x.md", style("fresh")), ("work/.claude/settings.json", settings)];
            let files = files.each_ref().map(|(name, text)| (*name, text.as_str()));
            let mut session = Clone::new(&files).linked(&[(link, target)]).open(trust);
            session.rig.run("SAY hi").await;
            assert_eq!(session.request_text().contains("THEIRS"), theirs, "{link} {trust:?}");
        }
    }
}

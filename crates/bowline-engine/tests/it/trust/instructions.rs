//! Instruction files of a clone that are links, or that import others.

use bowline_engine::settings::Trust::{Trusted, Untrusted};
use serde_json::json;

use super::Clone;

#[tokio::test]
async fn links_out_of_the_clone_are_not_read() {
    for (link, target) in [
        ("work/CLAUDE.md", "../secret.md"),
        ("work/CLAUDE.local.md", "../secret.md"),
        ("work/AGENTS.md", "../secret.md"),
        ("work/.claude/CLAUDE.md", "../../secret.md"),
        ("work/.claude/rules/r.md", "../../../secret.md"),
        ("work/.claude/rules/deep/r.md", "../../../../secret.md"),
        ("work/.claude/rules", "../../outside"),
        ("work/.claude", "../outside/.claude"),
        // By way of a link that stays inside.
        ("work/CLAUDE.md", "inner/../../secret.md"),
    ] {
        for (trust, received) in [(Untrusted, false), (Trusted, true)] {
            let clone = Clone::new(&[
                ("secret.md", "SECRET"),
                ("outside/r.md", "SECRET"),
                ("outside/.claude/CLAUDE.md", "SECRET"),
                ("work/inner/x", ""),
            ]);
            let mut session = clone.linked(&[(link, target)]).open(trust);
            session.rig.run("SAY hi").await;
            assert_eq!(session.request_text().contains("SECRET"), received, "{link} {trust:?}");
            assert_eq!(
                session.line().contains("out of the project"),
                !received,
                "{}",
                session.line()
            );
        }
    }
}

#[tokio::test]
async fn links_inside_of_the_clone_are_read() {
    for trust in [Untrusted, Trusted] {
        let clone = Clone::new(&[("work/docs/all.md", "PLAIN")]);
        let mut session = clone.linked(&[("work/CLAUDE.md", "docs/all.md")]).open(trust);
        session.rig.run("SAY hi").await;
        assert!(session.request_text().contains("PLAIN"), "{trust:?}");
        assert_eq!(session.line, None);
        // In a folder of the repository, the other folders still belong to the project.
        let clone = Clone::new(&[("work/docs/all.md", "PLAIN"), ("work/sub/x", "")]);
        let clone = clone.linked(&[("work/sub/CLAUDE.md", "../docs/all.md")]);
        let mut session = clone.open_in("work/sub", trust);
        session.rig.run("SAY hi").await;
        assert!(session.request_text().contains("PLAIN"), "{trust:?}");
    }
}

#[tokio::test]
async fn nested_links_are_not_read_when_their_folder_is_reached() {
    for (link, target) in [
        ("work/sub/CLAUDE.md", "../../secret.md"),
        ("work/sub/AGENTS.md", "../../secret.md"),
        ("work/sub/.claude/rules/r.md", "../../../../secret.md"),
        ("work/sub/.claude", "../../outside/.claude"),
    ] {
        for (trust, received) in [(Untrusted, false), (Trusted, true)] {
            let clone = Clone::new(&[
                ("secret.md", "SECRET"),
                ("outside/.claude/CLAUDE.md", "SECRET"),
                ("work/sub/file", "text"),
            ]);
            let mut session = clone.linked(&[(link, target)]).open(trust);
            let file = session.root.join("work/sub/file");
            let read = format!("TOOL Read {}\nNEXT\nSAY x", json!({"file_path": file}));
            session.rig.run(&read).await;
            assert_eq!(session.request_text().contains("SECRET"), received, "{link} {trust:?}");
        }
    }
}

#[tokio::test]
async fn file_rules_apply_to_instructions_of_a_clone() {
    let rule = "---\npaths: [\"**/*.rs\"]\n---\nSECRET";
    for (trust, received) in [(Untrusted, false), (Trusted, true)] {
        let clone = Clone::new(&[("secret.md", rule), ("work/a.rs", "code")]);
        let mut session =
            clone.linked(&[("work/.claude/rules/r.md", "../../../secret.md")]).open(trust);
        let file = session.root.join("work/a.rs");
        let read = format!("TOOL Read {}\nNEXT\nSAY x", json!({"file_path": file}));
        session.rig.run(&read).await;
        assert_eq!(session.request_text().contains("SECRET"), received, "{trust:?}");
    }
}

#[tokio::test]
async fn imports_stay_in_the_clone() {
    for import in ["@../secret.md", "@link.md", "@sub/hop.md", "@folder/secret.md"] {
        for (trust, received) in [(Untrusted, false), (Trusted, true)] {
            let clone = Clone::new(&[
                ("secret.md", "SECRET"),
                ("work/CLAUDE.md", import),
                ("work/sub/hop.md", "@../../secret.md"),
            ]);
            let links = [("work/link.md", "../secret.md"), ("work/folder", "..")];
            let mut session = clone.linked(&links).open(trust);
            session.rig.run("SAY hi").await;
            assert_eq!(session.request_text().contains("SECRET"), received, "{import} {trust:?}");
        }
    }
}

#[tokio::test]
async fn the_users_own_instructions_lead_anywhere() {
    let clone = Clone::new(&[("notes.md", "MINE")]).linked(&[("home/CLAUDE.md", "../notes.md")]);
    let mut session = clone.open(Untrusted);
    session.rig.run("SAY hi").await;
    assert!(session.request_text().contains("MINE"));
}

#[tokio::test]
async fn a_folder_above_that_is_no_repository_is_bounded_by_itself() {
    // Unpacked, not cloned: no repository marks the root of the project.
    for (trust, received) in [(Untrusted, false), (Trusted, true)] {
        let clone = Clone::new(&[("secret.md", "SECRET"), ("unpacked/sub/x", "")]);
        let clone = clone.linked(&[("unpacked/CLAUDE.md", "../secret.md")]);
        let mut session = clone.open_in("unpacked/sub", trust);
        session.rig.run("SAY hi").await;
        assert_eq!(session.request_text().contains("SECRET"), received, "{trust:?}");
    }
}

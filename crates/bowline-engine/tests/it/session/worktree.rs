//! Agents that work in a copy of the project.

use std::{fs, path::Path, process::Command};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::rig::{Rig, text};

fn git(directory: &Path, words: &[&str]) -> String {
    let named = ["-c", "user.name=n", "-c", "user.email=e@example.org"];
    let output = Command::new("git")
        .current_dir(directory)
        .args(named)
        .args(words)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A session in a repository with one commit.
fn in_repository() -> Rig {
    let folder = TempDir::new().unwrap();
    git(folder.path(), &["init", "-q", "-b", "main", "."]);
    fs::write(folder.path().join("file.txt"), "old\n").unwrap();
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "-qm", "first"]);
    Rig::in_folder(folder, |_| {})
}

fn send(script: &str) -> String {
    let input = json!({
        "description": "d", "prompt": script, "isolation": "worktree", "run_in_background": false,
    });
    format!("TOOL Agent {input}\nNEXT\nSAY done")
}

fn bash(command: &str) -> String {
    format!("TOOL Bash {}\nNEXT\nSAY ok", json!({"command": command}))
}

fn send_beside(script: &str) -> String {
    let input = json!({
        "description": "d", "prompt": script, "isolation": "worktree", "run_in_background": true,
    });
    format!("TOOL Agent {input}\nNEXT\nSAY done")
}

fn worktrees(rig: &Rig) -> usize {
    let listed = git(rig.path(), &["worktree", "list", "--porcelain"]);
    listed.lines().filter(|line| line.starts_with("worktree ")).count() - 1
}

/// The result of the call that sent the agent.
fn result(frames: &[Value]) -> &Value {
    let mut outer = frames.iter().filter(|frame| frame["parent_tool_use_id"].is_null());
    outer.rfind(|it| it["message"]["content"][0]["type"] == "tool_result").unwrap()
}

fn inner_result(frames: &[Value]) -> &str {
    let inner = frames.iter().filter(|frame| !frame["parent_tool_use_id"].is_null());
    inner
        .filter(|it| it["message"]["content"][0]["type"] == "tool_result")
        .map(text)
        .next()
        .unwrap()
}

/// Filters of the working directory must not run, because no user has approved them.
#[tokio::test]
async fn filters_of_the_repository_do_not_run() {
    let mut rig = in_repository();
    let ran = rig.path().canonicalize().unwrap().join("ran");
    let program = format!("touch '{}'; cat", ran.display());
    for program_of in ["clean", "smudge"] {
        git(rig.path(), &["config", &format!("filter.a=b.{program_of}"), &program]);
    }
    git(rig.path(), &["config", "filter.a=b.required", "true"]);
    fs::create_dir_all(rig.path().join(".git/info")).unwrap();
    fs::write(rig.path().join(".git/info/attributes"), "*.txt filter=a=b\n").unwrap();
    let frames = rig.run(&send(&bash("pwd; cat file.txt; touch file.txt"))).await;
    assert!(inner_result(&frames).ends_with("old"), "{frames:#?}");
    assert_eq!((ran.exists(), worktrees(&rig)), (false, 0));
    fs::write(rig.path().join("file.txt"), "new\n").unwrap();
    git(rig.path(), &["status", "--porcelain"]);
    git(rig.path(), &["diff", "--stat"]);
    assert!(ran.exists(), "the filter works when git is asked by a person");
}

/// Git would run it at each checkout, without any permission request.
#[tokio::test]
async fn git_hooks_of_the_repository_do_not_run() {
    use std::os::unix::fs::PermissionsExt;

    let mut rig = in_repository();
    let hook = rig.path().join(".git/hooks/post-checkout");
    let ran = rig.path().join("ran");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, format!("#!/bin/sh\ntouch '{}'\n", ran.display())).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let frames = rig.run(&send(&bash("pwd"))).await;
    assert!(inner_result(&frames).contains(".claude/worktrees/"), "{frames:?}");
    assert!(!ran.exists());
    git(rig.path(), &["checkout", "-q", "-b", "other"]);
    assert!(ran.exists(), "the hook works when git is asked by a person");
}

#[tokio::test]
async fn unchanged_worktree_is_removed() {
    let mut rig = in_repository();
    let frames = rig.run(&send(&bash("pwd; git branch --show-current"))).await;
    let (place, branch) = inner_result(&frames).split_once('\n').unwrap();
    let worktrees = rig.path().canonicalize().unwrap().join(".claude/worktrees");
    let name = Path::new(place).strip_prefix(&worktrees).unwrap().to_str().unwrap();
    let id = result(&frames)["tool_use_result"]["agentId"].as_str().unwrap();
    assert_eq!((name, branch), (&*format!("agent-{id}"), &*format!("worktree-agent-{id}")));
    assert_eq!(result(&frames)["tool_use_result"]["worktreePath"], Value::Null);
    assert!(!Path::new(place).exists());
    assert_eq!(git(rig.path(), &["branch", "--format=%(refname:short)"]), "main\n");
}

#[tokio::test]
async fn changed_worktree_stays_and_is_named() {
    let mut rig = in_repository();
    let edit = json!({"file_path": "file.txt", "old_string": "old", "new_string": "new"});
    let script =
        format!("TOOL Read {{\"file_path\": \"file.txt\"}}\nNEXT\nTOOL Edit {edit}\nNEXT\nSAY ok");
    let frames = rig.run(&send(&script)).await;
    let kept = &result(&frames)["tool_use_result"];
    let place = kept["worktreePath"].as_str().unwrap();
    assert_eq!(fs::read_to_string(Path::new(place).join("file.txt")).unwrap(), "new\n");
    assert_eq!(fs::read_to_string(rig.path().join("file.txt")).unwrap(), "old\n");
    let branch = kept["worktreeBranch"].as_str().unwrap();
    assert_eq!(git(Path::new(place), &["branch", "--show-current"]).trim(), branch);
    let said = &result(&frames)["message"]["content"][0]["content"][0]["text"];
    assert!(said.as_str().unwrap().contains(place), "{said}");
    // The permission request names the edit as its reason, not a sensitive path.
    let question = frames.iter().find(|frame| frame["type"] == "can_use_tool").unwrap();
    assert_ne!(question["question"]["decision_reason_type"], "safetyCheck", "{question}");
}

#[tokio::test]
async fn background_agent_keeps_its_worktree_until_it_ends() {
    let mut rig = in_repository();
    let wait = "TOOL Bash {\"command\": \"pwd; until [ -e go ]; do sleep 0.02; done; rm go\"}";
    rig.prompt(&send_beside(&format!("{wait}\nNEXT\nSAY ok"))).await;
    let frames = rig.turn().await;
    assert_eq!(result(&frames)["tool_use_result"]["status"], "async_launched");
    let folder =
        fs::read_dir(rig.path().join(".claude/worktrees")).unwrap().next().unwrap().unwrap();
    assert!(folder.path().join("file.txt").exists());
    fs::write(folder.path().join("go"), "").unwrap();
    let frames = rig.turn().await;
    let received = frames.last().unwrap()["result"].as_str().unwrap();
    assert!(
        received.contains("<summary>Agent \"d\" finished</summary>\n<result>ok</result>"),
        "{received}"
    );
    assert!(!received.contains("<worktree>"), "{received}");
    assert_eq!((folder.path().exists(), worktrees(&rig)), (false, 0));
    assert_eq!(git(rig.path(), &["branch", "--format=%(refname:short)"]), "main\n");
}

#[tokio::test]
async fn changed_worktree_of_a_background_agent_stays_and_is_named() {
    let mut rig = in_repository();
    rig.prompt(&send_beside(&bash("echo x > new.txt"))).await;
    rig.turn().await;
    let frames = rig.turn().await;
    let received = frames.last().unwrap()["result"].as_str().unwrap();
    let tag = |name: &str| {
        let (_, rest) = received.split_once(&format!("<{name}>")).unwrap();
        rest.split_once(&format!("</{name}>")).unwrap().0.to_owned()
    };
    let place = tag("worktreePath");
    assert_eq!(fs::read_to_string(Path::new(&place).join("new.txt")).unwrap(), "x\n");
    assert_eq!(git(Path::new(&place), &["branch", "--show-current"]).trim(), tag("worktreeBranch"));
}

/// The copy is created and removed; the project itself stays as it is.
#[tokio::test]
async fn worktrees_are_created_in_plan_mode() {
    let mut rig = in_repository();
    rig.control(json!({"subtype": "set_permission_mode", "mode": "plan"})).await.unwrap();
    let frames = rig.run(&send(&bash("pwd"))).await;
    assert!(inner_result(&frames).contains(".claude/worktrees/"), "{frames:#?}");
    assert_eq!(worktrees(&rig), 0);
    rig.will_permit(json!({"behavior": "deny", "message": "no"}));
    let frames = rig.run(&send(&bash("touch x"))).await;
    assert_eq!((inner_result(&frames), worktrees(&rig)), ("no", 0));
}

/// Three more than the concurrency limit, all in one response.
fn send_many(script: &str) -> String {
    let calls = format!("{}\n", send_beside(script).lines().next().unwrap()).repeat(MOST + 3);
    format!("{calls}NEXT\nSAY done")
}

/// The concurrency limit of agents.
const MOST: usize = 16;

#[tokio::test]
async fn concurrency_limit_holds_while_worktrees_are_created() {
    let mut rig = in_repository();
    let frames = rig.run(&send_many("HANG")).await;
    let count = &frames.last().unwrap()["subagent_stats"];
    assert_eq!(
        (&count["spawned"], &count["refused"]["concurrency_limit"]),
        (&json!(MOST), &json!(3))
    );
    assert_eq!(worktrees(&rig), MOST);
    rig.abort().await;
}

/// Ten in each of two sessions: they share nothing but the repository.
#[tokio::test]
async fn agents_of_two_sessions_get_worktrees_of_one_repository() {
    const EACH: usize = 10;
    let mut first = in_repository();
    let below = TempDir::new_in(first.path()).unwrap();
    let mut second = Rig::in_folder(below, |_| {});
    let call = send_beside("HANG");
    let calls = format!("{}\n", call.lines().next().unwrap()).repeat(EACH);
    let script = format!("{calls}NEXT\nSAY done");
    let (of_first, of_second) = tokio::join!(first.run(&script), second.run(&script));
    for frames in [of_first, of_second] {
        assert_eq!(frames.last().unwrap()["subagent_stats"]["spawned"], EACH, "{frames:#?}");
    }
    assert_eq!(worktrees(&first), 2 * EACH);
    second.abort().await;
    first.abort().await;
}

#[tokio::test]
async fn agent_without_worktree_frees_its_concurrency_slot() {
    let mut rig = Rig::new();
    rig.run(&send_many("SAY x")).await;
    let input = json!({"description": "d", "prompt": "SAY here", "run_in_background": false});
    let frames = rig.run(&format!("TOOL Agent {input}\nNEXT\nSAY done")).await;
    assert_eq!(result(&frames)["tool_use_result"]["status"], "completed", "{frames:#?}");
    let refused = &frames.last().unwrap()["subagent_stats"]["refused"]["concurrency_limit"];
    assert_eq!(refused, 0);
}

#[tokio::test]
async fn interrupt_removes_an_incomplete_worktree() {
    let mut rig = in_repository();
    // Git copies this file into the new folder, and so waits for the writer of the pipe.
    git(rig.path(), &["config", "core.sparseCheckout", "true"]);
    let pipe = rig.path().join(".git/info/sparse-checkout");
    fs::create_dir_all(pipe.parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    rig.prompt(&send("SAY x")).await;
    let _held_open = loop {
        let pipe = pipe.clone();
        let writer = move || fs::OpenOptions::new().write(true).open(pipe).unwrap();
        let opened = tokio::task::spawn_blocking(writer).await.unwrap();
        // Other readers of the repository read the file as well.
        if worktrees(&rig) == 1 {
            break opened;
        }
    };
    rig.control(json!({"subtype": "interrupt"})).await.unwrap();
    rig.turn().await;
    assert_eq!(worktrees(&rig), 0);
    assert_eq!(git(rig.path(), &["branch", "--format=%(refname:short)"]), "main\n");
}

#[tokio::test]
async fn worktree_with_a_commit_stays() {
    let mut rig = in_repository();
    let commit = "git -c user.name=n -c user.email=e@example.org commit -q --allow-empty -m second";
    let frames = rig.run(&send(&bash(commit))).await;
    let place = result(&frames)["tool_use_result"]["worktreePath"].as_str().unwrap();
    assert!(Path::new(place).exists());
}

#[tokio::test]
async fn missing_repository_is_an_error_for_the_model() {
    let mut rig = Rig::new();
    let frames = rig.run(&send("SAY x")).await;
    assert!(text(result(&frames)).starts_with(
        "The agent's worktree was not created: the working directory is not in a git repo"
    ));
    let mut input = json!({"description": "d", "prompt": "SAY x", "isolation": "cellar"});
    input["run_in_background"] = false.into();
    let frames = rig.run(&format!("TOOL Agent {input}\nNEXT\nSAY y")).await;
    assert!(text(result(&frames)).contains("InputValidationError"), "{frames:#?}");
}

async fn with_hooks(rig: &Rig, events: &[&str]) {
    let hooks: serde_json::Map<_, _> = events
        .iter()
        .map(|event| ((*event).to_owned(), json!([{"hookCallbackIds": [event]}])))
        .collect();
    rig.control(json!({"subtype": "initialize", "hooks": hooks})).await.unwrap();
}

fn hook_inputs(frames: &[Value]) -> Vec<&Value> {
    let calls = frames.iter().filter(|frame| frame["type"] == "hook_callback");
    calls.map(|frame| &frame["call"]["input"]).collect()
}

#[tokio::test]
async fn hooks_create_and_remove_the_worktree() {
    let mut rig = Rig::new();
    with_hooks(&rig, &["WorktreeCreate", "WorktreeRemove", "SubagentStart"]).await;
    let elsewhere = TempDir::new().unwrap();
    git(elsewhere.path(), &["init", "-q", "."]);
    git(elsewhere.path(), &["commit", "-q", "--allow-empty", "-m", "first"]);
    let place = elsewhere.path().canonicalize().unwrap();
    let output = json!({"hookEventName": "WorktreeCreate", "worktreePath": place});
    rig.will_hook(json!({"hookSpecificOutput": output}));
    // Files there may be read like those of the working directories.
    let frames = rig.run(&send(&bash("pwd; ls"))).await;
    assert_eq!(inner_result(&frames), place.display().to_string());
    let received = hook_inputs(&frames);
    assert_eq!(received.len(), 3, "{received:#?}");
    let id = result(&frames)["tool_use_result"]["agentId"].as_str().unwrap();
    assert_eq!(received[0]["name"], format!("agent-{id}"));
    assert_eq!(received[1]["cwd"], place.display().to_string());
    assert_eq!(received[2]["worktree_path"], place.display().to_string());
    // The hook did not remove it, so the result names its path.
    assert_eq!(result(&frames)["tool_use_result"]["worktreePath"], place.display().to_string());
}

#[tokio::test]
async fn hooks_without_a_usable_worktree_are_errors() {
    let mut rig = in_repository();
    with_hooks(&rig, &["WorktreeCreate"]).await;
    let inside = rig.path().canonicalize().unwrap().join("part");
    fs::create_dir(&inside).unwrap();
    let at = |path: &Path| json!({"hookSpecificOutput": {"hookEventName": "WorktreeCreate", "worktreePath": path}});
    for (answer, expected) in [
        (json!({}), "returned no worktree path"),
        (json!({"decision": "block", "reason": "no room"}), "WorktreeCreate hook failed: no room"),
        (at(&inside.join("none")), "is not a directory"),
        (at(&inside), "belongs to the repository at"),
    ] {
        rig.will_hook(answer);
        let frames = rig.run(&send("SAY x")).await;
        assert!(text(result(&frames)).contains(expected), "{}", text(result(&frames)));
    }
}

#[tokio::test]
async fn command_hook_prints_the_worktree_path() {
    let folder = TempDir::new().unwrap();
    let command = "mkdir -p made; echo making it >&2; echo; echo \"$PWD/made\"";
    let settings = json!({"hooks": {"WorktreeCreate": [{"hooks": [{"type": "command", "command": command}]}]}});
    let mut rig = Rig::in_folder(folder, |_| {});
    rig.control(json!({"subtype": "apply_flag_settings", "settings": settings})).await.unwrap();
    let frames = rig.run(&send(&bash("pwd"))).await;
    let made = rig.path().canonicalize().unwrap().join("made");
    assert_eq!(inner_result(&frames), made.display().to_string());
    assert_eq!(result(&frames)["tool_use_result"]["worktreePath"], made.display().to_string());
}

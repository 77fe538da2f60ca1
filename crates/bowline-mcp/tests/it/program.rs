//! Servers that are programs: reached, described, switched off and on, replaced.

use std::time::{Duration, Instant};

use bowline_mcp::McpError;
use bowline_protocol::{McpServerConfig, McpServerStatus};
use bowline_tools::ToolSource;
use serde_json::json;

use crate::rig::{PATIENCE, Rig, program, server_path};

#[tokio::test]
async fn the_status_shows_what_a_server_is_but_not_its_environment() {
    let rig = Rig::new().connected().await;
    let status = serde_json::to_value(rig.servers.status()).unwrap();
    let mut expected = json!([{
        "name": "std", "status": "connected",
        "serverInfo": {"name": "scripted", "version": "1.2", "title": "The Script"},
        "config": {"type": "stdio", "command": server_path(), "args": []},
        "scope": "dynamic", "source": "dynamic", "transport": "stdio",
        "tools": status[0]["tools"],
    }]);
    assert_eq!(status, expected);
    // All pages, in the server's order, without the invalid entry.
    let tools = expected[0]["tools"].take();
    assert_eq!(tools[0], json!({"name": "echo", "annotations": {"readOnly": true}}));
    assert_eq!(tools[1], json!({"name": "ask", "annotations": {}}));
    assert_eq!(tools.as_array().unwrap().last().unwrap()["name"], "grow");
    assert_eq!(rig.servers.instructions(), [("std".to_owned(), "Mind the gap.".to_owned())]);
    let brief = serde_json::to_value(rig.servers.brief_status()).unwrap();
    assert_eq!(brief, json!([{"name": "std", "status": "connected", "source": "dynamic"}]));
}

#[tokio::test]
async fn observers_hear_of_a_server_once_it_is_there() {
    let rig = Rig::new().connected().await;
    rig.log.wait_for("std is connected", 1).await;
    let heard = rig.log.lines();
    for line in ["std has tools", "std has prompts", "std has resources"] {
        assert_eq!(heard.iter().filter(|known| *known == line).count(), 1, "{heard:?}");
    }
}

#[tokio::test]
async fn failures_are_told_in_the_words_hosts_know() {
    let rig = Rig::new();
    rig.add("broken", json!({"type": "stdio", "command": "/nonexistent/server", "args": []}));
    rig.add("crash", program("crash"));
    let rig = rig.start().await;
    let status = serde_json::to_value(rig.servers.status()).unwrap();
    assert_eq!(
        status[0],
        json!({
            "name": "broken", "status": "failed",
            "error": "ENOENT: no such file or directory, posix_spawn 'stdio'",
            "config": {"type": "stdio", "command": "/nonexistent/server", "args": []},
            "scope": "dynamic", "source": "dynamic", "transport": "stdio",
        })
    );
    assert_eq!(status[1]["error"], "Connection closed");
    assert_eq!(rig.servers.stderr("crash").unwrap(), "scripted: told to crash");
    assert!(rig.servers.tools().is_empty());
}

#[tokio::test]
async fn a_slow_server_delays_neither_the_others_nor_the_first_turn() {
    let rig = Rig::new();
    rig.add("slow", program("silent"));
    rig.add("std", program(""));
    rig.servers.start();
    rig.log.wait_for("std is connected", 1).await;
    let before = Instant::now();
    rig.servers.wait_ready(Duration::from_millis(50)).await;
    assert!(before.elapsed() < Duration::from_secs(20));
    assert_eq!(rig.status_of("slow"), McpServerStatus::Pending);
    assert_eq!(rig.text("mcp__std__echo", json!({"text": "hi"})).await, "echo: hi");
}

#[tokio::test]
async fn a_server_that_never_answers_fails_in_time() {
    let rig = Rig::with(|setup| setup.options.connect_timeout = Duration::from_millis(200));
    rig.add("slow", program("silent"));
    let rig = rig.start().await;
    assert_eq!(rig.status_of("slow"), McpServerStatus::Failed);
    let error = rig.servers.status()[0].error.clone().unwrap();
    assert_eq!(error, "no connection after 0.2 s");
}

#[tokio::test]
async fn switching_off_ends_the_process_and_switching_on_starts_another() {
    let rig = Rig::new();
    rig.add("std", program("stubborn"));
    let rig = rig.start().await;
    let pid = rig.text("mcp__std__pid", json!({})).await;
    assert!(is_alive(&pid));

    rig.servers.set_enabled("std", false).await.unwrap();
    assert!(!is_alive(&pid), "reaped, too");
    assert_eq!(rig.status_of("std"), McpServerStatus::Disabled);
    assert!(rig.servers.tools().is_empty());
    // Nobody wakes it by accident.
    rig.servers.start();
    assert_eq!(rig.status_of("std"), McpServerStatus::Disabled);

    rig.servers.set_enabled("std", true).await.unwrap();
    rig.servers.wait_ready(PATIENCE).await;
    assert_ne!(rig.text("mcp__std__pid", json!({})).await, pid);
    let unknown = rig.servers.set_enabled("other", true).await;
    assert_eq!(unknown.unwrap_err().to_string(), "Server not found: other");
}

#[tokio::test]
async fn reconnecting_replaces_the_process() {
    let rig = Rig::new().connected().await;
    let pid = rig.text("mcp__std__pid", json!({})).await;
    rig.servers.reconnect("std").await.unwrap();
    assert!(!is_alive(&pid));
    assert_ne!(rig.text("mcp__std__pid", json!({})).await, pid);
    let unknown = rig.servers.reconnect("x").await;
    assert_eq!(unknown, Err(McpError::NotFound("x".to_owned())));
}

#[tokio::test]
async fn closing_leaves_no_process() {
    let rig = Rig::new().connected().await;
    let pid = rig.text("mcp__std__pid", json!({})).await;
    rig.servers.close().await;
    assert!(!is_alive(&pid));
    assert!(rig.servers.status().is_empty());
}

#[tokio::test]
async fn dropping_everything_leaves_no_process() {
    let rig = Rig::new();
    rig.add("std", program("stubborn"));
    let rig = rig.start().await;
    let pid = rig.text("mcp__std__pid", json!({})).await;
    drop(rig);
    // The runtime kills and reaps in the background.
    gone(&pid).await;
}

#[tokio::test]
async fn children_of_a_server_end_with_it() {
    let rig = Rig::new();
    let script = "sleep 1000 & echo $! >child; exec \"$0\"";
    rig.add("std", json!({"command": "/bin/sh", "args": ["-c", script, server_path()]}));
    let rig = rig.start().await;
    let child = std::fs::read_to_string(rig.dir.path().join("child")).unwrap();
    assert!(is_alive(child.trim()));
    rig.servers.close().await;
    // Nobody waits for it, since it is not our child.
    gone(child.trim()).await;
}

#[tokio::test]
async fn setting_servers_answers_when_they_are_reached_or_known_not_to_be() {
    let rig = Rig::new().connected().await;
    let config = |value: serde_json::Value| McpServerConfig::parse(&value.to_string()).unwrap();
    let wanted = [
        ("broken".to_owned(), config(json!({"command": "/nonexistent/server"}))),
        ("calc".to_owned(), config(json!({"type": "sdk", "name": "calc"}))),
        ("two".to_owned(), config(program(""))),
    ];
    let answer = rig.servers.set_servers(wanted.clone()).await;
    assert_eq!(answer.added, ["calc", "broken", "two"]);
    assert_eq!(answer.removed, [""; 0]);
    assert_eq!(answer.errors.keys().collect::<Vec<_>>(), ["broken"]);
    let names: Vec<_> = rig.servers.status().into_iter().map(|server| server.name).collect();
    assert_eq!(names, ["std", "broken", "two", "calc"]);
    assert_eq!(rig.status_of("calc"), McpServerStatus::Pending);

    let pid = rig.text("mcp__two__pid", json!({})).await;
    let again = rig.servers.set_servers(wanted[2..].to_vec()).await;
    assert_eq!(
        (again.added.len(), again.removed),
        (0, vec!["calc".to_owned(), "broken".to_owned()])
    );
    assert_eq!(rig.text("mcp__two__pid", json!({})).await, pid, "the same stays");

    let none = rig.servers.set_servers([]).await;
    assert_eq!(none.removed, ["two"]);
    assert!(!is_alive(&pid));
    assert_eq!(rig.status_of("std"), McpServerStatus::Connected, "configured elsewhere");
}

fn is_alive(pid: &str) -> bool {
    std::path::Path::new("/proc").join(pid).exists()
}

/// Waits until a process has ended.
async fn gone(pid: &str) {
    let ended = async {
        while is_running(pid) {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, ended).await.expect("the process ends");
}

/// Whether a process is there and not just waiting for a parent that collects it.
fn is_running(pid: &str) -> bool {
    let stat = std::fs::read_to_string(std::path::Path::new("/proc").join(pid).join("stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

//! The arrows of ARCHITECTURE.md, checked.

#![expect(clippy::disallowed_methods, reason = "tests start programs and read variables")]

use std::{collections::BTreeMap, process::Command};

use serde_json::Value;

/// Who may use whom. A crate that is not named here may not exist.
const MAY_USE: &[(&str, &[&str])] = &[
    ("bowline-json", &[]),
    ("bowline-protocol", &["bowline-json"]),
    ("bowline-private", &[]),
    ("bowline-process", &[]),
    ("bowline-shell", &[]),
    ("bowline-sandbox", &[]),
    ("bowline-peer", &["bowline-protocol"]),
    ("bowline-model", &["bowline-private", "bowline-protocol"]),
    ("bowline-sessions", &["bowline-private", "bowline-protocol"]),
    (
        "bowline-tools",
        &[
            "bowline-private",
            "bowline-process",
            "bowline-protocol",
            "bowline-sandbox",
            "bowline-shell",
        ],
    ),
    ("bowline-mcp", &["bowline-private", "bowline-process", "bowline-protocol", "bowline-tools"]),
    (
        "bowline-permission",
        &[
            "bowline-private",
            "bowline-protocol",
            "bowline-sandbox",
            "bowline-shell",
            "bowline-tools",
        ],
    ),
    (
        "bowline-settings",
        &[
            "bowline-private",
            "bowline-protocol",
            "bowline-model",
            "bowline-mcp",
            "bowline-permission",
        ],
    ),
    (
        "bowline-hook",
        &[
            "bowline-private",
            "bowline-process",
            "bowline-protocol",
            "bowline-tools",
            "bowline-settings",
        ],
    ),
    (
        "bowline-engine",
        &[
            "bowline-private",
            "bowline-process",
            "bowline-protocol",
            "bowline-sandbox",
            "bowline-model",
            "bowline-sessions",
            "bowline-tools",
            "bowline-mcp",
            "bowline-permission",
            "bowline-settings",
            "bowline-hook",
        ],
    ),
    ("bowline-doorway", &["bowline-protocol", "bowline-peer", "bowline-engine"]),
    ("bowline-websocket", &["bowline-protocol", "bowline-peer"]),
    ("bowline-door-ws", &["bowline-doorway", "bowline-websocket"]),
    ("bowline-door-rpc", &["bowline-protocol", "bowline-engine"]),
    ("bowline-door-mcp", &["bowline-protocol", "bowline-tools", "bowline-engine"]),
    (
        "bowline",
        &[
            "bowline-private",
            "bowline-process",
            "bowline-protocol",
            "bowline-model",
            "bowline-sandbox",
            "bowline-sessions",
            "bowline-tools",
            "bowline-mcp",
            "bowline-engine",
            "bowline-doorway",
            "bowline-door-ws",
            "bowline-door-rpc",
            "bowline-door-mcp",
        ],
    ),
    (
        "bowline-host",
        &[
            "bowline-private",
            "bowline-process",
            "bowline-protocol",
            "bowline-peer",
            "bowline-sessions",
            // Only with the feature `websocket`.
            "bowline-websocket",
            // Only with the feature `embedded`.
            "bowline-engine",
            "bowline-model",
            "bowline-tools",
        ],
    ),
    ("bowline-examples", &["bowline-host"]),
    ("bowline-testkit", &[]),
];

/// Crates that cost minutes to build, and the only ones of ours that may pay for them.
const HEAVY: &[(&str, &[&str])] = &[
    (
        "tokio",
        &[
            "bowline-peer",
            "bowline-process",
            "bowline-model",
            "bowline-tools",
            "bowline-mcp",
            "bowline-hook",
            "bowline-engine",
            "bowline-websocket",
            "bowline-doorway",
            "bowline-door-ws",
            "bowline-door-rpc",
            "bowline-door-mcp",
            "bowline-host",
            "bowline-examples",
            "bowline-testkit",
            "bowline",
            // Polling until a condition holds.
            "bowline-testkit",
        ],
    ),
    ("reqwest", &["bowline-model", "bowline-tools", "bowline-mcp", "bowline"]),
    ("axum", &["bowline-model", "bowline-door-mcp", "bowline-examples"]),
    ("tokio-tungstenite", &["bowline-websocket"]),
    // In the SDK only with the feature `rmcp`.
    ("rmcp", &["bowline-mcp", "bowline-door-mcp", "bowline-host"]),
    ("clap", &["bowline"]),
    ("jsonschema", &["bowline-tools", "bowline-engine", "bowline-host"]),
];

#[test]
fn arrows_point_down() {
    let may_use = BTreeMap::from_iter(MAY_USE.iter().copied());
    for (name, dependencies) in packages() {
        let allowed = may_use.get(&*name).unwrap_or_else(|| panic!("{name} is not on the map"));
        for (used, _) in dependencies.iter().filter(|(_, ours)| *ours) {
            assert!(allowed.contains(&&**used), "{name} must not use {used}");
        }
    }
}

#[test]
fn heavy_dependencies_stay_where_they_belong() {
    let heavy = BTreeMap::from_iter(HEAVY.iter().copied());
    for (name, dependencies) in packages() {
        for (used, _) in &dependencies {
            let allowed = heavy.get(&**used).is_none_or(|by| by.contains(&&*name));
            assert!(allowed, "{name} must not use {used}");
        }
    }
}

/// Each of our crates with what it is built on, and whether that is ours, too.
fn packages() -> Vec<(String, Vec<(String, bool)>)> {
    let args = ["metadata", "--no-deps", "--offline", "--format-version=1"];
    let output = Command::new(env!("CARGO")).args(args).output().expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo speaks JSON");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let built_on = |package: &Value| {
        list(&package["dependencies"])
            .iter()
            .filter(|dependency| dependency["kind"].is_null())
            .map(|dependency| (text(&dependency["name"]), dependency["path"].is_string()))
            .collect()
    };
    let packages = list(&metadata["packages"]);
    assert!(!packages.is_empty(), "cargo metadata lists our crates");
    packages.iter().map(|package| (text(&package["name"]), built_on(package))).collect()
}

/// `preserve_order` changes every `serde_json::Map` of the program that links the SDK.
#[test]
fn sdk_does_not_change_the_key_order_of_its_program() {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--package", "bowline-host", "--all-features"])
        .args(["--edges", "normal,features", "--invert", "serde_json", "--prefix", "none"])
        .output()
        .expect("cargo runs");
    let tree = String::from_utf8_lossy(&tree.stdout);
    assert!(tree.contains("serde_json feature \"raw_value\""), "{tree}");
    assert!(!tree.contains("preserve_order"), "{tree}");
}

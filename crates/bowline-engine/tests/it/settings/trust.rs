//! What a project may say in a folder that nobody trusts.

use bowline_engine::settings::{LayerPermissions, Settings, Source, SourceSet, Trust};
use bowline_mcp::NamedServer;
use bowline_protocol::{McpServerConfig, PermissionMode};
use serde_json::json;

use super::Machine;

fn permissions(kind: &str) -> serde_json::Value {
    json!({ "permissions": {
        "allow": [format!("{kind}-allow")],
        "ask": [format!("{kind}-ask")],
        "deny": [format!("{kind}-deny")],
        "additionalDirectories": [format!("/{kind}")],
        "defaultMode": "acceptEdits",
    } })
}

fn all(kind: &str) -> LayerPermissions {
    LayerPermissions {
        allow: vec![format!("{kind}-allow")],
        ask: vec![format!("{kind}-ask")],
        deny: vec![format!("{kind}-deny")],
        additional_directories: vec![format!("/{kind}")],
    }
}

#[test]
fn an_untrusted_project_may_take_away_but_not_give() {
    let machine = Machine::new();
    machine.project(permissions("project"));
    machine.local(permissions("local"));
    let places = machine.places();
    let settings = machine.load();
    assert_eq!(Trust::read(&places), Trust::Untrusted);
    let found = settings.permissions(&places, Trust::Untrusted);
    let layers = Vec::from_iter(found.layers.iter().map(|(source, _, said)| (*source, said)));
    let taken =
        LayerPermissions { allow: vec![], additional_directories: vec![], ..all("project") };
    assert_eq!(layers, [(Source::Project, &taken), (Source::Local, &all("local"))]);
    assert_eq!(settings.known().permissions.default_mode, Some(PermissionMode::AcceptEdits));
    assert_eq!(found.notices.len(), 2);
    let (project, state) = (places.project.display(), places.global_state.display());
    assert_eq!(
        found.notices[0],
        format!(
            "Ignoring 1 permissions.allow entry from .claude/settings.json: this workspace has \
             not been trusted. To trust it, set projects[\"{project}\"].hasTrustDialogAccepted: \
             true in {state}."
        )
    );
}

#[test]
fn a_trusted_project_may_give() {
    let machine = Machine::new();
    machine.project(permissions("project"));
    let places = machine.places();
    let found = machine.load().permissions(&places, Trust::Trusted);
    assert_eq!(found.layers[0].2, all("project"));
    assert!(found.notices.is_empty());
}

#[test]
fn trust_is_remembered_for_a_folder_and_those_in_it() {
    let machine = Machine::new();
    let places = machine.places();
    for (folder, accepted, trust) in [
        (machine.path("project"), true, Trust::Trusted),
        (machine.path("project"), false, Trust::Untrusted),
        (machine.path("project/inner"), true, Trust::Untrusted),
        (machine.path(""), true, Trust::Trusted),
    ] {
        let folder = folder.to_str().unwrap().trim_end_matches('/').to_owned();
        let projects = json!({ folder: { "hasTrustDialogAccepted": accepted, "other": 1 } });
        machine.write("config/.claude.json", json!({ "projects": projects, "more": {} }));
        assert_eq!(Trust::read(&places), trust, "{projects}");
    }
    machine.write("config/.claude.json", "{ broken");
    assert_eq!(Trust::read(&places), Trust::Untrusted);
}

#[test]
fn a_policy_can_be_the_only_one_with_rules() {
    let machine = Machine::new();
    machine.user(permissions("user"));
    machine.managed(json!({
        "allowManagedPermissionRulesOnly": true,
        "permissions": { "deny": ["WebFetch"] },
    }));
    let found = machine.load().permissions(&machine.places(), Trust::Trusted);
    assert!(found.managed_only);
    let rules = Vec::from_iter(
        found
            .layers
            .iter()
            .flat_map(|(_, _, said)| said.allow.iter().chain(&said.ask).chain(&said.deny)),
    );
    assert_eq!(rules, ["WebFetch"]);

    let machine = Machine::new();
    machine.user(json!({ "allowManagedPermissionRulesOnly": true }));
    assert!(!machine.load().permissions(&machine.places(), Trust::Trusted).managed_only);
}

#[test]
fn an_untrusted_project_does_not_overrule_what_the_user_says_about_servers_and_variables() {
    let machine = Machine::new();
    let server = |name: &str| json!({ name: { "command": name } });
    machine.write("project/.mcp.json", json!({ "mcpServers": server("shared") }));
    machine.user(json!({ "enableAllProjectMcpServers": false }));
    machine.project(json!({
        "enableAllProjectMcpServers": true,
        "enabledMcpjsonServers": ["shared"],
        "mcpServers": server("own"),
        "env": { "PATH": "/evil", "NO_COLOR": "1" },
    }));
    let (settings, places) = (machine.load(), machine.places());
    let found = |settings: &Settings, trust| {
        let (servers, problems) = settings.servers(&places, SourceSet::default(), trust);
        let servers = Vec::from_iter(servers.into_iter().map(|server| server.name));
        let variables = Vec::from_iter(settings.variables(trust).map(|(name, _)| name.clone()));
        assert!(problems.is_empty(), "{problems:?}");
        (servers.join(" "), variables.join(" "))
    };
    let expect = |servers: &str, variables: &str| (servers.to_owned(), variables.to_owned());
    assert_eq!(found(&settings, Trust::Trusted), expect("shared own", "NO_COLOR PATH"));
    assert_eq!(found(&settings, Trust::Untrusted), expect("", "NO_COLOR"));
    let notices = settings.permissions(&places, Trust::Untrusted).notices;
    let ignored = notices.iter().map(|notice| notice.split(" from ").next().unwrap());
    assert_eq!(Vec::from_iter(ignored), ["Ignoring 1 env entry", "Ignoring 1 mcpServers entry"]);
    // The user's own word counts.
    machine.local(json!({ "enabledMcpjsonServers": ["shared"] }));
    assert_eq!(found(&machine.load(), Trust::Untrusted), expect("shared", "NO_COLOR"));
    // A project may always say no.
    machine.project(json!({ "disabledMcpjsonServers": ["shared"] }));
    assert_eq!(found(&machine.load(), Trust::Untrusted), expect("", ""));
}

#[test]
fn servers_of_the_whole_repository_count_and_the_nearest_wins() {
    let machine = Machine::new();
    let server = |command: &str| json!({ "command": command });
    let above = json!({ "mcpServers": { "shared": server("far"), "tide": server("tide") } });
    machine.write(".mcp.json", above);
    machine.write("project/.mcp.json", json!({ "mcpServers": { "shared": server("near") } }));
    let found = |sources| {
        let servers = machine.load().servers(&machine.places(), sources, Trust::Untrusted).0;
        let commands = servers.into_iter().map(|NamedServer { name, config, .. }| match config {
            McpServerConfig::Stdio(stdio) => format!("{name}={}", stdio.command),
            other => panic!("{other:?}"),
        });
        Vec::from_iter(commands).join(" ")
    };
    assert_eq!(found(SourceSet::default()), "shared=near", "what lies above may be anybody's");
    machine.write(".git/HEAD", json!("ref: refs/heads/main"));
    assert_eq!(found(SourceSet::default()), "shared=near tide=tide");
    assert_eq!(found(SourceSet { project: false, ..SourceSet::default() }), "");
    machine.local(json!({ "disabledMcpjsonServers": ["tide"] }));
    assert_eq!(found(SourceSet::default()), "shared=near");
}

#[test]
fn what_is_wrong_with_the_projects_servers_is_said() {
    let machine = Machine::new();
    machine.write("project/.mcp.json", json!({ "mcpServers": { "odd": { "command": 7 } } }));
    let (servers, problems) =
        machine.load().servers(&machine.places(), SourceSet::default(), Trust::Untrusted);
    assert!(servers.is_empty());
    assert!(
        problems[0].contains(".mcp.json") && problems[0].contains("odd.command"),
        "{problems:?}"
    );
}

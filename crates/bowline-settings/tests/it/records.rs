//! Which folders are trusted.

use std::{fs, os::unix::fs::symlink, path::Path};

use bowline_settings::{
    SettingsPaths, SourceSet, StarterConsent, Trust, TrustReason, TrustRecords,
};
use serde_json::json;

use super::Machine;

/// The official CLI's record of a folder.
fn accepted(folder: &Path, accepted: bool) -> serde_json::Value {
    let folder = folder.to_str().unwrap().trim_end_matches('/').to_owned();
    json!({ "projects": { folder: { "hasTrustDialogAccepted": accepted, "other": 1 } }, "more": {} })
}

fn trusted(places: &SettingsPaths) -> bool {
    Trust::recorded(places) == Trust::Trusted
}

/// The same places for another project.
fn at(machine: &Machine, project: &str) -> SettingsPaths {
    SettingsPaths { project: machine.path(project), ..machine.places() }
}

#[test]
fn records_of_the_official_cli_hold_for_a_folder_and_those_in_it() {
    let machine = Machine::new();
    let official =
        SettingsPaths { official_state: Some(machine.path("official.json")), ..machine.places() };
    for (file, places) in [("config/.claude.json", machine.places()), ("official.json", official)] {
        for (folder, word, expected) in [
            ("project", true, true),
            ("project", false, false),
            ("project/inner", true, false),
            ("", true, true),
        ] {
            machine.write(file, accepted(&machine.path(folder), word));
            assert_eq!(trusted(&places), expected, "{file}: {folder} {word}");
        }
        machine.write(file, "{ broken");
        assert!(!trusted(&places));
    }
}

#[test]
fn a_folder_is_trusted_until_that_is_revoked() {
    let machine = Machine::new();
    let places = machine.places();
    fs::create_dir_all(machine.path("project/inner")).unwrap();
    let real = machine.path("project").canonicalize().unwrap();
    assert_eq!(TrustRecords::trust(&places, &machine.path("project/inner/..")).unwrap(), real);
    assert!(trusted(&places) && trusted(&at(&machine, "project/inner")));
    assert!(!trusted(&at(&machine, "")) && !trusted(&at(&machine, "gone")));
    let reason = Trust::decide(&places, &StarterConsent::default()).1;
    assert_eq!(reason, Some(TrustReason::Recorded(real.clone())));
    // One folder in it can be taken out, and comes back.
    TrustRecords::revoke(&places, &machine.path("project/inner")).unwrap();
    assert!(trusted(&places) && !trusted(&at(&machine, "project/inner")));
    TrustRecords::trust(&places, &machine.path("project/inner")).unwrap();
    assert!(trusted(&at(&machine, "project/inner")));
    TrustRecords::revoke(&places, &real).unwrap();
    assert!(!trusted(&places) && trusted(&at(&machine, "project/inner")));
    // Also a record of the official CLI.
    machine.write("config/.claude.json", accepted(&real, true));
    assert!(trusted(&places));
    TrustRecords::revoke(&places, &real).unwrap();
    assert!(!trusted(&places));
    let listed = TrustRecords::read(&places).list();
    let listed: Vec<_> = listed.iter().map(|it| (it.folder.as_path(), it.trusted)).collect();
    assert_eq!(listed, [(real.as_path(), false), (&*real.join("inner"), true)]);
}

#[test]
fn the_file_of_records_is_private_and_not_replaced_if_it_cannot_be_read() {
    use std::os::unix::fs::PermissionsExt;

    let machine = Machine::new();
    let places = machine.places();
    TrustRecords::trust(&places, &places.project).unwrap();
    let mode = fs::metadata(places.trust_file()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    machine.write("config/trust.json", "{ broken");
    assert!(TrustRecords::trust(&places, &places.project).is_err());
    assert_eq!(fs::read_to_string(places.trust_file()).unwrap(), "{ broken");
    assert!(TrustRecords::trust(&places, &machine.path("nowhere")).is_err());
    machine.write("file", "");
    assert!(TrustRecords::trust(&places, &machine.path("file")).is_err());
}

#[test]
fn a_link_is_as_trusted_as_what_it_leads_to() {
    let machine = Machine::new();
    fs::create_dir_all(machine.path("other")).unwrap();
    symlink("../other", machine.path("project/out")).unwrap();
    symlink("project", machine.path("in")).unwrap();
    TrustRecords::trust(&machine.places(), &machine.path("project")).unwrap();
    assert!(trusted(&at(&machine, "in")));
    assert!(!trusted(&at(&machine, "project/out")), "it leads out of what is trusted");
}

#[test]
fn trust_in_the_home_folder_covers_nothing_in_it() {
    let machine = Machine::new();
    let home =
        |project: &str| SettingsPaths { home: Some(machine.path("home")), ..at(&machine, project) };
    fs::create_dir_all(machine.path("home/clone")).unwrap();
    for folder in ["home", "", "/"] {
        let folder = machine.path(folder);
        TrustRecords::trust(&home("home"), &folder).unwrap();
    }
    assert!(trusted(&home("home")));
    assert!(!trusted(&home("home/clone")));
    assert!(!trusted(&home("project")), "it lies beside home, in a folder above it");
    TrustRecords::trust(&home("home"), &machine.path("home/clone")).unwrap();
    assert!(trusted(&home("home/clone")));
}

#[test]
fn a_project_does_not_vouch_for_itself() {
    let machine = Machine::new();
    let project = machine.path("project").canonicalize().unwrap();
    let inside = SettingsPaths::new(project.join(".bowline"), &project);
    fs::create_dir(project.join(".bowline")).unwrap();
    let record = json!({ "folders": { project.to_str().unwrap(): true, "/": true } });
    fs::write(inside.trust_file(), record.to_string()).unwrap();
    fs::write(&inside.global_state, accepted(&project, true).to_string()).unwrap();
    assert!(!trusted(&inside));
    let home = SettingsPaths { home: Some(project.clone()), ..inside };
    assert!(trusted(&home), "the user's own folder lies in the user's home");
}

#[test]
fn worktrees_are_trusted_as_their_repository_is() {
    let machine = Machine::new();
    let (main, tree) = (machine.path("project"), machine.path("tree"));
    machine.write("project/.git/worktrees/tree/gitdir", tree.join(".git").display());
    machine.write("tree/.git", format!("gitdir: {}\n", main.join(".git/worktrees/tree").display()));
    assert!(!trusted(&at(&machine, "tree")));
    TrustRecords::trust(&machine.places(), &main).unwrap();
    assert!(trusted(&at(&machine, "tree")));
    fs::create_dir(tree.join("sub")).unwrap();
    assert!(trusted(&at(&machine, "tree/sub")));
    // A folder that claims to be one, and that the repository does not know.
    machine.write("fake/.git", format!("gitdir: {}\n", main.join(".git/worktrees/tree").display()));
    assert!(!trusted(&at(&machine, "fake")));
    machine.write("own/.git/worktrees/x/gitdir", machine.path("fake/.git").display());
    assert!(!trusted(&at(&machine, "fake")));
}

#[test]
fn programs_and_people_consent() {
    let machine = Machine::new();
    let decide = |consent: StarterConsent| Trust::decide(&machine.places(), &consent).0;
    let host = |name: &str| StarterConsent {
        entrypoint: Some(name.to_owned()),
        ..StarterConsent::default()
    };
    assert_eq!(decide(StarterConsent::default()), Trust::Untrusted);
    assert_eq!(decide(StarterConsent { given: true, ..StarterConsent::default() }), Trust::Trusted);
    for (name, expected) in [
        ("sdk-py", Trust::Trusted),
        ("claude-vscode", Trust::Trusted),
        ("cli", Trust::Untrusted),
        ("sdk-cli", Trust::Untrusted),
        ("unknown-host", Trust::Untrusted),
    ] {
        assert_eq!(decide(host(name)), expected, "{name}");
    }
    let project = SourceSet { project: true, ..SourceSet::NONE };
    let user = SourceSet { user: true, ..SourceSet::NONE };
    for (named, expected) in [(project, Trust::Trusted), (user, Trust::Untrusted)] {
        assert_eq!(
            decide(StarterConsent { sources: Some(named), ..StarterConsent::default() }),
            expected
        );
    }
}

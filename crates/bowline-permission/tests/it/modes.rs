//! Calls that each mode allows.

use bowline_permission::{Location, ModeError, RuleSource};
use bowline_protocol::PermissionMode;

use super::bench::{Bench, link};

#[test]
fn default_mode_lets_reading_run_and_asks_about_the_rest() {
    Bench::new().check(&[
        ("Read a.txt", "allow mode"),
        ("Grep .", "allow mode"),
        ("Read missing.txt", "allow mode"),
        ("Read OUTSIDE/b.txt", "ask workingDir"),
        ("Write w.txt", "ask"),
        ("Write OUTSIDE/w.txt", "ask workingDir"),
        ("Write .git/config", "ask safetyCheck"),
        ("Bash ls", "allow subcommandResults"),
        ("Bash git status && git log | head -n 1", "allow subcommandResults"),
        ("Bash cat a.txt", "allow subcommandResults"),
        ("Bash cat OUTSIDE/b.txt", "ask workingDir"),
        ("Bash cat src/../../outside/b.txt", "ask workingDir"),
        ("Bash cd OUTSIDE && cat b.txt", "ask workingDir"),
        ("Bash cd src && ls", "allow subcommandResults"),
        ("Bash cat $x", "ask other"),
        ("Bash cat ~/x", "ask workingDir"),
        ("Bash touch made.txt", "ask"),
        ("Bash echo hi > made.txt", "ask"),
        ("Bash npm test", "ask"),
        ("Bash echo $(npm test)", "ask"),
        ("Bash case x in *) ls;; esac", "ask other"),
        ("Bash ", "allow subcommandResults"),
        ("TodoWrite", "allow"),
        ("Agent explore", "allow"),
        ("WebFetch http://example.com/x", "ask"),
        ("mcp__calc__add", "ask"),
    ]);
}

#[test]
fn accept_edits_lets_changes_inside_run() {
    Bench::new().mode("acceptEdits").check(&[
        ("Write w.txt", "allow mode"),
        ("Edit src/a.rs", "allow mode"),
        ("NotebookEdit n.ipynb", "allow mode"),
        ("Write OUTSIDE/w.txt", "ask workingDir"),
        ("Write .git/config", "ask safetyCheck"),
        ("Write .claude/settings.json", "ask safetyCheck"),
        ("Write src/.bashrc", "ask safetyCheck"),
        ("Bash touch made.txt", "allow subcommandResults"),
        ("Bash mkdir -p x/y && touch x/y/z", "allow subcommandResults"),
        ("Bash rm a.txt", "allow subcommandResults"),
        ("Bash sed -i 's/a/b/' a.txt", "allow subcommandResults"),
        ("Bash echo hi > made.txt", "allow subcommandResults"),
        ("Bash cp OUTSIDE/b.txt .", "ask workingDir"),
        ("Bash rm OUTSIDE/b.txt", "ask workingDir"),
        ("Bash touch ../outside/x", "ask workingDir"),
        ("Bash cd OUTSIDE; rm b.txt", "ask workingDir"),
        ("Bash f() { rm b.txt; }; cd OUTSIDE; f", "ask workingDir"),
        ("Bash rm $x", "ask other"),
        ("Bash rm */x", "ask other"),
        ("Bash rm *.txt", "ask other"),
        ("Bash touch .git/hooks/pre-commit", "ask safetyCheck"),
        ("Bash echo x > .git/config", "ask safetyCheck"),
        ("Bash npm test", "ask"),
        ("Bash touch a && npm test", "ask"),
        ("Bash sudo touch a", "ask"),
        ("mcp__calc__add", "ask"),
    ]);
}

#[test]
fn plan_mode_changes_nothing() {
    let mut bench = Bench::new().mode("plan").rules(&["allow Write", "allow Bash(npm *)"]);
    bench.policy.plan_file = Some(bench.home.join("plans/x.md"));
    bench.check(&[
        ("Read a.txt", "allow mode"),
        ("Bash ls", "allow subcommandResults"),
        ("Write w.txt", "ask mode"),
        ("Bash touch x", "ask mode"),
        ("Bash npm test", "ask mode"),
        ("TodoWrite", "allow"),
    ]);
    let plan = format!("Write {}", bench.home.join("plans/x.md").display());
    assert_eq!(bench.short(&plan), "allow mode");
}

#[test]
fn bypass_lets_all_run_but_what_rules_and_safety_hold_back() {
    let rules = ["deny Bash(rm *)", "ask Bash(git push *)", "deny Read(secret/**)"];
    Bench::new().mode("bypassPermissions").rules(&rules).check(&[
        ("Write w.txt", "allow mode"),
        ("Write OUTSIDE/w.txt", "allow mode"),
        ("Bash touch x", "allow mode"),
        ("Bash npm test", "allow mode"),
        ("mcp__calc__add", "allow mode"),
        ("Bash rm x", "deny subcommandResults"),
        ("Bash git push origin", "ask rule"),
        ("Bash chmod -R 777 /", "ask safetyCheck"),
        ("Bash find / -delete", "ask safetyCheck"),
        ("Write .git/config", "ask safetyCheck"),
        ("Read secret/key", "deny rule"),
        ("Bash eval \"$x\"", "ask other"),
    ]);
    Bench::new().mode("bypassPermissions").check(&[
        ("Bash rm -rf /", "ask safetyCheck"),
        ("Bash sudo rm -rf ~", "ask safetyCheck"),
        ("Bash eval \"$x\"", "allow mode"),
        ("Bash case x in *) rm y;; esac", "allow mode"),
    ]);
}

#[test]
fn dont_ask_denies_what_would_be_asked() {
    let bench = Bench::new().mode("dontAsk").rules(&["allow Bash(npm *)", "ask Bash(ls *)"]);
    bench.check(&[
        ("Read a.txt", "allow mode"),
        ("Read OUTSIDE/b.txt", "deny mode"),
        ("Write w.txt", "deny mode"),
        ("Bash npm test", "allow subcommandResults"),
        ("Bash touch x", "deny mode"),
        ("Bash ls", "deny mode"),
        ("mcp__calc__add", "deny mode"),
    ]);
    let denial = bench.denial("Write w.txt");
    assert!(denial.message.starts_with("Permission to use Write has been denied because"));
    assert!(denial.announced);
}

#[test]
fn auto_mode_has_no_classifier_here() {
    Bench::new().mode("auto").rules(&["ask Bash(ls *)"]).check(&[
        ("Read a.txt", "allow mode"),
        ("Bash pwd", "allow subcommandResults"),
        ("Bash touch x", "deny classifier"),
        ("Bash ls", "ask rule"),
    ]);
}

#[test]
fn tools_that_are_questions_are_always_asked() {
    for mode in ["default", "acceptEdits", "plan", "bypassPermissions", "auto"] {
        let bench = Bench::new().mode(mode).rules(&["allow AskUserQuestion"]).needs_person();
        assert_eq!(bench.short("AskUserQuestion"), "ask", "{mode}");
        assert!(bench.question("AskUserQuestion").requires_user_interaction);
    }
    Bench::new().mode("dontAsk").needs_person().check(&[("AskUserQuestion", "deny mode")]);
}

#[test]
fn added_directories_count_as_inside() {
    let mut bench = Bench::new().mode("acceptEdits");
    let outside = bench.outside.clone();
    bench.policy.add_directory(RuleSource::CliArg, &outside);
    bench.check(&[
        ("Read OUTSIDE/b.txt", "allow mode"),
        ("Write OUTSIDE/w.txt", "allow mode"),
        ("Bash rm OUTSIDE/b.txt", "allow subcommandResults"),
        ("Bash cat OUTSIDE/b.txt", "allow subcommandResults"),
    ]);
    assert_eq!(bench.policy.directories().collect::<Vec<_>>(), [&bench.project, &bench.outside]);
}

#[test]
fn symlinks_do_not_lead_out() {
    let bench = Bench::new().mode("acceptEdits");
    link(&bench.outside, &bench.project.join("door"));
    link(&bench.outside.join("new"), &bench.project.join("dangling"));
    link(&bench.project.join(".git/config"), &bench.project.join("innocent"));
    link(&bench.project.join("loop"), &bench.project.join("loop"));
    bench.check(&[
        ("Read door/b.txt", "ask workingDir"),
        ("Write door/new/file", "ask workingDir"),
        ("Write dangling", "ask workingDir"),
        ("Write innocent", "ask safetyCheck"),
        ("Write loop/x", "allow mode"),
        ("Bash rm door/b.txt", "ask workingDir"),
        ("Bash cat door/../b.txt", "ask workingDir"),
        ("Bash cd door && rm b.txt", "ask workingDir"),
    ]);
    // A pattern allows a file under its name only if it really is there.
    let bench = Bench::new().rules(&["allow Edit(src/**)"]);
    link(&bench.outside, &bench.project.join("src/door"));
    bench.check(&[("Write src/door/x", "ask workingDir"), ("Write src/x", "allow rule")]);
    link(&bench.outside, &bench.project.join("door"));
    let location = Location::of(&bench.project.join("door/b.txt"));
    assert_eq!(location.real(), bench.outside.join("b.txt"));
    assert_eq!(location.named(), bench.project.join("door/b.txt"));
}

#[test]
fn a_mode_is_set_or_refused_with_its_reason() {
    let mut bench = Bench::new();
    let policy = &mut bench.policy;
    assert_eq!(policy.set_mode("manual".into()), Ok(()));
    assert_eq!(policy.mode, PermissionMode::Default);
    let unknown = policy.set_mode("nonsense".into()).unwrap_err();
    assert_eq!(unknown.code(), "invalid_mode");
    assert_eq!(
        unknown.to_string(),
        "Cannot set permission mode: must be one of acceptEdits, auto, bypassPermissions, \
         default, dontAsk, plan"
    );
    let bypass = PermissionMode::BypassPermissions;
    assert_eq!(policy.set_mode(bypass.clone()), Err(ModeError::BypassNotLaunched));
    policy.bypass_available = true;
    assert_eq!(policy.set_mode(bypass), Ok(()));
}

#[test]
fn settings_keep_tools_for_files_inside_whatever_allows_them() {
    let mut bench = Bench::new().mode("bypassPermissions").rules(&["allow Write"]);
    let outside = bench.outside.join("b.txt").display().to_string();
    let (read, write) = (format!("Read {outside}"), format!("Write {outside}"));
    bench.check(&[(&read, "allow mode"), (&write, "allow mode")]);
    bench.policy.blocks_reads_outside = true;
    bench.policy.blocks_writes_outside = true;
    bench.check(&[
        (&read, "deny workingDir"),
        (&write, "deny workingDir"),
        ("Read a.txt", "allow mode"),
        ("Write w.txt", "allow mode"),
    ]);
}

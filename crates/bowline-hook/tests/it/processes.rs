//! No process of a hook outlives its time, its session, or anybody's interest in it.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    path::Path,
    process::Command,
    sync::Arc,
    time::Duration,
};

use bowline_hook::{FailureKind, HookActivity, HookObserver, HookText};
use bowline_protocol::HookOutcome;
use serde_json::{Value, json};
use tokio::{sync::oneshot, time::timeout};

use super::{Rig, pre_tool_use, prompt};

/// A shell line that leaves a child behind and waits, while both hold `alive` open.
const FAMILY: &str = "exec 3>alive; sleep 600 & echo up >&3; sleep 600; wait";

/// Knows when a family has begun and when all of it is gone.
struct Family {
    begun: oneshot::Receiver<()>,
    gone: oneshot::Receiver<()>,
}

impl Family {
    /// Watches a pipe: its end comes when nobody holds it open any more.
    fn watch(rig: &Rig) -> Self {
        let pipe = rig.path("alive");
        make_pipe(&pipe);
        let (begin, begun) = oneshot::channel();
        let (end, gone) = oneshot::channel();
        // Not a task: the runtime would wait for it even if the family never ends.
        std::thread::spawn(move || {
            let mut pipe = BufReader::new(File::open(pipe).unwrap());
            pipe.read_line(&mut String::new()).unwrap();
            begin.send(()).ok();
            pipe.read_to_end(&mut Vec::new()).unwrap();
            end.send(()).ok();
        });
        Self { begun, gone }
    }
}

async fn is_gone(gone: oneshot::Receiver<()>) {
    timeout(Duration::from_secs(60), gone).await.expect("the family is gone").unwrap();
}

fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn family(extra: Value) -> Rig {
    let mut hook = json!({ "type": "command", "command": FAMILY });
    hook.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    Rig::settings(json!({ "PreToolUse": [{ "hooks": [hook] }] }))
}

#[tokio::test]
async fn a_program_that_takes_too_long_is_killed_and_the_tool_runs() {
    let rig = family(json!({ "timeout": 0.2 }));
    let family = Family::watch(&rig);
    let report = rig.run(pre_tool_use("Bash")).await;
    assert_eq!(report.tool_refusal(), None);
    assert_eq!(report.failures[0].kind, FailureKind::TimedOut);
    let notice = &report.notices[0];
    assert_eq!(notice.tag.as_deref(), Some("hook_no_verdict"));
    let told = notice.hook_no_verdict.as_ref().unwrap();
    assert_eq!((told.hook_event.as_str(), told.timed_out), ("PreToolUse", true));
    let Some(HookActivity::Response(response)) = rig.activity().pop() else { panic!("no end") };
    assert_eq!((response.exit_code, &response.outcome), (Some(1), &HookOutcome::Cancelled));
    is_gone(family.gone).await;
}

#[tokio::test]
async fn cancelling_kills_the_whole_family() {
    let rig = family(json!({}));
    let family = Family::watch(&rig);
    let cancel = rig.cancel.clone();
    let (report, ()) = tokio::join!(rig.run(pre_tool_use("Bash")), async {
        family.begun.await.unwrap();
        cancel.cancel();
    });
    assert!(report.cancelled);
    is_gone(family.gone).await;
    let Some(HookActivity::Response(response)) = rig.activity().pop() else { panic!("no end") };
    assert_eq!(response.outcome, HookOutcome::Cancelled);
}

#[tokio::test]
async fn dropping_the_run_kills_the_whole_family() {
    let rig = family(json!({}));
    let family = Family::watch(&rig);
    tokio::select! {
        _ = rig.run(pre_tool_use("Bash")) => panic!("it never ends by itself"),
        begun = family.begun => begun.unwrap(),
    }
    is_gone(family.gone).await;
}

#[tokio::test]
async fn an_async_hook_holds_nothing_up_and_ends_with_the_session() {
    let rig = family(json!({ "async": true }));
    let family = Family::watch(&rig);
    let report = rig.run(pre_tool_use("Bash")).await;
    assert_eq!((report.ran, report.has_errors()), (1, false));
    family.begun.await.unwrap();
    rig.hooks.shutdown().await;
    is_gone(family.gone).await;
}

#[tokio::test]
async fn dropping_the_hooks_ends_those_in_the_background() {
    let rig = family(json!({ "async": true }));
    let family = Family::watch(&rig);
    rig.run(pre_tool_use("Bash")).await;
    family.begun.await.unwrap();
    drop(rig.hooks);
    is_gone(family.gone).await;
}

/// Passes on what happens in the background.
struct Background(tokio::sync::mpsc::UnboundedSender<HookActivity>);

impl HookObserver for Background {
    fn observe(&self, activity: HookActivity) {
        self.0.send(activity).ok();
    }
}

#[tokio::test]
async fn background_program_reports_after_its_end() {
    let answer = json!({ "hookSpecificOutput": {
        "hookEventName": "UserPromptSubmit", "additionalContext": "late",
    } });
    // The second answer is not printed before the pipe is read, which is after the run.
    let command =
        format!("echo '{{\"async\": true, \"asyncTimeout\": 60000}}'; echo >go; echo '{answer}'");
    let rig = Rig::command("UserPromptSubmit", &command);
    make_pipe(&rig.path("go"));
    let (sender, mut activity) = tokio::sync::mpsc::unbounded_channel();
    let observer: Arc<dyn HookObserver> = Arc::new(Background(sender));
    let report = rig.hooks.run(&rig.input(prompt("hi")), &observer, &rig.cancel).await;
    assert!(report.contexts.is_empty());

    let go = rig.path("go");
    tokio::task::spawn_blocking(|| File::open(go).unwrap().read_to_end(&mut Vec::new()).unwrap());
    let report = loop {
        match activity.recv().await.unwrap() {
            HookActivity::Background { report, rewake } => {
                assert!(!rewake);
                break report;
            }
            HookActivity::Started(_) | HookActivity::Response(_) => {}
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(report.contexts, [HookText::Context("late".to_owned())]);
}

#[tokio::test]
async fn an_objection_from_the_background_can_wake_the_agent() {
    let hook =
        json!({ "type": "command", "command": "echo wrong >&2; exit 2", "asyncRewake": true });
    let rig = Rig::settings(json!({ "PreToolUse": [{ "hooks": [hook] }] }));
    let (sender, mut activity) = tokio::sync::mpsc::unbounded_channel();
    let observer: Arc<dyn HookObserver> = Arc::new(Background(sender));
    let report = rig.hooks.run(&rig.input(pre_tool_use("Bash")), &observer, &rig.cancel).await;
    assert_eq!(report.tool_refusal(), None);
    let (report, rewake) = loop {
        if let HookActivity::Background { report, rewake } = activity.recv().await.unwrap() {
            break (report, rewake);
        }
    };
    assert!(rewake);
    assert_eq!(report.blocks[0].reason, "[echo wrong >&2; exit 2]: wrong");
}

#[tokio::test]
async fn detached_child_process_does_not_delay_the_reply() {
    // It keeps stdout open for as long as it lives, which ends with the pipe.
    let rig = Rig::command("UserPromptSubmit", "echo fine; cat hold & exit 0");
    make_pipe(&rig.path("hold"));
    let report = rig.run(prompt("hi")).await;
    assert_eq!(report.contexts, [HookText::Printed("fine".to_owned())]);
    let hold = rig.path("hold");
    tokio::task::spawn_blocking(|| File::options().write(true).open(hold).unwrap()).await.unwrap();
}

#[tokio::test]
async fn long_work_is_reported_while_it_goes_on() {
    let rig = Rig::command("UserPromptSubmit", "echo begun; cat go; echo done");
    make_pipe(&rig.path("go"));
    let (sender, mut activity) = tokio::sync::mpsc::unbounded_channel();
    let observer: Arc<dyn HookObserver> = Arc::new(Background(sender));
    let go = rig.path("go");
    let input = rig.input(prompt("hi"));
    let (report, ()) = tokio::join!(rig.hooks.run(&input, &observer, &rig.cancel), async {
        loop {
            if let HookActivity::Progress(progress) = activity.recv().await.unwrap() {
                assert_eq!((progress.stdout.as_str(), progress.stderr.as_str()), ("begun\n", ""));
                break;
            }
        }
        let open = move || File::options().write(true).open(go).unwrap();
        drop(tokio::task::spawn_blocking(open).await.unwrap());
    });
    assert_eq!(report.contexts, [HookText::Printed("begun\ndone".to_owned())]);
}

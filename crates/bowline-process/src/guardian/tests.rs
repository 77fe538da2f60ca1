//! Guardians of their own, whose input is closed as the end of the program would close it.

use std::time::Duration;

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    time,
};

use super::*;
use crate::{command, group_command};

/// Far more than it takes, and far less than a process would run by itself.
const SOON: Duration = Duration::from_secs(30);

impl Guardian {
    /// Closes the shell's input and waits for the shell.
    fn end_of_program(&mut self) {
        let mut shell = self.shell.take().expect("a group was registered");
        drop(shell.stdin.take());
        shell.wait().expect("it is a child");
    }
}

struct Sleeper {
    child: tokio::process::Child,
    id: i32,
}

impl Sleeper {
    /// A process that ignores SIGTERM.
    async fn start(mut command: tokio::process::Command) -> Self {
        // An ignored signal stays ignored across exec.
        command.args(["-c", "trap '' TERM; echo ready; exec sleep 1000"]).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("ready"));
        let id = i32::try_from(child.id().unwrap()).unwrap();
        Self { child, id }
    }

    async fn in_group() -> Self {
        Self::start(group_command("/bin/sh")).await
    }

    async fn assert_ends(&mut self, case: &str) {
        let ended = time::timeout(SOON, self.child.wait()).await;
        ended.unwrap_or_else(|_| panic!("it runs on: {case}")).unwrap();
    }

    fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }
}

#[tokio::test]
async fn agent_is_ended_whether_or_not_it_leads_a_group() {
    for leads in [true, false] {
        let shell = if leads { group_command("/bin/sh") } else { command("/bin/sh") };
        let mut agent = Sleeper::start(shell).await;
        let mut guardian = Guardian::new();
        guardian.watch(agent.id, OrphanPolicy::TerminateThenKill);
        guardian.end_of_program();
        agent.assert_ends(&format!("leads a group: {leads}")).await;
    }
}

#[tokio::test]
async fn agent_may_exit_by_itself_after_sigterm() {
    let script = "trap 'exit 0' TERM; echo ready; while :; do sleep 0.1; done";
    let mut shell = group_command("/bin/sh");
    shell.args(["-c", script]).stdout(Stdio::piped());
    let mut agent = shell.spawn().unwrap();
    let mut lines = BufReader::new(agent.stdout.take().unwrap()).lines();
    assert_eq!(lines.next_line().await.unwrap().as_deref(), Some("ready"));
    let mut guardian = Guardian::new();
    guardian.watch(i32::try_from(agent.id().unwrap()).unwrap(), OrphanPolicy::TerminateThenKill);
    guardian.end_of_program();
    let status = time::timeout(SOON, agent.wait()).await.expect("it ends").unwrap();
    assert!(status.success(), "{status}");
}

#[tokio::test]
async fn registered_groups_are_killed_and_dismissed_ones_are_not() {
    let mut groups =
        [Sleeper::in_group().await, Sleeper::in_group().await, Sleeper::in_group().await];
    let mut agent = Sleeper::in_group().await;
    let mut guardian = Guardian::new();
    for group in &groups {
        guardian.watch(group.id, OrphanPolicy::Kill);
    }
    guardian.watch(agent.id, OrphanPolicy::TerminateThenKill);
    guardian.dismiss(groups[1].id);
    guardian.dismiss(agent.id);
    guardian.end_of_program();
    groups[0].assert_ends("the first").await;
    groups[2].assert_ends("the last").await;
    assert!(groups[1].is_running(), "a dismissed group was killed");
    assert!(agent.is_running(), "a dismissed agent was ended");
}

#[tokio::test]
async fn one_shell_serves_all_groups_and_is_replaced_if_it_was_killed() {
    let mut groups = [Sleeper::in_group().await, Sleeper::in_group().await];
    let mut guardian = Guardian::new();
    guardian.watch(groups[0].id, OrphanPolicy::Kill);
    let first = guardian.shell.as_ref().unwrap().id();
    guardian.watch(groups[1].id, OrphanPolicy::Kill);
    assert_eq!(guardian.shell.as_ref().unwrap().id(), first);

    guardian.dismiss(groups[1].id);
    guardian.shell.as_mut().unwrap().kill().unwrap();
    guardian.shell.as_mut().unwrap().wait().unwrap();
    guardian.watch(groups[1].id, OrphanPolicy::Kill);
    assert_ne!(guardian.shell.as_ref().unwrap().id(), first);
    guardian.end_of_program();
    for group in &mut groups {
        group.assert_ends("known to the first shell, or registered later").await;
    }
}

//! Cost of starting a confined command.

use std::{
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use crate::rig::Rig;

const RUNS: usize = 300;

/// Prints medians; run with `--ignored --nocapture`, best in a release build.
#[test]
#[ignore = "a measurement"]
fn cost_of_a_confined_command() {
    let Some(mut rig) = Rig::new() else { return };
    rig.confinement.run_from(&std::env::var("PATH").unwrap(), None);
    rig.attempt(|| Ok(())).unwrap();
    let (mut plain, mut confined) = (Vec::new(), Vec::new());
    // In turns, so that both meet the same noise.
    for _ in 0..RUNS {
        plain.push(timed(|| run().wait().unwrap()));
        confined.push(timed(|| rig.attempt(|| Ok(run())).unwrap().wait().unwrap()));
    }
    let (plain, confined) = (median(plain), median(confined));
    println!(
        "plain {plain:?}, confined {confined:?}, difference {:?}",
        confined.saturating_sub(plain)
    );
}

fn run() -> std::process::Child {
    Command::new("/bin/true").stdin(Stdio::null()).spawn().unwrap()
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let began = Instant::now();
    work();
    began.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

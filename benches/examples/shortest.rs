//! The shortest of many repetitions: what other work on the machine disturbs least.
//!
//! `shortest` measures everything, as a table. `shortest 'response 1 KB' read/bowline` does only
//! this, for a profiler that counts instructions.

use std::{
    env,
    time::{Duration, Instant},
};

use bowline_benches::{cases, tasks};

/// Rounds through all tasks, so that a busy moment does not meet all repetitions of one.
const ROUNDS: usize = 20;
const REPETITIONS: usize = 1_000;

fn main() {
    let mut arguments = env::args().skip(1);
    let (only_case, only_task) = (arguments.next(), arguments.next());
    let is = |only: &Option<String>, name: &str| only.as_deref().is_none_or(|only| only == name);
    println!("| lines | task | shortest | messages/s | MB/s |\n|---|---|---|---|---|");
    for (case, lines) in cases().into_iter().filter(|(case, _)| is(&only_case, case)) {
        let mut tasks = tasks(&lines);
        tasks.retain(|(task, _)| is(&only_task, task));
        let mut shortest = vec![Duration::MAX; tasks.len()];
        for _ in 0..ROUNDS {
            for ((_, run), shortest) in tasks.iter_mut().zip(&mut shortest) {
                *shortest = repeat(run).min(*shortest);
            }
        }
        let bytes: usize = lines.iter().map(|line| line.len() + 1).sum();
        for ((task, _), shortest) in tasks.iter().zip(shortest) {
            let seconds = shortest.as_secs_f64();
            println!(
                "| {case} | {task} | {:.2} µs | {:.0} | {:.0} |",
                seconds * 1e6,
                lines.len() as f64 / seconds,
                bytes as f64 / seconds / 1e6,
            );
        }
    }
}

/// The shortest of some repetitions.
fn repeat(run: &mut impl FnMut()) -> Duration {
    let repetitions = (0..REPETITIONS).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed()
    });
    repetitions.min().unwrap_or_default()
}

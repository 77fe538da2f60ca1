//! The shortest of many repetitions, which other work on the machine disturbs least.
//!
//! `shortest` measures everything; `shortest read-ours 2000` only repeats one thing, for a profiler.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use bowline_benches::{assistant, derived::{dropping, keeping as derived}};
use bowline_protocol::{AgentLine, Head};

fn shortest(mut work: impl FnMut()) -> Duration {
    (0..20_000)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .min()
        .unwrap_or_default()
}

fn main() {
    for (name, line) in [("1k", assistant(600)), ("40k", assistant(40_000)), ("res", bowline_benches::tool_result(40_000))] {
        let ours = AgentLine::parse(&line).unwrap();
        let theirs: derived::Line = serde_json::from_str(&line).unwrap();
        let mut buffer = Vec::new();
        if let Some(what) = std::env::args().nth(1) {
            if std::env::args().nth(2).is_some_and(|case| case == name) {
                for _ in 0..2000 {
                    match &*what {
                        "ours" => { black_box(AgentLine::parse(black_box(&line)).unwrap()); }
                        "theirs" => { black_box(serde_json::from_str::<derived::Line>(black_box(&line)).unwrap()); }
                        _ => { buffer.clear(); serde_json::to_writer(&mut buffer, black_box(&ours)).unwrap(); }
                    }
                }
            }
            continue;
        }
        println!("{name} {} bytes", line.len());
        println!("  ours   {:?}", shortest(|| { black_box(AgentLine::parse(black_box(&line)).unwrap()); }));
        println!("  theirs {:?}", shortest(|| { black_box(serde_json::from_str::<derived::Line>(black_box(&line)).unwrap()); }));
        println!("  droppi {:?}", shortest(|| { black_box(serde_json::from_str::<dropping::Line>(black_box(&line)).unwrap()); }));
        println!("  head   {:?}", shortest(|| { black_box(Head::read(black_box(&line)).unwrap()); }));
        println!("  w ours {:?}", shortest(|| { buffer.clear(); serde_json::to_writer(&mut buffer, black_box(&ours)).unwrap(); black_box(&buffer); }));
        println!("  w thrs {:?}", shortest(|| { buffer.clear(); serde_json::to_writer(&mut buffer, black_box(&theirs)).unwrap(); black_box(&buffer); }));
    }
}

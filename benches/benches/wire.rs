//! Reading and writing lines: Bowline's types beside a derived tagged enum, in the same run.

use std::{hint::black_box, time::Duration};

use bowline_benches::{SESSION, assistant, derived, tool_result};
use bowline_protocol::{AgentLine, Head};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

fn inputs() -> [(&'static str, Vec<String>); 4] {
    [
        ("session", SESSION.lines().map(str::to_owned).collect()),
        ("answer 1 KB", vec![assistant(600)]),
        ("answer 40 KB", vec![assistant(40_000)]),
        ("result 40 KB", vec![tool_result(40_000)]),
    ]
}

fn read(criterion: &mut Criterion) {
    for (name, lines) in inputs() {
        let mut group = criterion.benchmark_group(format!("read {name}"));
        group.throughput(Throughput::Bytes(lines.iter().map(|line| line.len() as u64 + 1).sum()));
        group.bench_function("bowline", |bench| {
            bench.iter(|| {
                for line in &lines {
                    black_box(AgentLine::parse(black_box(line)).expect("the line is known"));
                }
            });
        });
        group.bench_function("derived", |bench| {
            bench.iter(|| {
                for line in &lines {
                    let line = serde_json::from_str::<derived::Line>(black_box(line));
                    black_box(line.expect("the line is known"));
                }
            });
        });
        group.bench_function("head", |bench| {
            bench.iter(|| {
                for line in &lines {
                    black_box(Head::read(black_box(line)).expect("the line has a head"));
                }
            });
        });
        group.finish();
    }
}

fn write(criterion: &mut Criterion) {
    for (name, lines) in inputs() {
        let ours: Vec<AgentLine> =
            lines.iter().map(|line| AgentLine::parse(line).expect("the line is known")).collect();
        let theirs: Vec<derived::Line> = lines
            .iter()
            .map(|line| serde_json::from_str(line).expect("the line is known"))
            .collect();
        let mut group = criterion.benchmark_group(format!("write {name}"));
        group.throughput(Throughput::Bytes(lines.iter().map(|line| line.len() as u64 + 1).sum()));
        let mut buffer = Vec::new();
        group.bench_function("bowline", |bench| {
            bench.iter(|| {
                for line in &ours {
                    buffer.clear();
                    serde_json::to_writer(&mut buffer, black_box(line)).expect("it serializes");
                    black_box(&buffer);
                }
            });
        });
        group.bench_function("derived", |bench| {
            bench.iter(|| {
                for line in &theirs {
                    buffer.clear();
                    serde_json::to_writer(&mut buffer, black_box(line)).expect("it serializes");
                    black_box(&buffer);
                }
            });
        });
        group.finish();
    }
}

criterion_group! {
    name = wire;
    config = Criterion::default()
        .measurement_time(Duration::from_secs(2))
        .warm_up_time(Duration::from_millis(500))
        .sample_size(40);
    targets = read, write
}
criterion_main!(wire);

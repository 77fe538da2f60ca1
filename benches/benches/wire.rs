//! Reading and writing lines: Bowline's types beside derived tagged enums, in the same run.

use std::time::Duration;

use bowline_benches::{cases, tasks};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

fn wire(criterion: &mut Criterion) {
    for (name, lines) in cases() {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::ElementsAndBytes {
            elements: lines.len() as u64,
            bytes: lines.iter().map(|line| line.len() as u64 + 1).sum(),
        });
        for (task, mut run) in tasks(&lines) {
            group.bench_function(task, |bench| bench.iter(&mut run));
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .measurement_time(Duration::from_secs(2))
        .warm_up_time(Duration::from_millis(500))
        .sample_size(40);
    targets = wire
}
criterion_main!(benches);

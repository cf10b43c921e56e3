//! The workloads under divan: `cargo bench -p gantry-micro`, with a filter `cargo bench -p gantry-micro -- resolver`.
//!
//! Quick and native only, for whoever changes one of the crates. What is claimed comes from `npm run bench`, which runs the
//! same workloads natively and in a page, interleaved.

use divan::Bencher;
use divan::counter::BytesCount;
use gantry_micro::generate::{self, Form, Shape};
use gantry_micro::{Bundle, workload};

fn main() {
    divan::main();
}

fn run(bencher: Bencher<'_, '_>, name: &str, input: &Bundle) {
    let mut workload = workload(name, input).expect("inputs are made for their workloads");
    bencher.counter(BytesCount::new(input.size())).bench_local(|| {
        workload.prepare();
        workload.run()
    });
}

const READERS: &[&str] = &[
    "spans/gantry",
    "spans/byte table",
    "spans/serde_json RawValue",
    "spans/simd-json tape",
    "pick/gantry",
    "all/gantry",
];

#[divan::bench(args = READERS, sample_count = 20)]
fn packument(bencher: Bencher<'_, '_>, way: &str) {
    let input = generate::packuments(Shape::Typescript, Form::Abbreviated, 3_478);
    run(bencher, &format!("packument/{way}"), &input);
}

const UNPACKERS: &[&str] = &["inflate/gantry", "hash/gantry", "untar/gantry", "extract/gantry"];

#[divan::bench(args = UNPACKERS, sample_count = 10)]
fn archive(bencher: Bencher<'_, '_>, way: &str) {
    run(bencher, &format!("archive/{way}"), &generate::tarballs(60));
}

#[divan::bench(args = [100, 300, 1_000, 3_000], sample_count = 10)]
fn resolver(bencher: Bencher<'_, '_>, packages: usize) {
    run(bencher, "resolver/lock/bodies", &generate::project(packages));
}

//! How long a packument takes to scan: `cargo run --release --example scan_speed -p gantry-manifest`.
//!
//! Makes a document of about 5 MB with the proportions of an abbreviated one and prints the best of many runs. No time is
//! asserted, since it depends on the machine.

#![expect(clippy::disallowed_methods, reason = "a measurement, which runs natively and needs a clock")]

use std::time::Instant;

use bytes::Bytes;
use gantry_manifest::Packument;

const VERSIONS: usize = 3_400;
const RUNS: usize = 50;

fn main() {
    let body = Bytes::from(document());
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        let start = Instant::now();
        let packument = Packument::scan(body.clone()).expect("a valid document");
        best = best.min(start.elapsed().as_secs_f64());
        assert_eq!(packument.versions().count(), VERSIONS);
    }
    let packument = Packument::scan(body.clone()).expect("a valid document");
    let start = Instant::now();
    let probed = packument.versions().filter(|version| packument.is_deprecated(version)).count();
    let probing = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let decoded = packument.versions().filter(|version| packument.manifest(version).is_some()).count();
    let decoding = start.elapsed().as_secs_f64();
    let megabytes = body.len() as f64 / 1e6;
    println!("scan: {:.2} ms for {megabytes:.2} MB, {:.0} MB/s", best * 1e3, megabytes / best);
    println!("deprecation of all versions: {:.2} ms ({probed})", probing * 1e3);
    println!("every version decoded: {:.2} ms ({decoded})", decoding * 1e3);
}

fn document() -> String {
    let versions: Vec<String> = (0..VERSIONS)
        .map(|number| {
            let version = format!("{}.{}.{}", number / 100, number / 10 % 10, number % 10);
            let dependencies: Vec<String> = (0..18).map(|other| format!("\"package-{other}\":\"^{other}.2.3\"")).collect();
            format!(
                "\"{version}\":{{\"name\":\"example\",\"version\":\"{version}\",\"dependencies\":{{{0}}},\
                 \"devDependencies\":{{{0}}},\"bin\":{{\"example\":\"bin/example\"}},\"engines\":{{\"node\":\">=4.2.0\"}},\
                 \"dist\":{{\"integrity\":\"sha512-{1}==\",\"shasum\":\"{2}\",\"tarball\":\
                 \"https://registry.example/example/-/example-{version}.tgz\",\"fileCount\":172,\"unpackedSize\":30000000,\
                 \"signatures\":[{{\"keyid\":\"SHA256:{2}\",\"sig\":\"{1}\"}}]}}}}",
                dependencies.join(","),
                "A".repeat(86),
                "0".repeat(40),
            )
        })
        .collect();
    format!("{{\"name\":\"example\",\"dist-tags\":{{\"latest\":\"33.9.9\"}},\"versions\":{{{}}}}}", versions.join(","))
}

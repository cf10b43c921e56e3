//! Reading packuments: `spans` (find every version), `pick` (find them and decode the latest), `all` (decode every one).
//!
//! All ways of a task give the same number: of `spans` the versions, of `pick` and `all` the peer dependencies of what
//! was decoded, plus the versions. What a way needs besides the body (simd-json a copy, for it writes into its input)
//! counts as its own time.

mod alternatives;

use bytes::Bytes;
use gantry_manifest::Packument;

use crate::{Bundle, Workload};
use alternatives::{by_serde, by_simd_json, by_table};

pub(crate) fn workload(name: &str, input: &Bundle) -> Option<Box<dyn Workload>> {
    let one: fn(&Bytes) -> u64 = match name {
        "spans/gantry" => |body| scan(body).versions().count() as u64,
        "spans/byte table" => |body| by_table::spans(body).len() as u64,
        "spans/serde_json RawValue" => |body| by_serde::spans(body),
        "spans/simd-json tape" => by_simd_json::spans,
        "pick/gantry" => pick,
        "pick/serde_json RawValue" => by_serde::pick,
        "pick/simd-json tape" => by_simd_json::pick,
        "all/gantry" => all,
        "all/serde_json typed" => by_serde::all,
        "all/simd-json typed" => by_simd_json::all,
        _ => return None,
    };
    let bodies: Vec<Bytes> = input.bodies().cloned().collect();
    Some(Box::new(move || bodies.iter().map(one).sum()))
}

fn scan(body: &Bytes) -> Packument {
    Packument::scan(body.clone()).expect("inputs are packuments")
}

fn pick(body: &Bytes) -> u64 {
    let packument = scan(body);
    let manifest = packument.dist_tag("latest").and_then(|version| packument.manifest(version));
    let peers = manifest.map_or(0, |manifest| manifest.peer_dependencies.len());
    (peers + packument.versions().count()) as u64
}

fn all(body: &Bytes) -> u64 {
    let packument = scan(body);
    let counts = packument
        .versions()
        .map(|version| packument.manifest(version).map_or(0, |manifest| manifest.peer_dependencies.len() as u64) + 1);
    counts.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{self, Form, Shape};

    #[test]
    fn all_ways_of_a_task_arrive_at_the_same_number() {
        for shape in [Shape::Typescript, Shape::TypesNode, Shape::React, Shape::Project] {
            for form in [Form::Abbreviated, Form::Full] {
                let input = generate::packuments(shape, form, 40);
                let versions: usize = input.bodies().map(|body| scan(body).versions().count()).sum();
                for (task, ways) in [
                    ("spans", &["gantry", "byte table", "serde_json RawValue", "simd-json tape"][..]),
                    ("pick", &["gantry", "serde_json RawValue", "simd-json tape"]),
                    ("all", &["gantry", "serde_json typed", "simd-json typed"]),
                ] {
                    let run = |way: &str| workload(&format!("{task}/{way}"), &input).expect("there").run();
                    let found: Vec<u64> = ways.iter().map(|way| run(way)).collect();
                    assert!(found.iter().all(|number| *number == found[0]), "{shape:?} {form:?} {task}: {found:?}");
                    assert!(found[0] >= versions as u64 && versions >= 40, "{shape:?} {task}: {found:?}");
                }
            }
        }
    }
}

//! Packages of known shapes: how many, with how many files of what size. Contents are the same in every run.
use gantry_testkit::fixtures::Registry;
use serde_json::{Value, json};

/// A set of packages to put in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Its name in results.
    pub name: &'static str,
    /// What it stands for.
    pub what: &'static str,
    /// Packages.
    pub packages: usize,
    /// Files in each, `package.json` included.
    pub files: usize,
    /// Sizes of files.
    pub sizes: Sizes,
}

/// How big files are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// 200 bytes to 25 kB, as many below 400 as above 12 kB; 5 kB on average.
    Source,
    /// All of this many bytes.
    Bytes(usize),
}

/// The shapes, smallest first.
pub const SHAPES: &[Shape] = &[
    Shape { name: "64", what: "one small package", packages: 1, files: 64, sizes: Sizes::Source },
    Shape { name: "219", what: "one middling package", packages: 1, files: 219, sizes: Sizes::Source },
    Shape { name: "635", what: "one large package", packages: 1, files: 635, sizes: Sizes::Source },
    Shape { name: "1978", what: "one very large package", packages: 1, files: 1_978, sizes: Sizes::Source },
    Shape { name: "many", what: "many small packages", packages: 400, files: 5, sizes: Sizes::Source },
    Shape { name: "big", what: "a few big files", packages: 1, files: 5, sizes: Sizes::Bytes(8 << 20) },
];

impl Shape {
    /// The shape of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        SHAPES.iter().find(|shape| shape.name == name)
    }

    /// A registry that has its packages.
    pub fn registry(&self) -> Registry {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        (0..self.packages).fold(Registry::new(), |registry, number| {
            registry.package(&self.package(number), "1.0.0", |mut package| {
                for file in 1..self.files {
                    package = package.file(&format!("lib/{}/file-{file}.js", file / 32), self.contents(&mut random));
                }
                package
            })
        })
    }

    /// A `package.json` that asks for all of them.
    pub fn manifest(&self) -> Value {
        let dependencies: serde_json::Map<String, Value> =
            (0..self.packages).map(|number| (self.package(number), json!("1.0.0"))).collect();
        json!({ "name": format!("shape-{}", self.name), "version": "1.0.0", "dependencies": dependencies })
    }

    fn package(&self, number: usize) -> String {
        format!("shape-{}-{number}", self.name)
    }

    fn contents(&self, random: &mut Random) -> Vec<u8> {
        let size = match self.sizes {
            Sizes::Bytes(bytes) => bytes,
            Sizes::Source => {
                // Evenly spread on a logarithmic scale: a doubling, then a place within it.
                let low = 200 << (random.next() % 7);
                low + random.next() as usize % low
            }
        };
        let mut bytes = vec![0; size];
        for piece in bytes.chunks_mut(8) {
            let noise = random.next().to_le_bytes();
            piece.copy_from_slice(&noise[..piece.len()]);
        }
        bytes
    }
}

/// Xorshift: enough to keep file systems from finding anything to compress.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_stay_within_their_range_and_repeat() {
        let shape = Shape::named("219").expect("there is such a shape");
        let sizes = || {
            let mut random = Random(7);
            (0..2_000).map(|_| shape.contents(&mut random).len()).collect::<Vec<_>>()
        };
        assert_eq!(sizes(), sizes());
        assert!(sizes().iter().all(|size| (200..25_600).contains(size)));
        let average = sizes().iter().sum::<usize>() / 2_000;
        assert!((4_000..7_000).contains(&average), "{average}");
    }

    #[test]
    fn a_shape_has_as_many_files_as_it_says() {
        let shape = Shape::named("64").expect("there is such a shape");
        let tarball = shape.registry().tarball("shape-64-0", "1.0.0").expect("its package is there");
        assert!(tarball.len() > 64 * 512);
        assert_eq!(shape.manifest()["dependencies"]["shape-64-0"], "1.0.0");
    }
}

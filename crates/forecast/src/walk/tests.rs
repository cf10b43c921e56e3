use super::*;
use crate::POPULAR;
use proptest::prelude::*;

/// `a` 2 (latest) needs `b` ^1 and the unknown `z`, with peer `p`; `a` 1 needs nothing; `b` 1, which has builds, needs `a` ^2 and `c`; `p` 3 needs `q` and has peer `b`.
fn small() -> Vec<u8> {
    let names = ["a", "b", "c", "p", "q", "z"];
    let entries: [u32; 7] = [0, 2, 3, 3, 4, 4, 4];
    // Entries: 0 = a@2, 1 = a@1, 2 = b@1, 3 = p@3; from 4 on names.
    let records: [&[u8]; 4] =
        [&[2, 1, 0, 4, 2, 4 + 5, 1, 3], &[1, 9, 3, 0, 0], &[1, 0, 0, 5, 0, 4 + 2, 0], &[3, 0, 0, 2, 4 + 4, 1, 2]];
    let mut bytes = b"gantryF\x02".to_vec();
    let mut word = |number: usize| bytes.extend(u32::try_from(number).unwrap().to_le_bytes());
    word(names.len());
    word(records.len());
    word(names.concat().len());
    (1..=names.len()).for_each(&mut word);
    entries.iter().for_each(|&entry| word(entry as usize));
    let mut start = 0;
    for record in records {
        word(start);
        start += record.len();
    }
    bytes.extend(names.concat().bytes());
    bytes.extend(records.concat());
    bytes
}

fn from_a(range: &str, settled: &[&str]) -> Vec<String> {
    let bytes = small();
    let mut walk = Walk::new(Table::new(&bytes).unwrap());
    let foretold = walk.follow(("a", range, false), |name| settled.contains(&name));
    foretold.into_iter().map(|foretold| foretold.name.to_owned()).collect()
}

/// The names that are foretold where nothing is settled.
fn names<'t>(walk: &mut Walk<'t>, from: (&str, &str, bool)) -> Vec<&'t str> {
    walk.follow(from, |_| false).into_iter().map(|foretold| foretold.name).collect()
}

#[test]
fn tells_which_of_them_have_builds() {
    let bytes = small();
    let foretold = Walk::new(Table::new(&bytes).unwrap()).follow(("a", "2", false), |_| false);
    assert_eq!(foretold.iter().map(|foretold| foretold.has_builds).collect::<Vec<_>>(), [true, false, false, false]);
    let mut walk = Walk::new(Table::new(POPULAR).unwrap());
    let foretold = walk.follow(("vite", "*", false), |_| false);
    let with_builds = foretold.iter().filter(|foretold| foretold.has_builds).map(|foretold| foretold.name);
    let with_builds: Vec<_> = with_builds.collect();
    assert!(with_builds.contains(&"lightningcss") && !with_builds.contains(&"picomatch"), "{with_builds:?}");
}

#[test]
fn follows_dependencies_level_by_level_and_names_nothing_twice() {
    assert_eq!(from_a("^2.0.0", &[]), ["b", "z", "p", "c"]);
    assert_eq!(from_a("latest", &[]), ["b", "z", "p", "c"]);
}

#[test]
fn takes_the_line_of_versions_that_a_range_means() {
    assert!(from_a("^1.0.0", &[]).is_empty());
    assert!(from_a("~1.2.0", &[]).is_empty(), "an earlier version of that line");
    assert!(from_a("3.x", &[]).is_empty(), "a line that the table does not have");
    assert_eq!(from_a("1.x || 2.x", &[]), from_a("2.x", &[]));
}

#[test]
fn of_peers_it_follows_peers_alone() {
    let bytes = small();
    let mut walk = Walk::new(Table::new(&bytes).unwrap());
    // `q` is a dependency of `p`, which is only a peer of `a`.
    assert!(!names(&mut walk, ("a", "2", false)).contains(&"q"));
    assert_eq!(names(&mut walk, ("p", "3", false)), ["q"], "now that it is needed itself");
    let mut walk = Walk::new(Table::new(&bytes).unwrap());
    assert_eq!(names(&mut walk, ("p", "3", true)), ["b"]);
}

#[test]
fn what_is_settled_is_neither_named_nor_followed() {
    assert_eq!(from_a("2", &["b"]), ["z", "p"]);
}

#[test]
fn names_are_foretold_once_in_an_install() {
    let bytes = small();
    let mut walk = Walk::new(Table::new(&bytes).unwrap());
    assert_eq!(names(&mut walk, ("b", "^1", false)), ["a", "c", "z", "p"]);
    assert!(names(&mut walk, ("a", "^2", false)).is_empty());
    assert!(names(&mut walk, ("unknown", "*", false)).is_empty());
}

#[test]
fn the_table_of_popular_packages_knows_what_everybody_uses() {
    let mut walk = Walk::new(Table::new(POPULAR).unwrap());
    let foretold = names(&mut walk, ("express", "^4.18.0", false));
    for name in ["accepts", "mime-db", "qs", "side-channel", "call-bound", "get-intrinsic", "function-bind", "ms"] {
        assert!(foretold.contains(&name), "{name} is not among {foretold:?}");
    }
    assert!(!foretold.contains(&"router"), "which version 5 brought");
}

#[test]
fn every_record_of_the_table_can_be_read() {
    let table = Table::new(POPULAR).unwrap();
    let count = u32::try_from(table.len()).unwrap();
    let names: Vec<&str> = (0..count).map(|name| table.name(name).unwrap()).collect();
    assert!(names.is_sorted());
    assert!(names.iter().all(|name| name.parse::<gantry_spec::PackageName>().is_ok()));
    for name in 0..count {
        assert_eq!(table.find(names[name as usize]), Some(name));
        for entry in table.entries(name) {
            assert_eq!(table.name_of(entry), Some(name));
            for target in table.record(entry).unwrap().targets().into_iter().flatten() {
                let named = match target {
                    Target::Entry(entry) => table.name_of(entry),
                    Target::Name(name) => Some(name),
                };
                assert!(named.and_then(|name| table.name(name)).is_some());
            }
        }
    }
}

#[test]
fn other_bytes_are_refused() {
    assert_eq!(Table::new(b"").unwrap_err(), crate::FormatError);
    assert_eq!(Table::new(b"gantryF\x03").unwrap_err(), crate::FormatError);
    let bytes = small();
    // Up to where the records begin everything is announced.
    assert!((0..bytes.len() - 28).all(|length| Table::new(&bytes[..length]).is_err()));
}

#[test]
fn entries_that_are_not_there_are_not_looked_for() {
    let mut bytes = small();
    // Where the entries of `b` begin, those of `a` end: after magic, counts and the ends of six names.
    let end_of_a = 8 + 12 + 6 * 4 + 4;
    bytes[end_of_a..end_of_a + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    let table = Table::new(&bytes).unwrap();
    assert_eq!(table.entries(0), 0..4);
    assert!(table.entries(1).is_empty(), "from there to where those of `c` begin");
    assert!(names(&mut Walk::new(table), ("a", "^9.0.0", false)).is_empty());
}

proptest! {
    /// A damaged table foretells nonsense or nothing, and never stops an install.
    #[test]
    fn damage_is_survived(changes in proptest::collection::vec((8_usize..140, any::<u8>()), 1..8)) {
        let mut bytes = small();
        for (position, value) in changes {
            let length = bytes.len();
            bytes[position % length] = value;
        }
        if let Ok(table) = Table::new(&bytes) {
            Walk::new(table).follow(("a", "*", false), |_| false);
        }
    }
}

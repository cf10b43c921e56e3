use super::*;
use tempfile::TempDir;

fn tree(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let contents = if path.is_dir() { String::new() } else { fs::read_to_string(&path).unwrap() };
            found.push(format!("{}={contents}", path.strip_prefix(root).unwrap().display()));
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    found.sort();
    found
}

fn place() -> TempDir {
    let place = TempDir::new().unwrap();
    fs::create_dir_all(place.path().join("a/deep")).unwrap();
    fs::write(place.path().join("a/deep/file"), "1").unwrap();
    fs::create_dir(place.path().join("b")).unwrap();
    fs::write(place.path().join("b/file"), "2").unwrap();
    place
}

#[test]
fn a_failure_takes_everything_back() {
    let place = place();
    let at = |path: &str| place.path().join(path);
    let before = tree(place.path());
    let mut moves = Moves::default();
    assert!(moves.rename(SET_ASIDE, &at("a"), &at("old")).unwrap());
    assert!(!moves.rename(SET_ASIDE, &at("nothing"), &at("old-2")).unwrap(), "nothing to move is no failure");
    moves.rename(PUBLISH, &at("b"), &at("a")).unwrap();
    moves.exchange(&at("a"), &at("old")).unwrap();
    moves.link(&at("a/link"), "deep/file").unwrap();
    assert!(moves.link(&at("a/link"), "deep").is_err(), "something is there");
    assert!(moves.rename(PUBLISH, &at("a"), &at("no-such/folder")).is_err());
    assert_ne!(tree(place.path()), before);
    drop(moves);
    assert_eq!(tree(place.path()), before);
}

#[test]
fn what_is_kept_stays() {
    let place = place();
    let mut moves = Moves::default();
    moves.rename(PUBLISH, &place.path().join("a"), &place.path().join("c")).unwrap();
    moves.keep();
    assert_eq!(tree(place.path()), ["b/file=2", "b=", "c/deep/file=1", "c/deep=", "c="]);
}

#[test]
fn a_directory_moved_entry_by_entry_arrives_whole_and_goes_back_whole() {
    let place = place();
    let before = tree(place.path());
    let mut moves = Moves::default();
    moves.move_entries(&place.path().join("a"), &place.path().join("c"), false).unwrap();
    assert_eq!(tree(place.path()), ["b/file=2", "b=", "c/deep/file=1", "c/deep=", "c="]);
    assert!(moves.take_back());
    assert_eq!(tree(place.path()), before);
}

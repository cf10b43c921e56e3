//! The stamp, and which names count as mentioned. Runs of npm are covered by `gantry-registry record --verify`.
use super::*;

#[test]
fn the_stamp_of_the_same_projects_makes_recording_return_at_once() {
    let scratch = tempfile::tempdir().unwrap();
    let projects = scratch.path().join("projects");
    fs::create_dir_all(projects.join("a")).unwrap();
    fs::write(projects.join("a/package.json"), "{}").unwrap();
    let options =
        RecordOptions { projects: projects.clone(), into: scratch.path().join("into"), refresh: Refresh::IfChanged };
    let known = Project::all(&projects).unwrap();
    let summary = Summary {
        format: FORMAT,
        projects_digest: digest(&known),
        projects: vec!["a".into()],
        recorded_at: 1,
        packuments: 2,
        tarballs: 3,
        bytes: 4,
        mentioned_only: Vec::new(),
    };
    Recording::new(&options.into).write_note(STAMP, &serde_json::to_vec(&summary).unwrap()).unwrap();
    assert_eq!(record(&options, &|_| ()).unwrap(), summary);
    fs::write(projects.join("a/package.json"), "{ }").unwrap();
    assert_ne!(digest(&Project::all(&projects).unwrap()), summary.projects_digest);
}

#[test]
fn a_folder_without_projects_is_an_error() {
    let scratch = tempfile::tempdir().unwrap();
    assert_eq!(Project::all(scratch.path()).unwrap_err().code(), "TESTKIT_NO_PROJECTS");
}

#[test]
fn names_in_every_kind_of_dependency_are_mentioned() {
    let scratch = tempfile::tempdir().unwrap();
    let lock = scratch.path().join("package-lock.json");
    fs::write(&lock, r#"{"packages":{"":{"dependencies":{"a":"1"}},"node_modules/a":{"peerDependencies":{"b":"1"},"optionalDependencies":{"c":"1"},"devDependencies":{"d":"1"}}}}"#).unwrap();
    let mut names = BTreeSet::new();
    collect_mentioned(&lock, &mut names).unwrap();
    assert_eq!(names.into_iter().collect::<Vec<_>>(), ["a", "b", "c"]);
}

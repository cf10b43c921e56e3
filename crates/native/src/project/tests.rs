use super::*;
use crate::{HttpSettings, NativeClock, NativeHttp};
use tempfile::TempDir;

fn project(path: &Path) -> ProjectDirectory {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let http = NativeHttp::new(runtime.handle().clone(), HttpSettings::default());
    let store = PackageDirectories::new(&path.join("store"), http, NativeClock::default(), 1);
    ProjectDirectory::new(path.join("project"), Rc::new(store))
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn names(path: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        entries(path).unwrap().iter().map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// An old tree, and a workspace in it with a new one, as there is where `node_modules` is a mount point.
fn mounted(place: &TempDir) -> (ProjectDirectory, Workspace, PathBuf) {
    let modules = place.path().join("project/node_modules");
    for path in [".package-lock.json", ".bin/tool", ".cache/mine", "left/old.js", "stray/old.js"] {
        write(&modules.join(path), "old");
    }
    let workspace = Workspace::inside(&modules).unwrap();
    let built = workspace.new_tree().join("node_modules");
    for path in [".package-lock.json", ".bin/tool", "left/new.js", "right/new.js"] {
        write(&built.join(path), "new");
    }
    (project(place.path()), workspace, modules)
}

#[test]
fn a_tree_that_cannot_be_renamed_is_replaced_entry_by_entry() {
    for (mode, expected) in [
        (InstallMode::Install, vec![".bin", ".cache", ".package-lock.json", "left", "right"]),
        (InstallMode::Ci, vec![".bin", ".package-lock.json", "left", "right"]),
    ] {
        let place = TempDir::new().unwrap();
        let (project, workspace, modules) = mounted(&place);
        let mut moves = Moves::default();
        project.replace_tree(&workspace.new_tree().join("node_modules"), mode, &workspace, &mut moves).unwrap();
        moves.keep();
        drop(workspace);
        assert_eq!(names(&modules), expected);
        assert_eq!(names(&modules.join("left")), ["new.js"]);
        assert_eq!(fs::read_to_string(modules.join(".bin/tool")).unwrap(), "new");
    }
}

#[test]
fn entries_go_back_where_they_were() {
    let place = TempDir::new().unwrap();
    let (project, workspace, modules) = mounted(&place);
    let mut moves = Moves::default();
    let built = workspace.new_tree().join("node_modules");
    project.replace_tree(&built, InstallMode::Ci, &workspace, &mut moves).unwrap();
    assert_eq!(names(&modules.join("left")), ["new.js"]);
    workspace.give_up(moves);
    assert_eq!(names(&modules), [".bin", ".cache", ".package-lock.json", "left", "stray"]);
    assert_eq!(names(&modules.join("left")), ["old.js"]);
    assert_eq!(fs::read_to_string(modules.join(".package-lock.json")).unwrap(), "old");
}

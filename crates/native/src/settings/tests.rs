//! Where settings are found.

use super::*;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

/// Writes a file, and the folders that it is in.
fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn sources(folder: &Path, environment: &[(&str, &Path)]) -> ConfigSources {
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let environment = environment.iter().map(|(name, path)| ((*name).to_owned(), text(path))).collect();
    ConfigSources { environment, project: folder.join("project"), ..ConfigSources::default() }
}

#[test]
fn settings_of_the_installation_are_where_node_is_and_not_where_a_link_to_it_is() {
    let folder = TempDir::new().unwrap();
    let (installed, linked) = (folder.path().join("installed"), folder.path().join("linked"));
    write(&installed.join("bin/node"), "");
    write(&installed.join("etc/npmrc"), "tag = of-the-installation");
    write(&linked.join("etc/npmrc"), "tag = of-the-link");
    fs::create_dir(linked.join("bin")).unwrap();
    symlink(installed.join("bin/node"), linked.join("bin/node")).unwrap();
    let config = sources(folder.path(), &[("PATH", &linked.join("bin"))]).load().config;
    assert_eq!(config.get("tag"), Some("of-the-installation"));
}

#[test]
fn settings_of_npm_itself_are_in_the_folder_that_it_is_a_link_into_else_beside_node() {
    let folder = TempDir::new().unwrap();
    let (node, npm) = (folder.path().join("node"), folder.path().join("npm"));
    write(&node.join("bin/node"), "");
    write(&node.join("lib/node_modules/npm/npmrc"), "tag = beside-node\n_auth = of-nobody");
    write(&npm.join("bin/npm-cli.js"), "");
    write(&npm.join("npmrc"), "tag = of-npm");
    let tag = || {
        let LoadedConfig { config, files, names, unreadable } =
            sources(folder.path(), &[("PATH", &node.join("bin"))]).load();
        assert_eq!((files.get("tag"), files.get("_auth")), (None, None));
        assert!(unreadable.is_empty() && names.is_empty());
        config.get("tag").map(str::to_owned)
    };
    assert_eq!(tag().as_deref(), Some("beside-node"));
    write(&node.join("bin/npm"), "a script that starts it");
    assert_eq!(tag().as_deref(), Some("beside-node"));
    fs::remove_file(node.join("bin/npm")).unwrap();
    symlink(npm.join("bin/npm-cli.js"), node.join("bin/npm")).unwrap();
    assert_eq!(tag().as_deref(), Some("of-npm"));
    fs::remove_file(npm.join("npmrc")).unwrap();
    assert_eq!(tag(), None, "those of another npm do not count");
}

#[test]
fn without_a_home_in_the_environment_it_is_the_one_that_the_system_knows() {
    let folder = TempDir::new().unwrap();
    let (known, said) = (folder.path().join("known"), folder.path().join("said"));
    write(&known.join(".npmrc"), "tag = known\ncafile = ~/authority.pem");
    write(&said.join(".npmrc"), "tag = said");
    let with_known = |sources: ConfigSources| ConfigSources { home: Some(known.clone()), ..sources };
    let config = with_known(sources(folder.path(), &[])).load().config;
    assert_eq!(config.get("tag"), Some("known"));
    assert_eq!(config.get("cafile"), known.join("authority.pem").to_str());
    let config = with_known(sources(folder.path(), &[("HOME", &said)])).load().config;
    assert_eq!(config.get("tag"), Some("said"));
    let config = with_known(sources(folder.path(), &[("HOME", Path::new(""))])).load().config;
    assert_eq!(config.get("tag"), None, "one that is said to be nowhere is nowhere");
}

#[test]
fn an_option_may_name_a_file_in_the_users_home() {
    let folder = TempDir::new().unwrap();
    write(&folder.path().join("other.npmrc"), "tag = other");
    let mut sources = sources(folder.path(), &[("HOME", folder.path())]);
    sources.options.push(("userconfig".to_owned(), NpmrcValue::Text("~/other.npmrc".to_owned())));
    assert_eq!(sources.load().config.get("tag"), Some("other"));
}

#[test]
fn everybody_has_a_home() {
    assert!(machine_home().is_some_and(|home| home.is_absolute()));
}

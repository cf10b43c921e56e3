//! What settings, platforms, engines and missing packages change about an install.

use super::*;

#[test]
fn force_counts_for_required_packages_of_other_platforms() {
    let workshop = Workshop::new();
    workshop.dependencies(&[("only-elsewhere", "1")]);
    assert_eq!(workshop.code(), "RESOLVE_PLATFORM");
    let mut request = workshop.request();
    request.resolve.force = true;
    workshop.install_with(&request, &mut |_| {}).unwrap();
    assert!(workshop.has("node_modules/only-elsewhere"));
    assert_eq!(workshop.code(), "RESOLVE_PLATFORM", "with a lock that fits, too");
    let request = InstallRequest { lockfile: workshop.request().lockfile, ..request };
    workshop.install_with(&request, &mut |_| {}).unwrap();
}

#[test]
fn what_is_omitted_may_be_for_other_platforms_and_is_not_downloaded() {
    let workshop = Workshop::new();
    workshop
        .manifest(r#""dependencies": { "left": "1.0.0" }, "devDependencies": { "only-elsewhere": "1", "right": "1" }"#);
    for _ in ["without a lock", "with a lock"] {
        let mut request = workshop.request();
        request.omit.dev = true;
        request.resolve.omit_dev = true;
        workshop.install_with(&request, &mut |_| {}).unwrap();
        assert!(workshop.has("node_modules/left") && !workshop.has("node_modules/right"));
        assert_eq!(workshop.server.stats().tarballs, 1, "left alone");
    }
    assert!(workshop.read("package-lock.json").contains("node_modules/only-elsewhere"));
}

#[test]
fn wrong_engines_are_told_each_time_and_stop_a_strict_install() {
    let workshop = Workshop::new();
    workshop.dependencies(&[("needs-newer-node", "1")]);
    for _ in ["without a lock", "with a lock"] {
        assert_eq!(workshop.warnings(&workshop.request()).unwrap(), ["EBADENGINE"]);
    }
    for mode in [InstallMode::Install, InstallMode::Ci] {
        let mut request = InstallRequest { mode, ..workshop.request() };
        request.resolve.engine_strict = true;
        assert_eq!(workshop.install_with(&request, &mut |_| {}).unwrap_err().to_fault().code, "RESOLVE_ENGINE");
    }
}

#[test]
fn the_order_of_package_json_does_not_matter_to_its_lock() {
    let workshop = Workshop::new();
    let members = r#""dependencies": { "right": "1", "left": "1" }, "bin": { "z": "z.js", "a": "a.js" },
        "engines": { "npm": ">=1", "node": ">=1" }, "devDependencies": {}"#;
    workshop.manifest(members).install().unwrap();
    let mut phases = Vec::new();
    let outcome = workshop.install_with(&workshop.request(), &mut |event| {
        if let Event::Phase { phase } = event {
            phases.push(format!("{phase:?}"));
        }
    });
    assert_eq!(phases, ["Fetch", "Link", "Lock"], "nothing is resolved");
    assert!(!outcome.unwrap().lock_changed);
}

#[test]
fn an_optional_package_that_cannot_be_had_goes_with_what_needs_it() {
    let packages = Registry::new()
        .package("a", "1.0.0", |p| p.dependency("b", "1").dependency("c", "1").dependency("left", "1.0.0"))
        .package("b", "1.0.0", |p| p.missing_tarball())
        .package("c", "1.0.0", |p| p.file("index.js", ""));
    let workshop = Workshop::with(packages);
    workshop.manifest(r#""optionalDependencies": { "a": "1" }, "dependencies": { "left": "1.0.0" }"#);
    for _ in ["without a lock", "with a lock"] {
        let mut warnings = Vec::new();
        let outcome = workshop.install_with(&workshop.request(), &mut |event| {
            if let Event::Warning { code, message } = event {
                warnings.push((code, message));
            }
        });
        assert_eq!(outcome.unwrap().left_out, ["node_modules/a", "node_modules/b", "node_modules/c"]);
        let [(code, message)] = &warnings[..] else { panic!("one warning: {warnings:?}") };
        assert_eq!(code, "REGISTRY_NOT_FOUND");
        assert!(message.starts_with("optional b@1.0.0 left out with a@1.0.0, c@1.0.0: "), "{message}");
        assert!(workshop.has("node_modules/left"));
        for name in ["a", "b", "c"] {
            assert!(!workshop.has(&format!("node_modules/{name}")), "{name}");
            assert!(workshop.read("package-lock.json").contains(&format!("\"node_modules/{name}\"")));
            assert!(!workshop.read("node_modules/.package-lock.json").contains(&format!("\"node_modules/{name}\"")));
        }
    }
}

#[test]
fn what_a_required_package_needs_too_is_not_left_out() {
    let packages = Registry::new()
        .package("a", "1.0.0", |p| p.dependency("b", "1"))
        .package("b", "1.0.0", |p| p.missing_tarball());
    let workshop = Workshop::with(packages);
    workshop.manifest(r#""optionalDependencies": { "a": "1" }, "dependencies": { "b": "1" }"#);
    assert_eq!(workshop.code(), "REGISTRY_NOT_FOUND");
    assert!(!workshop.has("node_modules"));
}

#[test]
fn an_optional_package_that_brings_others_along_is_left_out_like_any_other() {
    let packages = Registry::new()
        .package("bundler", "1.0.0", |p| p.bundled_dependency("inside", "1.0.0").missing_tarball())
        .package("left", "1.0.0", |p| p.file("index.js", ""))
        .package("slow", "1.0.0", |p| p.file("index.js", ""))
        .fault(FaultRule::always("/slow$", Fault::Delay { ms: 300 }));
    for other in ["left", "slow"] {
        let optional =
            |other| format!(r#""optionalDependencies": {{ "bundler": "1" }}, "dependencies": {{ "{other}": "1" }}"#);
        let workshop = Workshop::with(packages.clone());
        workshop.manifest(&optional(other));
        assert_eq!(workshop.warnings(&workshop.request()).unwrap(), ["REGISTRY_NOT_FOUND"]);
        assert!(workshop.has(&format!("node_modules/{other}")) && !workshop.has("node_modules/bundler"));

        // What it brings along is not known, so there can be no lock of it.
        let workshop = Workshop::with(packages.clone());
        workshop.manifest(&optional(other));
        let request = InstallRequest { extent: Extent::LockOnly, ..workshop.request() };
        assert_eq!(workshop.install_with(&request, &mut |_| {}).unwrap_err().to_fault().code, "REGISTRY_NOT_FOUND");

        let workshop = Workshop::with(packages.clone());
        workshop.dependencies(&[("bundler", "1"), (other, "1")]);
        assert_eq!(workshop.code(), "REGISTRY_NOT_FOUND");
    }
}

#[test]
fn a_store_that_cannot_be_written_is_no_reason_to_leave_packages_out() {
    let workshop = Workshop::new();
    workshop.manifest(r#""optionalDependencies": { "left": "1" }"#);
    fs::write(workshop.folder.path().join("store"), "in the way").unwrap();
    let fault = workshop.install().unwrap_err().to_fault();
    assert!(fault.code.starts_with("DISK_"), "{fault:?}");
    assert!(!workshop.has("node_modules") && !workshop.has("package-lock.json"));
}

#[test]
fn a_tampered_bundling_package_is_said_to_be_so_however_early_it_failed() {
    let packages = Registry::new()
        .package("bundler", "1.0.0", |p| p.bundled_dependency("inside", "1.0.0").wrong_integrity())
        .package("slow", "1.0.0", |p| p.file("index.js", ""))
        .fault(FaultRule::always("/slow$", Fault::Delay { ms: 300 }));
    for dependencies in [&[("bundler", "1")][..], &[("bundler", "1"), ("slow", "1")]] {
        let workshop = Workshop::with(packages.clone());
        workshop.dependencies(dependencies);
        let fault = workshop.install().unwrap_err().to_fault();
        assert_eq!(fault.code, "ARCHIVE_INTEGRITY", "{fault:?}");
        assert!(fault.hint.is_some() && fault.message.contains("bundler"), "{fault:?}");
        assert_eq!(fault.package.as_deref(), Some("bundler@1.0.0"));
    }
}

#[test]
fn a_lock_is_complete_without_documents_of_single_versions_and_valid_without_any() {
    let complete = {
        let workshop = Workshop::new();
        workshop.dependencies(&[("left", "1.0.0")]).install().unwrap();
        workshop.read("package-lock.json").replace(workshop.server.url(), "http://registry/")
    };
    assert!(complete.contains("\"license\": \"MIT\""));
    let refusals = [
        Fault::Status { status: 404, retry_after: None },
        Fault::Status { status: 403, retry_after: None },
        Fault::Status { status: 500, retry_after: None },
        Fault::Html { status: 200 },
    ];
    for refusal in refusals {
        let workshop = Workshop::new();
        workshop.dependencies(&[("left", "1.0.0")]);
        let request = InstallRequest { extent: Extent::LockOnly, ..workshop.request() };
        workshop.server.faults().add(FaultRule::always("/left/1.0.0$", refusal.clone()));
        assert_eq!(workshop.warnings(&request).unwrap(), [""; 0], "{refusal:?}");
        let lock = workshop.read("package-lock.json").replace(workshop.server.url(), "http://registry/");
        assert_eq!(lock, complete, "{refusal:?}");

        let workshop = Workshop::new();
        workshop.dependencies(&[("left", "1.0.0")]);
        workshop.server.faults().add(FaultRule::always("/left/1.0.0$", refusal.clone()));
        workshop.server.faults().add(FaultRule { skip: 1, ..FaultRule::always("/left$", refusal.clone()) });
        assert_eq!(workshop.warnings(&request).unwrap(), ["LOCK_INCOMPLETE"], "{refusal:?}");
        assert!(!workshop.read("package-lock.json").contains("license"));
    }
}

#[test]
fn ci_never_says_that_it_wrote_a_lock() {
    let workshop = Workshop::new();
    workshop.dependencies(&[("left", "1.0.0")]).install().unwrap();
    let unusual = workshop.read("package-lock.json").replace("  ", "      ") + "\n\n";
    fs::write(workshop.project().join("package-lock.json"), &unusual).unwrap();
    let request = InstallRequest { mode: InstallMode::Ci, ..workshop.request() };
    assert!(!workshop.install_with(&request, &mut |_| {}).unwrap().lock_changed);
    assert_eq!(workshop.read("package-lock.json"), unusual);
}

#[test]
fn an_integrity_that_cannot_be_read_names_its_package() {
    let workshop = Workshop::new();
    let fault = workshop.dependencies(&[("malformed-integrity", "1")]).install().unwrap_err().to_fault();
    assert_eq!(
        (&fault.code[..], fault.package.as_deref()),
        ("LAYOUT_INTEGRITY", Some("node_modules/malformed-integrity"))
    );
}

#[test]
fn a_damaged_tarball_of_an_address_is_asked_for_once_more_and_no_more() {
    const PATH: &str = "/left/-/left-1.0.0.tgz";
    let workshop = Workshop::new();
    let address = format!("{}{}", workshop.server.url(), &PATH[1..]);
    let asked = || workshop.server.log().iter().filter(|entry| entry.path == PATH).count();
    workshop.dependencies(&[("left", &address)]);
    workshop.server.faults().add(FaultRule::times(PATH, 1, Fault::Corrupt { at: None }));
    workshop.install().unwrap();
    assert_eq!(asked(), 2, "nothing is known of what it should be");
    assert!(workshop.has("node_modules/left/package.json"));

    workshop.server.reset();
    workshop.server.faults().set(vec![FaultRule::always(PATH, Fault::Truncate { after: 100 })]);
    fs::remove_file(workshop.project().join("package-lock.json")).unwrap();
    fs::remove_dir_all(workshop.project().join("node_modules")).unwrap();
    assert!(workshop.code().starts_with("ARCHIVE_"));
    assert_eq!(asked(), 2);
}

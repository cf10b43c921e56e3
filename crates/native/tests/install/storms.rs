//! Registries that ask some of many to come back later.

use super::*;
use std::collections::BTreeSet;

/// Packages that nothing depends on and that depend on nothing: more than there are slots for, of those that are asked to come
/// back and of those that are not.
fn many() -> Registry {
    names().iter().fold(Registry::new(), |registry, name| registry.package(name, "1.0.0", |package| package))
}

/// Those that are asked to come back come first in every order.
fn names() -> Vec<String> {
    let named = |kind: &'static str| (0..40).map(move |number| format!("{kind}-{number}"));
    named("busy").chain(named("calm")).collect()
}

fn storm(pattern: &str) -> FaultRule {
    let fault = Fault::Status { status: 429, retry_after: Some("1".to_owned()) };
    FaultRule::times(pattern, 40, fault)
}

impl Workshop {
    /// In a storm on what matches, the paths that were asked for, in order.
    fn in_storm(&self, pattern: &str, kind: RequestKind) -> Vec<String> {
        let names = names();
        let dependencies: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "1")).collect();
        self.dependencies(&dependencies);
        self.server.faults().add(storm(pattern));
        let host = self.host_that_is(CacheMode::Default, RetryPolicy::default());
        self.runtime.block_on(install(&host, &self.request(), &mut |_| {})).unwrap();
        self.server.log().into_iter().filter(|request| request.kind == kind).map(|request| request.path).collect()
    }
}

/// How many different paths were asked for before one was for the second time.
fn before_any_again(paths: &[String]) -> usize {
    let mut seen = BTreeSet::new();
    paths.iter().take_while(|path| seen.insert(path.as_str())).count()
}

#[test]
fn packuments_that_are_to_be_asked_for_later_do_not_hold_up_the_others() {
    let paths = Workshop::with(many()).in_storm("/busy-*", RequestKind::AbbreviatedPackument);
    assert_eq!((before_any_again(&paths), paths.len()), (80, 120));
}

#[test]
fn tarballs_that_are_to_be_asked_for_later_do_not_hold_up_the_others() {
    let paths = Workshop::with(many()).in_storm("/busy-*.tgz", RequestKind::Tarball);
    assert_eq!((before_any_again(&paths), paths.len()), (80, 120));
}

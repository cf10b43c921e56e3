//! Which requests a mirror saves, on which conditions documents are asked for, and who sees what.

mod abbreviated;
mod lending;
mod unanswered;

use crate::tests::{PACKUMENT, Script, Sleeps, client, fetch, now};
use crate::{CacheMode, MetadataMirror, RegistryClient, ReplaceHost, VersionAnswer};
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use gantry_platform::memory::MemoryDirectory;
use gantry_platform::{Clock, FileError, HttpErrorKind, HttpResponse};
use gantry_store::mirror::{Kept, MirrorKey, MirrorReader, MirrorWrite, MirrorWriter};

type Answer = Result<HttpResponse, HttpErrorKind>;
/// The condition of each request.
type Conditions = Vec<Option<(String, String)>>;

/// A mirror that writes at once.
#[derive(Debug, Clone, Default)]
struct Mirror {
    directory: MemoryDirectory,
    is_broken: bool,
}

impl Mirror {
    fn reader(&self) -> MirrorReader<gantry_platform::memory::MemoryFile> {
        now(MirrorReader::open(&self.directory)).unwrap()
    }
}

impl MetadataMirror for Mirror {
    fn has(&self, key: &MirrorKey) -> bool {
        self.reader().has(key)
    }

    fn find(&self, key: &MirrorKey) -> Option<Kept> {
        self.reader().find(key)
    }

    fn facts(&self, key: &MirrorKey, integrity: &str) -> Option<Option<String>> {
        self.reader().facts(key, integrity).map(|members| members.map(str::to_owned))
    }

    fn write(&self, write: MirrorWrite) {
        now(MirrorWriter::open(self.directory.clone())).unwrap().write(&[write]).unwrap();
    }

    fn take_damage(&self) -> bool {
        false
    }

    fn settle(&self) -> LocalBoxFuture<'_, Result<(), FileError>> {
        let kind = gantry_platform::FileErrorKind::NoSpace;
        let broken = FileError { kind, path: "mirror".to_owned(), message: "full".to_owned() };
        std::future::ready(if self.is_broken { Err(broken) } else { Ok(()) }).boxed_local()
    }
}

fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Answer {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Ok(HttpResponse { status, headers, body: Bytes::copy_from_slice(body.as_bytes()), ..HttpResponse::default() })
}

const FRESH: (&str, &str) = ("cache-control", "public, max-age=300");
const TAGGED: (&str, &str) = ("etag", "\"1\"");
const DATE: &str = "Sat, 05 Nov 1994 08:49:37 GMT";
/// The same in seconds since 1970.
const DATE_SECONDS: f64 = 784_025_377.0;
const CHANGED: (&str, &str) = ("last-modified", DATE);

/// One machine: a mirror, and a clock that goes on between runs.
#[derive(Default)]
struct Machine {
    mirror: Mirror,
    clock: Sleeps,
    settings: Vec<(&'static str, &'static str)>,
    mode: CacheMode,
}

impl Machine {
    fn run(&self, answers: Vec<Answer>) -> (RegistryClient<Script, Sleeps>, Script) {
        let script = Script::new(answers);
        let client = client(&script, &self.clock, &self.settings, ReplaceHost::Never);
        client.set_cache_mode(self.mode);
        (client.with_mirror(Box::new(self.mirror.clone())), script)
    }

    /// Asks for the packument once; gives the requests' conditions and whether there was a packument with a version.
    fn ask(&self, answers: Vec<Answer>) -> (Conditions, Result<bool, &'static str>) {
        let (client, script) = self.run(answers);
        let result = now(client.packument("a")).map(|packument| packument.manifest("1.0.0").is_some());
        let asked = script.asked();
        assert_eq!(client.take_requests() as usize, asked.len());
        let condition = |name: &str| name.starts_with("if-") || name == "cache-control";
        let conditions = asked.iter().map(|request| request.headers.iter().find(|(name, _)| condition(name)).cloned());
        (conditions.collect(), result.map_err(|error| error.code()))
    }

    fn pass(&self, seconds: f64) {
        now(self.clock.sleep(seconds * 1000.0));
    }

    fn with_kept(headers: &[(&str, &str)]) -> Self {
        Self::with_kept_at(0.0, headers)
    }

    /// Asked first so many seconds after 1970 began.
    fn with_kept_at(seconds: f64, headers: &[(&str, &str)]) -> Self {
        let machine = Self::default();
        machine.pass(seconds);
        assert_eq!(machine.ask(vec![answer(200, headers, PACKUMENT)]), (vec![None], Ok(true)));
        machine
    }
}

fn condition(name: &str, value: &str) -> Conditions {
    vec![Some((name.to_owned(), value.to_owned()))]
}

#[test]
fn what_is_fresh_costs_no_request() {
    let machine = Machine::with_kept(&[FRESH, TAGGED]);
    machine.pass(299.0);
    assert_eq!(machine.ask(vec![]), (vec![], Ok(true)));
}

#[test]
fn what_is_stale_is_asked_for_on_condition_and_a_304_makes_it_fresh_again() {
    let machine = Machine::with_kept(&[FRESH, TAGGED]);
    for _ in 0..2 {
        machine.pass(301.0);
        let asked = machine.ask(vec![answer(304, &[FRESH], "")]);
        assert_eq!(asked, (condition("if-none-match", "\"1\""), Ok(true)));
        assert_eq!(machine.ask(vec![]), (vec![], Ok(true)));
    }
    machine.pass(301.0);
    assert_eq!(machine.ask(vec![answer(304, &[], "")]).1, Ok(true));
    assert_eq!(machine.ask(vec![]), (vec![], Ok(true)), "a 304 that says nothing about it keeps the lifetime");
}

#[test]
fn what_has_changed_replaces_what_was_kept() {
    let machine = Machine::with_kept(&[FRESH, TAGGED]);
    machine.pass(301.0);
    let changed = r#"{"name":"a","versions":{"2.0.0":{"name":"a","version":"2.0.0"}}}"#;
    let asked = machine.ask(vec![answer(200, &[FRESH, ("etag", "\"2\"")], changed)]);
    assert_eq!(asked, (condition("if-none-match", "\"1\""), Ok(false)));
    assert_eq!(machine.ask(vec![]), (vec![], Ok(false)));
}

#[test]
fn the_same_document_with_a_200_counts_as_confirmed() {
    let machine = Machine::with_kept(&[FRESH, TAGGED]);
    let size = |machine: &Machine| {
        let file = now(gantry_platform::Directory::open(&machine.mirror.directory, "metadata-pack-1")).unwrap();
        gantry_platform::RandomAccessFile::len(&file).unwrap()
    };
    let before = size(&machine);
    machine.pass(301.0);
    assert_eq!(machine.ask(vec![answer(200, &[FRESH], PACKUMENT)]).1, Ok(true));
    assert_eq!(machine.ask(vec![]), (vec![], Ok(true)));
    assert_eq!(size(&machine), before, "the body is not written again");
}

#[test]
fn without_a_tag_the_date_is_the_condition_and_without_both_caches_are_passed() {
    let dated = Machine::with_kept_at(DATE_SECONDS + 300.0, &[("cache-control", "no-cache"), CHANGED]);
    assert_eq!(dated.ask(vec![answer(304, &[], "")]), (condition("if-modified-since", DATE), Ok(true)));
    let bare = Machine::with_kept(&[]);
    assert_eq!(bare.ask(vec![answer(200, &[], PACKUMENT)]), (condition("cache-control", "max-age=0"), Ok(true)));
}

#[test]
fn a_date_within_a_minute_of_the_answer_is_no_condition() {
    // The document may have been changed again within the second that the date names.
    let none = condition("cache-control", "max-age=0");
    for (seconds, asked) in [(59.0, none), (60.0, condition("if-modified-since", DATE))] {
        let dated = Machine::with_kept_at(DATE_SECONDS + seconds, &[("cache-control", "no-cache"), CHANGED]);
        assert_eq!(dated.ask(vec![answer(200, &[], PACKUMENT)]), (asked, Ok(true)), "{seconds} s");
    }
}

#[test]
fn what_must_not_be_stored_is_not() {
    let machine = Machine::with_kept(&[("cache-control", "no-store, max-age=300")]);
    assert_eq!(machine.ask(vec![answer(200, &[], PACKUMENT)]), (vec![None], Ok(true)));
}

#[test]
fn a_304_that_nobody_asked_for_is_an_error() {
    assert_eq!(Machine::default().ask(vec![answer(304, &[], "")]), (vec![None], Err("REGISTRY_STATUS")));
}

#[test]
fn the_modes_are_npms() {
    let mut machine = Machine::with_kept(&[FRESH, TAGGED]);
    machine.mode = CacheMode::PreferOnline;
    assert_eq!(machine.ask(vec![answer(304, &[FRESH], "")]), (condition("if-none-match", "\"1\""), Ok(true)));
    machine.pass(1e6);
    for mode in [CacheMode::PreferOffline, CacheMode::Offline] {
        machine.mode = mode;
        assert_eq!(machine.ask(vec![]), (vec![], Ok(true)));
    }
    let mut empty = Machine { mode: CacheMode::Offline, ..Machine::default() };
    assert_eq!(empty.ask(vec![]), (vec![], Err("REGISTRY_NOT_CACHED")));
    empty.mode = CacheMode::PreferOnline;
    let not_to_be_kept = [("cache-control", "no-store")];
    assert_eq!(empty.ask(vec![answer(200, &not_to_be_kept, PACKUMENT)]).0, condition("cache-control", "max-age=0"));
    empty.mode = CacheMode::PreferOffline;
    assert_eq!(empty.ask(vec![answer(200, &[], PACKUMENT)]), (vec![None], Ok(true)));
    for (settings, mode) in [
        ((false, false, false), CacheMode::Default),
        ((false, false, true), CacheMode::PreferOnline),
        ((false, true, true), CacheMode::PreferOffline),
        ((true, true, true), CacheMode::Offline),
    ] {
        assert_eq!(CacheMode::of(settings.0, settings.1, settings.2), mode);
    }
}

#[test]
fn offline_a_tarball_that_is_not_in_the_store_is_said_to_be_missing() {
    let machine = Machine { mode: CacheMode::Offline, ..Machine::default() };
    let (client, script) = machine.run(vec![]);
    let request = client.tarball_request("a", "1.0.0", None, None).unwrap();
    let error = fetch(&script, &machine.clock, &request).unwrap_err();
    assert_eq!((error.code(), error.package()), ("REGISTRY_NOT_CACHED", "a@1.0.0"));
    let hint = error.hint().unwrap();
    assert!(hint.contains("prefer-offline"), "{hint}");
}

#[test]
fn a_registry_that_answers_with_an_error_is_believed() {
    let machine = Machine::with_kept(&[FRESH, TAGGED]);
    machine.pass(301.0);
    assert_eq!(machine.ask(vec![answer(401, &[], "")]).1, Err("REGISTRY_UNAUTHORIZED"));
    let gone = vec![answer(404, &[], ""), answer(404, &[], "")];
    assert_eq!(machine.ask(gone).1, Err("REGISTRY_NOT_FOUND"), "in neither form");
    let failing = || answer(503, &[], "");
    assert_eq!(machine.ask(vec![failing(), failing(), failing()]).1, Err("REGISTRY_STATUS"));
}

#[test]
fn what_must_be_revalidated_is_not_used_when_nobody_answers() {
    let machine = Machine::with_kept(&[("cache-control", "max-age=300, must-revalidate"), TAGGED]);
    let silent = || Err(HttpErrorKind::Connect);
    assert_eq!(machine.ask(vec![silent(), silent(), silent()]).1, Err("REGISTRY_UNREACHABLE"));
}

#[test]
fn what_one_token_was_given_no_other_sees() {
    let registry = ("registry", "https://registry.example/npm/");
    let with = |token: &'static str| vec![registry, ("//registry.example/npm/:_authToken", token)];
    let mut machine = Machine { settings: with("mine"), ..Machine::default() };
    assert_eq!(machine.ask(vec![answer(200, &[FRESH], PACKUMENT)]), (vec![None], Ok(true)));
    assert_eq!(machine.ask(vec![]), (vec![], Ok(true)));
    for settings in [with("theirs"), vec![registry], vec![("registry", "https://other.example/")]] {
        machine.settings = settings;
        machine.mode = CacheMode::Offline;
        assert_eq!(machine.ask(vec![]), (vec![], Err("REGISTRY_NOT_CACHED")));
        machine.mode = CacheMode::Default;
        assert_eq!(machine.ask(vec![answer(401, &[], "")]), (vec![None], Err("REGISTRY_UNAUTHORIZED")));
    }
    let files = now(gantry_platform::Directory::list(&machine.mirror.directory)).unwrap();
    for name in files {
        let file = now(gantry_platform::Directory::open(&machine.mirror.directory, &name)).unwrap();
        let mut bytes = vec![0; usize::try_from(gantry_platform::RandomAccessFile::len(&file).unwrap()).unwrap()];
        gantry_platform::RandomAccessFile::read_exact_at(&file, 0, &mut bytes).unwrap();
        assert!(!bytes.windows(4).any(|part| part == b"mine"), "the token is in {name}");
    }
}

#[test]
fn what_a_versions_own_document_said_is_never_asked_again_for_the_same_tarball() {
    let machine = Machine::default();
    let document = r#"{"name":"a","version":"1.0.0","license":"MIT"}"#;
    let facts = |integrity: Option<&str>, answers: Vec<Answer>| {
        let (client, script) = machine.run(answers);
        let facts = now(client.version_facts("a", "1.0.0", integrity)).unwrap();
        (facts.lock_members.is_some_and(|members| members.contains("MIT")), script.asked().len())
    };
    let answered = || vec![answer(200, &[FRESH], document)];
    assert_eq!(facts(None, answered()), (true, 1));
    assert_eq!(facts(Some("sha512-1"), answered()), (true, 1));
    machine.pass(1e9);
    assert_eq!(facts(Some("sha512-1"), vec![]), (true, 0));
    let full = format!(r#"{{"name":"a","versions":{{"1.0.0":{document}}}}}"#);
    let in_full = vec![answer(200, &[], "[]"), answer(200, &[FRESH], &full)];
    assert_eq!(facts(Some("sha512-2"), in_full), (true, 2), "another tarball is another version");
    assert_eq!(facts(Some("sha512-2"), vec![]), (true, 0));
}

#[test]
fn a_registry_without_the_abbreviated_form_is_not_asked_for_it_each_time() {
    let machine = Machine::default();
    let answers = vec![answer(406, &[], ""), answer(200, &[FRESH, TAGGED], PACKUMENT)];
    assert_eq!(machine.ask(answers), (vec![None, None], Ok(true)));
    assert_eq!(machine.ask(vec![]), (vec![], Ok(true)));
    machine.pass(301.0);
    let asked = machine.ask(vec![answer(304, &[FRESH], "")]);
    assert_eq!(asked, (condition("if-none-match", "\"1\""), Ok(true)));
}

#[test]
fn a_mirror_that_cannot_be_written_is_a_warning() {
    let mut machine = Machine::default();
    machine.mirror.is_broken = true;
    let (client, _) = machine.run(vec![answer(200, &[FRESH], PACKUMENT)]);
    now(client.packument("a")).unwrap();
    let warnings = now(client.settle());
    assert_eq!(warnings[0].code, "MIRROR_FAILED");
    assert!(warnings[0].message.contains("full"), "{}", warnings[0].message);
}

#[test]
fn what_a_registry_lacks_is_found_out_once_a_day() {
    let mut machine = Machine::default();
    let asked = |machine: &Machine, name: &str, answers: Vec<Answer>| {
        let (client, script) = machine.run(answers);
        let body = now(client.packument(name)).map(|packument| packument.has_version("1.0.0"));
        (body.map_err(|error| error.code()), script.asked().len())
    };
    let found = || answer(200, &[FRESH], PACKUMENT);
    assert_eq!(asked(&machine, "a", vec![answer(406, &[], ""), found()]), (Ok(true), 2));
    assert_eq!(asked(&machine, "b", vec![found()]), (Ok(true), 1), "of another package, in another run");
    machine.settings = vec![("registry", "https://other.example/")];
    assert_eq!(asked(&machine, "c", vec![answer(404, &[], ""), found()]), (Ok(true), 2), "of another registry");
    machine.settings.clear();
    machine.pass(24.0 * 3600.0);
    assert_eq!(asked(&machine, "d", vec![found()]), (Ok(true), 1), "it is asked again");
    let missing = || vec![answer(404, &[], ""), answer(404, &[], "")];
    assert_eq!(asked(&machine, "e", missing()), (Err("REGISTRY_NOT_FOUND"), 2));
    assert_eq!(asked(&machine, "f", missing()), (Err("REGISTRY_NOT_FOUND"), 2), "what is missing proves nothing");
}

#[test]
fn only_an_answer_about_the_form_tells_that_a_registry_lacks_it() {
    let packuments = |machine: &Machine, name: &str, answers: Vec<Answer>| {
        let (client, script) = machine.run(answers);
        let is_there = now(client.packument(name)).is_ok();
        let forms = script.asked().into_iter().map(|request| {
            let accept = request.headers.iter().find(|(name, _)| name == "accept").map(|(_, value)| value.clone());
            if accept.is_some_and(|accept| accept.contains("install-v1")) { "abbreviated" } else { "full" }
        });
        (is_there, forms.collect::<Vec<_>>())
    };
    let found = || answer(200, &[FRESH], PACKUMENT);
    let both = || (true, vec!["abbreviated", "full"]);
    for status in [404, 405, 410] {
        let machine = Machine::default();
        assert_eq!(packuments(&machine, "a", vec![answer(status, &[], ""), found()]), both());
        assert_eq!(
            packuments(&machine, "b", vec![found()]),
            (true, vec!["abbreviated"]),
            "after {status} for one package"
        );
    }
    for status in [401, 403, 500] {
        let machine = Machine::default();
        let refused = (false, vec!["abbreviated"; if status == 500 { 3 } else { 1 }]);
        assert_eq!(packuments(&machine, "a", vec![answer(status, &[], ""); refused.1.len()]), refused);
        assert_eq!(
            packuments(&machine, "b", vec![found()]),
            (true, vec!["abbreviated"]),
            "after {status} for one package"
        );
    }
    for status in [406, 415] {
        let machine = Machine::default();
        assert_eq!(packuments(&machine, "a", vec![answer(status, &[], ""), found()]), both());
        assert_eq!(packuments(&machine, "b", vec![found()]), (true, vec!["full"]), "after {status}");
        let unusable = Machine::default();
        assert!(!packuments(&unusable, "a", vec![answer(status, &[], ""), answer(404, &[], "")]).0);
        assert_eq!(
            packuments(&unusable, "b", vec![found()]),
            (true, vec!["abbreviated"]),
            "who gives neither tells nothing"
        );
    }
}

#[test]
fn who_may_not_have_one_version_still_has_the_documents_of_others() {
    for refusal in [401, 403] {
        let machine = Machine::default();
        let packument = answer(200, &[FRESH], PACKUMENT);
        assert_eq!(machine.ask_version(vec![answer(refusal, &[], ""), packument]).1, Ok((false, None)));
        let (client, script) = machine.run(vec![answer(refusal, &[], ""), answer(404, &[], ""), answer(404, &[], "")]);
        assert!(now(client.version("b", "1.0.0")).is_err());
        assert!(
            script.asked()[0].url.ends_with("/b/1.0.0"),
            "a registry that blocks one version has documents of others"
        );
        let (client, script) = machine.run(vec![answer(refusal, &[], ""), answer(404, &[], "")]);
        assert!(now(client.version_facts("c", "1.0.0", None)).is_err());
        assert!(script.asked()[0].url.ends_with("/c/1.0.0"));
    }
}

#[test]
fn a_registry_without_documents_of_versions_is_asked_for_one_once() {
    let machine = Machine::default();
    let version = r#"{"name":"a","version":"1.0.0","license":"MIT"}"#;
    let full = format!(r#"{{"name":"a","time":{{}},"versions":{{"1.0.0":{version}}}}}"#);
    let facts = |name: &str, answers: Vec<Answer>| {
        let (client, script) = machine.run(answers);
        let facts = now(client.version_facts(name, "1.0.0", Some("sha512-1"))).unwrap();
        (facts.lock_members.is_some(), script.asked().iter().map(|request| request.url.clone()).collect::<Vec<_>>())
    };
    let url = |path: &str| format!("https://registry.example/npm/{path}");
    let busy = || answer(503, &[], "");
    let whole = || answer(200, &[], &full);
    let (_, asked) = facts("a", vec![busy(), busy(), busy(), whole()]);
    assert_eq!(asked.len(), 4);
    assert_eq!(facts("b", vec![answer(404, &[], ""), whole()]), (true, vec![url("b/1.0.0"), url("b")]));
    assert_eq!(facts("c", vec![whole()]), (true, vec![url("c")]));
}

/// Whether a package that nothing is known of is asked for by its version's own document.
fn asks_for_versions(machine: &Machine) -> bool {
    let (client, script) = machine.run(vec![answer(404, &[], ""), answer(404, &[], "")]);
    assert!(now(client.version_facts("other", "1.0.0", None)).is_err());
    script.asked()[0].url.ends_with("/other/1.0.0")
}

#[test]
fn a_version_that_does_not_exist_tells_nothing_of_documents_of_versions() {
    let missing = || answer(404, &[], "");
    let packument = || answer(200, &[FRESH], PACKUMENT);
    let facts = Machine::default();
    let (client, _) = facts.run(vec![missing(), packument()]);
    assert_eq!(now(client.version_facts("a", "9.9.9", None)).map_err(|error| error.code()), Err("REGISTRY_NOT_FOUND"));
    assert!(asks_for_versions(&facts));

    let version = Machine::default();
    let (client, script) = version.run(vec![missing(), packument()]);
    let VersionAnswer::Whole(whole) = now(client.version("a", "9.9.9")).unwrap() else {
        panic!("there is no such document")
    };
    assert_eq!((whole.has_version("9.9.9"), script.asked().len()), (false, 2));
    assert!(asks_for_versions(&version));
}

#[test]
fn a_version_that_was_taken_back_tells_nothing_while_the_document_of_before_is_kept() {
    let full = r#"{"name":"a","time":{},"versions":{"1.0.0":{"version":"1.0.0","license":"MIT"}}}"#;
    let kept = || {
        let machine = Machine::default();
        let (client, _) = machine.run(vec![answer(200, &[FRESH, TAGGED], full)]);
        now(client.full_packument("a")).unwrap();
        machine
    };
    let facts = |machine: &Machine, answers: Vec<Answer>| {
        let (client, script) = machine.run(answers);
        let has_members = now(client.version_facts("a", "1.0.0", None)).unwrap().lock_members.is_some();
        (has_members, script.asked().len())
    };
    let fresh = kept();
    assert_eq!(facts(&fresh, vec![answer(404, &[], "")]), (true, 1));
    assert!(asks_for_versions(&fresh));

    let stale = kept();
    stale.pass(301.0);
    let missed = || Err(HttpErrorKind::Connect);
    assert_eq!(facts(&stale, vec![answer(404, &[], ""), missed(), missed(), missed()]), (true, 4));
    assert!(asks_for_versions(&stale), "nobody was there to say that it still has the version");
    assert_eq!(facts(&stale, vec![answer(404, &[], ""), answer(304, &[FRESH], "")]), (true, 2));
    assert!(!asks_for_versions(&stale), "the registry has the version, and no document of it");
}

#[test]
fn a_full_document_that_was_sent_for_an_abbreviated_one_serves_as_both() {
    let machine = Machine::default();
    let full = r#"{"name":"a","time":{"1.0.0":"2024-01-01T00:00:00.000Z"},"versions":{"1.0.0":{"version":"1.0.0"}}}"#;
    assert_eq!(machine.ask(vec![answer(200, &[FRESH], full)]).1, Ok(true));
    let (client, script) = machine.run(vec![]);
    assert_eq!(now(client.full_packument("a")).unwrap().published("1.0.0"), Some("2024-01-01T00:00:00.000Z"));
    assert!(script.asked().is_empty());

    let abbreviated = Machine::with_kept(&[FRESH]);
    let (client, script) = abbreviated.run(vec![answer(200, &[FRESH], full)]);
    assert!(!now(client.full_packument("a")).unwrap().is_abbreviated());
    assert_eq!(script.asked().len(), 1, "an abbreviated one does not");
}

const VERSION: &str = r#"{"name":"a","version":"1.0.0","license":"MIT","dist":{"tarball":"https://r.example/a.tgz"}}"#;

/// Whether a version came alone, and its license.
type Version = Result<(bool, Option<String>), &'static str>;

impl Machine {
    /// Asks for version 1.0.0; gives the paths asked for as well.
    fn ask_version(&self, answers: Vec<Answer>) -> (Vec<String>, Version) {
        let (client, script) = self.run(answers);
        let result = now(client.version("a", "1.0.0")).map(|answer| {
            let (is_alone, packument) = match answer {
                VersionAnswer::Alone(packument) => (true, packument),
                VersionAnswer::Whole(packument) => (false, packument),
            };
            (is_alone, packument.manifest("1.0.0").and_then(|manifest| manifest.license.as_deref().map(str::to_owned)))
        });
        let path = |url: &str| url.rsplit_once("/a").map(|(_, rest)| rest.to_owned()).unwrap_or_default();
        (script.asked().iter().map(|request| path(&request.url)).collect(), result.map_err(|error| error.code()))
    }
}

#[test]
fn a_version_comes_alone_and_is_kept_as_any_document() {
    let mut machine = Machine::default();
    let alone = Ok((true, Some("MIT".to_owned())));
    let asked = machine.ask_version(vec![answer(200, &[FRESH, TAGGED], VERSION)]);
    assert_eq!(asked, (vec!["/1.0.0".to_owned()], alone.clone()));
    assert_eq!(machine.ask_version(vec![]), (vec![], alone.clone()), "it is fresh");
    machine.pass(301.0);
    assert_eq!(machine.ask_version(vec![answer(304, &[FRESH], "")]), (vec!["/1.0.0".to_owned()], alone.clone()));
    machine.pass(301.0);
    machine.mode = CacheMode::Offline;
    assert_eq!(machine.ask_version(vec![]), (vec![], alone));
    assert_eq!(machine.ask(vec![]).1, Err("REGISTRY_NOT_CACHED"), "it does not stand for the packument");
}

#[test]
fn a_version_is_not_asked_for_alone_where_the_packument_is_kept() {
    let machine = Machine::with_kept(&[FRESH]);
    assert_eq!(machine.ask_version(vec![]), (vec![], Ok((false, None))));
}

#[test]
fn where_a_version_does_not_come_alone_the_packument_does_and_that_is_remembered() {
    let page = answer(200, &[FRESH], "<html>");
    let other = answer(200, &[FRESH], &VERSION.replace("1.0.0", "2.0.0"));
    let without = answer(200, &[FRESH], r#"{"name":"a","version":"1.0.0"}"#);
    let packument = answer(200, &[FRESH], PACKUMENT);
    let paths = |paths: &[&str]| paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>();
    for (first, asked) in [
        (vec![answer(404, &[], "")], &["/1.0.0", ""][..]),
        (vec![answer(405, &[], "")], &["/1.0.0", ""]),
        (vec![other], &["/1.0.0", ""]),
        (vec![without], &["/1.0.0", ""]),
        (vec![page.clone(), page], &["/1.0.0", "/1.0.0", ""]),
    ] {
        let machine = Machine::default();
        let answers = first.into_iter().chain([packument.clone()]).collect();
        assert_eq!(machine.ask_version(answers), (paths(asked), Ok((false, None))));
        let (client, script) = machine.run(vec![answer(404, &[], ""), answer(404, &[], "")]);
        assert!(now(client.version("b", "1.0.0")).is_err());
        assert!(
            script.asked().iter().all(|request| request.url.ends_with("/b")),
            "no document of a version is asked for"
        );
    }
    let machine = Machine::default();
    let asked = machine.ask_version(vec![Err(HttpErrorKind::Connect); 3]);
    assert_eq!(asked.1, Err("REGISTRY_UNREACHABLE"), "who does not answer has no packument either");
    assert!(asked.0.iter().all(|path| path == "/1.0.0"));
}

#[test]
fn a_document_of_a_version_that_is_lost_or_hangs_is_done_without() {
    let packument = answer(200, &[FRESH], PACKUMENT);
    for (kind, times) in [(HttpErrorKind::Timeout, 1), (HttpErrorKind::Interrupted, 2), (HttpErrorKind::Encoding, 2)] {
        let machine = Machine::default();
        let lost = || vec![Err(kind); times];
        let other = packument.clone().map(|mut answer| {
            answer.body = PACKUMENT.replace("\"a\"", "\"b\"").into();
            answer
        });
        let answers = [lost(), vec![packument.clone(), other]].concat();
        let (client, script) = machine.run(answers);
        assert!(matches!(now(client.version("a", "1.0.0")), Ok(VersionAnswer::Whole(_))), "{kind:?}");
        assert!(matches!(now(client.version("b", "1.0.0")), Ok(VersionAnswer::Whole(_))));
        let asked: Vec<String> = script.asked().iter().map(|request| request.url.clone()).collect();
        assert_eq!(asked.len(), times + 2);
        assert!(asked[times].ends_with("/a") && asked[times + 1].ends_with("/b"), "{asked:?}");
        assert!(script.asked()[..times].iter().all(|request| request.timeout_milliseconds <= 10_000));
        assert!(asks_for_versions(&machine), "which proves nothing for later");

        let machine = Machine::default();
        let full = r#"{"name":"a","time":{},"versions":{"1.0.0":{"version":"1.0.0","license":"MIT"}}}"#;
        let (client, script) = machine.run([lost(), vec![answer(200, &[FRESH], full)]].concat());
        assert!(now(client.version_facts("a", "1.0.0", None)).unwrap().lock_members.is_some());
        assert_eq!(script.asked().len(), times + 1);
    }
}

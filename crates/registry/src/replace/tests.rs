//! The addresses that npm's arborist and pacote make of others.

use super::ReplaceHost;
use url::Url;

fn within(host: &str, path: &str) -> ReplaceHost {
    ReplaceHost::Within { host: host.to_owned(), path: path.to_owned() }
}

/// Where an address is asked for, by the setting.
fn asked(setting: &str, address: &str, registry: &str) -> String {
    let replace = ReplaceHost::from_setting(Some(setting));
    let moved = replace.moved(&Url::parse(address).unwrap(), &Url::parse(registry).unwrap());
    moved.map_or_else(|| address.to_owned(), String::from)
}

#[test]
fn the_setting_is_read_as_npm_reads_it() {
    let host = |name: &str| ReplaceHost::Host(name.to_owned());
    assert_eq!(ReplaceHost::from_setting(Some("always")), ReplaceHost::Always);
    assert_eq!(ReplaceHost::from_setting(Some("never")), ReplaceHost::Never);
    assert_eq!(ReplaceHost::from_setting(Some("files.example")), host("files.example"));
    assert_eq!(ReplaceHost::from_setting(Some("files.example:8080")), host("files.example:8080"));
    assert_eq!(ReplaceHost::from_setting(Some("https://Files.example/npm/")), within("files.example", "/npm"));
    assert_eq!(ReplaceHost::from_setting(Some("https://files.example")), within("files.example", ""));
    let default = crate::DEFAULT_REGISTRY.and_then(crate::host_of).map_or(ReplaceHost::Never, ReplaceHost::Host);
    for setting in [None, Some(""), Some("npmjs")] {
        assert_eq!(ReplaceHost::from_setting(setting), default);
    }
}

#[test]
fn addresses_of_a_host_get_the_registrys_origin_and_its_path_unless_they_have_it() {
    let registry = "https://registry.example:8443/npm/";
    for setting in ["files.example", "https://files.example", "http://files.example/", "always"] {
        for (address, expected) in [
            ("http://files.example/a/-/a.tgz", "https://registry.example:8443/npm/a/-/a.tgz"),
            ("https://files.example:8080/npm/a.tgz", "https://registry.example:8443/npm/a.tgz"),
            ("https://files.example/npmx/a.tgz", "https://registry.example:8443/npm/npmx/a.tgz"),
        ] {
            assert_eq!(asked(setting, address, registry), expected, "{setting}");
        }
    }
    let elsewhere = "https://other.example/a/-/a.tgz";
    assert_eq!(asked("files.example", elsewhere, registry), elsewhere);
    assert_eq!(asked("never", elsewhere, registry), elsewhere);
    assert_eq!(asked("always", elsewhere, "https://registry.example/"), "https://registry.example/a/-/a.tgz");
    let beside = "https://registry.example:8443/files/a.tgz";
    assert_eq!(asked("always", beside, registry), "https://registry.example:8443/npm/files/a.tgz");
}

#[test]
fn what_follows_the_path_stays_where_arborist_moves_an_address_and_goes_where_pacote_does() {
    let (address, registry) = ("https://files.example/a.tgz?key=1#x", "https://registry.example/npm/");
    assert_eq!(asked("files.example", address, registry), "https://registry.example/npm/a.tgz?key=1#x");
    assert_eq!(asked("always", address, registry), "https://registry.example/npm/a.tgz");
    // A host with its port is known to pacote alone, which knows nothing of the registry's path.
    let with_port = "http://files.example:8080/a.tgz?key=1";
    assert_eq!(asked("files.example:8080", with_port, registry), "https://registry.example/a.tgz");
    assert_eq!(asked("files.example:8080", address, registry), address);
}

#[test]
fn a_path_in_the_setting_is_swapped_for_the_registrys() {
    let setting = "https://files.example/api/npm/old/";
    let registry = "https://registry.example/api/npm/new/";
    for (address, expected) in [
        ("https://files.example/api/npm/old/a/-/a.tgz", "https://registry.example/api/npm/new/a/-/a.tgz"),
        ("http://files.example:8080/api/npm/old/a.tgz?b", "https://registry.example/api/npm/new/a.tgz?b"),
    ] {
        assert_eq!(asked(setting, address, registry), expected);
    }
    for unchanged in [
        "https://files.example/api/npm/older/a.tgz",
        "https://files.example/a/-/a.tgz",
        "https://other.example/api/npm/old/a.tgz",
    ] {
        assert_eq!(asked(setting, unchanged, registry), unchanged);
    }
    let longer = "https://registry.example/npm/old";
    assert_eq!(
        asked(longer, "https://registry.example/npm/old/a.tgz", "https://registry.example/npm/"),
        "https://registry.example/npm/a.tgz",
        "within the registry itself, too"
    );
}

#[test]
fn a_proxy_of_a_page_stands_for_every_host_but_itself() {
    let proxied = |address: &str| {
        let registry = Url::parse("https://page.example/npm/").unwrap();
        ReplaceHost::Proxied.moved(&Url::parse(address).unwrap(), &registry).map(String::from)
    };
    assert_eq!(proxied("https://files.example/a.tgz").as_deref(), Some("https://page.example/npm/a.tgz"));
    assert_eq!(proxied("https://page.example/files/a.tgz"), None);
}

use super::ProxySettings;
use reqwest::Url;
use std::collections::BTreeMap;

fn settings(configured: Option<&str>, exceptions: Option<&str>, environment: &[(&str, &str)]) -> ProxySettings {
    let environment: BTreeMap<String, String> =
        environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    ProxySettings::new(configured, exceptions, &environment)
}

fn proxy_of(settings: &ProxySettings, address: &str) -> Option<String> {
    settings
        .for_address(&Url::parse(address).expect("an address"))
        .expect("a proxy that can be used")
        .map(|proxy| proxy.host_str().unwrap_or_default().to_owned())
}

#[test]
fn the_setting_is_for_both_schemes_and_wins_over_the_environment() {
    let environment = [("HTTPS_PROXY", "http://env.test"), ("no_proxy", "direct.test")];
    for address in ["http://registry.test/a", "https://registry.test/a"] {
        let found = settings(Some("http://set.test:8080"), None, &environment);
        assert_eq!(proxy_of(&found, address).as_deref(), Some("set.test"));
        assert_eq!(proxy_of(&settings(None, None, &[]), address), None);
        assert_eq!(proxy_of(&settings(Some(""), None, &environment), address).as_deref(), Some("env.test"));
    }
    // The environment's exceptions hold for the setting's proxy too, unless there are exceptions among the settings.
    let address = "https://direct.test/a";
    assert_eq!(proxy_of(&settings(Some("http://set.test"), None, &environment), address), None);
    assert_eq!(
        proxy_of(&settings(Some("http://set.test"), Some("x.test"), &environment), address).as_deref(),
        Some("set.test")
    );
}

#[test]
fn the_environments_http_proxies_are_for_http_alone() {
    for name in ["http_proxy", "HTTP_PROXY", "proxy", "PROXY"] {
        let found = settings(None, None, &[(name, "http://env.test")]);
        assert_eq!(proxy_of(&found, "http://registry.test/").as_deref(), Some("env.test"), "{name}");
        assert_eq!(proxy_of(&found, "https://registry.test/"), None, "{name}");
    }
    let both = settings(None, None, &[("http_proxy", "http://one.test"), ("https_proxy", "http://two.test")]);
    assert_eq!(proxy_of(&both, "http://registry.test/").as_deref(), Some("two.test"));
    assert_eq!(proxy_of(&settings(None, None, &[("all_proxy", "http://env.test")]), "http://registry.test/"), None);
}

#[test]
fn exceptions_are_domains_with_all_below() {
    let found = settings(Some("http://proxy.test"), Some("example.com, .internal,127.0.0.1,,[::1]"), &[]);
    let direct = ["example.com", "registry.example.com:8080", "a.b.internal", "internal", "127.0.0.1", "[::1]"];
    let proxied = ["example.com.evil.test", "myexample.com", "com", "127.0.0.2", "internal.test"];
    for host in direct {
        assert_eq!(proxy_of(&found, &format!("http://{host}/")), None, "{host}");
    }
    for host in proxied {
        assert!(proxy_of(&found, &format!("https://{host}/")).is_some(), "{host}");
    }
    // npm knows no wildcards.
    assert!(proxy_of(&settings(Some("http://proxy.test"), Some("*"), &[]), "http://a.test/").is_some());
}

#[test]
fn what_cannot_be_a_proxy_is_refused_without_its_password() {
    for text in ["ftp://me:secret@proxy.test", "me:secret@proxy.test", "proxy.test", "proxy.test:3128"] {
        let found = settings(Some(text), None, &[]);
        let told = found.check("https://registry.test/a").expect_err(text).to_string();
        assert!(told.contains("proxy.test") && !told.contains("secret"), "{told}");
        let printed = format!("{found:?}");
        assert!(printed.contains("proxy.test") && !printed.contains("secret"), "{printed}");
    }
}

#[test]
fn a_proxy_that_cannot_be_used_concerns_only_who_is_asked_through_it() {
    let found = settings(None, None, &[("http_proxy", "proxy.test:3128"), ("no_proxy", "direct.test")]);
    assert!(found.check("http://registry.test/").is_err());
    for direct in ["https://registry.test/", "http://direct.test/", "http://a.direct.test/"] {
        assert!(found.check(direct).is_ok(), "{direct}");
    }
    let stray = settings(None, None, &[("PROXY", "stray")]);
    assert!(stray.check("https://registry.test/").is_ok() && stray.check("http://registry.test/").is_err());
    let both = settings(None, None, &[("https_proxy", "http://proxy.test"), ("http_proxy", "proxy.test:3128")]);
    assert_eq!(proxy_of(&both, "http://registry.test/").as_deref(), Some("proxy.test"), "the other is never looked at");
}

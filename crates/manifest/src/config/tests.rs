//! Layers, registries of scopes, and which credential goes where.

use super::*;
use crate::parse_npmrc;

fn config(layers: &[&str]) -> Config {
    let mut config = Config::new();
    for layer in layers {
        config.push_layer(parse_npmrc(layer, &|_| None));
    }
    config
}

#[test]
fn the_layer_pushed_first_wins() {
    let config = config(&["a=1", "a=2\nb=3\nproxy=null", "b=4\nproxy=http://proxy.test\nc[]=5\nc[]=6"]);
    assert_eq!(config.get("a"), Some("1"));
    assert_eq!(config.get("b"), Some("3"));
    assert_eq!(config.get("proxy"), None);
    assert_eq!(config.get("c"), Some("5"));
    assert_eq!(config.get("d"), None);
    assert_eq!(config.get_list("c"), ["5", "6"]);
    assert_eq!(config.get_list("a"), ["1"]);
    assert_eq!(config.get_list("proxy"), [""; 0]);
}

#[test]
fn a_list_in_one_text_is_separated_by_empty_lines() {
    let mut config = Config::new();
    config.push_layer(vec![("omit".to_owned(), NpmrcValue::Text("dev\n\npeer".to_owned()))]);
    assert_eq!(config.get_list("omit"), ["dev", "peer"]);
}

#[test]
fn switches_are_read_as_npm_reads_them() {
    let config = config(&["a=true\nb=false\nc=1\nd=0\ne=yes\nf\ng="]);
    let read: Vec<_> = ["a", "b", "c", "d", "e", "f", "g", "h"].map(|key| config.get_bool(key)).into();
    let expected = [Some(true), Some(false), Some(true), Some(false), Some(true), Some(true), Some(true), None];
    assert_eq!(read, expected);
}

#[test]
fn a_scope_has_its_own_registry() {
    let config = config(&["registry=\n@s:registry=https://s.test/npm", "registry=https://registry.example"]);
    let default = "https://default.test";
    assert_eq!(config.registry_for("@s/a", default), "https://s.test/npm/");
    assert_eq!(config.registry_for("@t/a", default), "https://registry.example/");
    assert_eq!(config.registry_for("a", default), "https://registry.example/");
    assert_eq!(Config::new().registry_for("@s/a", default), "https://default.test/");
    let scoped = self::config(&["scope=s\n@s:registry=https://s.test/"]);
    assert_eq!(scoped.registry_for("a", default), "https://s.test/");
}

#[test]
fn the_longest_matching_path_gives_the_credential() {
    let config = config(&[
        "//registry.example/:_authToken=root\n//registry.example/team/:_authToken=team\n//registry.example/exact:_authToken=exact\n\
         //registry.example:8443/:_auth=cG9ydA==\n//host.test:_authToken=bare",
    ]);
    let bearer = |token: &str| Some(Authorization::Bearer(token.to_owned()));
    let cases = [
        ("https://registry.example/a", bearer("root")),
        ("https://registry.example/", bearer("root")),
        ("https://registry.example", bearer("root")),
        ("https://registry.example/team/a/-/a-1.tgz?x=1#y", bearer("team")),
        ("https://registry.example/team", bearer("root")),
        ("https://registry.example/teammate/a", bearer("root")),
        ("https://registry.example/exact", bearer("exact")),
        ("https://registry.example/exact/below", bearer("exact")),
        ("https://REGISTRY.example:443/a", bearer("root")),
        ("https://registry.example:8443/a", Some(Authorization::Basic("cG9ydA==".to_owned()))),
        ("http://host.test/a/b", bearer("bare")),
        ("https://user:password@registry.example/a", bearer("root")),
        ("https://registry.example.evil.test/a", None),
        ("https://evil.test/registry.example/", None),
        ("https://evil.test/?//registry.example/", None),
        ("https://registry.example:444/a", None),
        ("not an address", None),
        ("file:///etc/passwd", None),
    ];
    for (address, expected) in cases {
        let found = config.authorization_for(address);
        assert!(found == expected, "{address}: {found:?}");
    }
}

#[test]
fn a_token_wins_over_basic_and_a_password_is_decoded() {
    let prefix = "//registry.example/:";
    let password = format!("{prefix}username=user\n{prefix}_password=c2VjcmV0");
    let found = config(&[&password]).authorization_for("https://registry.example/a");
    // user:secret
    assert!(found == Some(Authorization::Basic("dXNlcjpzZWNyZXQ=".to_owned())));
    let all = format!("{password}\n{prefix}_auth=YQ==\n{prefix}_authToken=t");
    assert!(
        config(&[&all]).authorization_for("https://registry.example/a") == Some(Authorization::Bearer("t".to_owned()))
    );
    let alone = format!("{prefix}username=user");
    assert!(config(&[&alone]).authorization_for("https://registry.example/a").is_none());
    // Name and password may come from different layers.
    let split = config(&[&alone, &format!("{prefix}_password=c2VjcmV0")]);
    assert!(split.authorization_for("https://registry.example/a").is_some());
}

#[test]
fn passwords_are_decoded_as_leniently_as_node_does() {
    for (password, expected) in
        [("c2VjcmV0", "dTpzZWNyZXQ="), ("c2Vj cmV0==x", "dTpzZWNyZXQ="), ("_-8", "dTrvv73vv70="), ("c", "dTo=")]
    {
        let layer = format!("//r.test/:username=u\n//r.test/:_password={password}");
        let found = config(&[&layer]).authorization_for("https://r.test/");
        assert!(found == Some(Authorization::Basic(expected.to_owned())), "{password}");
    }
}

#[test]
fn another_path_on_the_registrys_host_gets_the_registrys_credential() {
    let layers = config(&["registry=https://registry.example/npm/\n//registry.example/npm/:_authToken=t"]);
    let token = Some(Authorization::Bearer("t".to_owned()));
    assert!(layers.authorization_for("https://registry.example/tarballs/a.tgz") == token);
    assert!(layers.authorization_for("https://other.test/tarballs/a.tgz").is_none());
    assert!(layers.authorization_within("https://registry.example/x", "https://other.test/").is_none());
    let scoped = config(&["//s.test/npm/:_authToken=t"]);
    assert!(scoped.authorization_for("https://s.test/files/a.tgz").is_none());
    assert!(scoped.authorization_within("https://s.test/files/a.tgz", "https://s.test/npm/") == token);
}

#[test]
fn a_client_certificate_is_no_header_and_ends_the_search() {
    let layers = config(&["//r.test/:_authToken=t\n//r.test/a/:certfile=c\n//r.test/a/:keyfile=k"]);
    assert!(layers.authorization_for("https://r.test/a/b").is_none());
    assert!(layers.authorization_for("https://r.test/b").is_some());
    let registry = "https://r.test/a/";
    let wanted = ["https://r.test/a/b", "https://r.test/b", "http://r.test/a/b"]
        .map(|address| layers.certificate_within(address, registry));
    assert_eq!(wanted, [Some("//r.test/a/".to_owned()), None, None]);
    assert_eq!(layers.certificates(), [("//r.test/a/".to_owned(), "c".to_owned(), "k".to_owned())]);
    let both =
        config(&["//r.test/a/:_authToken=t\n//r.test/a/:certfile=c\n//r.test/a/:keyfile=k\n//half.test/:certfile=c"]);
    assert!(both.certificate_within("https://r.test/files/a.tgz", registry).is_some(), "as its registry does");
    assert!(both.authorization_within("https://r.test/files/a.tgz", registry).is_some());
    assert!(both.certificate_within("https://half.test/a", registry).is_none());
    assert_eq!(both.certificates().len(), 1);
}

#[test]
fn a_client_certificate_of_no_address_is_for_the_hosts_of_registries() {
    let layers = config(&["cert=c\\nd\nkey=k\n//r.test/a/:certfile=c\n//r.test/a/:keyfile=k"]);
    assert!(layers.has_credentials());
    assert_eq!(layers.certificate_without_address(), Some(("c\nd".to_owned(), "k".to_owned())));
    let within = |url: &str| layers.certificate_within(url, "https://r.test/b/");
    assert_eq!(within("https://r.test/b/left").as_deref(), Some(""));
    assert_eq!(within("https://r.test/a/left").as_deref(), Some("//r.test/a/"), "its own goes first");
    assert_eq!(within("https://files.test/left.tgz"), None);
    assert_eq!(within("http://r.test/b/left"), None);
    let names = ["", "//r.test/a/"].map(|key| layers.name_of_certificate(key));
    assert_eq!(names, ["c\nd", "c"]);
    assert!(!config(&["cert=null\nkey=null"]).has_credentials());
}

#[test]
fn credentials_without_an_address_are_reported_and_never_sent() {
    let layers = config(&["_authToken=t\n_auth=x"]);
    assert_eq!(layers.credentials_without_address(), ["_auth", "_authToken"]);
    assert!(layers.authorization_for("https://registry.example/").is_none());
    let below = config(&["_auth=\nusername=null", "_auth=x\n_authtoken=y\n_password[]=z\n//r.test/:username=u"]);
    assert_eq!(below.credentials_without_address(), ["_auth", "_password", "_authtoken"], "of any layer");
}

#[test]
fn a_number_that_stands_for_a_switch_counts_where_it_comes_last() {
    let cases: &[(&[&str], Option<bool>)] = &[
        (&["cache-max=0"], Some(true)),
        (&["cache-max=-1"], Some(true)),
        (&["cache-max=1"], None),
        (&["cache-max=none"], None),
        (&["prefer-online=false", "cache-max=0"], Some(false)),
        (&["cache-max=0", "prefer-online=false"], Some(true)),
        (&["cache-max=10", "prefer-online=true"], Some(true)),
        (&["prefer-online=false\ncache-max=0"], Some(true)),
        (&["cache-max=0\nprefer-online=false"], Some(false)),
        (&["prefer-online"], Some(true)),
        (&[""], None),
    ];
    for (layers, expected) in cases {
        let found = config(layers).get_bool_or_number("prefer-online", "cache-max", |seconds| seconds <= 0.0);
        assert_eq!(found, *expected, "{layers:?}");
    }
}

#[test]
fn nothing_secret_is_ever_printed() {
    let layers = config(&["//r.test/:_authToken=hidden\n//r.test/b/:_auth=hidden"]);
    let found = [layers.authorization_for("https://r.test/"), layers.authorization_for("https://r.test/b/")];
    let printed = format!("{layers:?} {found:?}");
    assert!(!printed.contains("hidden"), "{printed}");
    assert!(printed.contains("Bearer") && printed.contains("Basic"));
}

#[test]
fn passwords_in_addresses_of_registries_become_their_credentials() {
    let mut layers = config(&[
        "registry=https://user:p%40ss@registry.example/npm\n@own:registry=http://token@own.test:8080/",
        "registry=https://other:other@registry.example/npm/\n@kept:registry=https://a:b@kept.test/\n\
         //kept.test/:_authToken=t\nproxy=http://a:b@proxy.test/",
    ]);
    layers.separate_credentials();
    let registry = |name: &str| layers.registry_for(name, "https://default.test/");
    assert_eq!(registry("a"), "https://registry.example/npm/");
    assert_eq!(registry("@own/a"), "http://own.test:8080/");
    let basic = |text: &str| Some(Authorization::Basic(text.to_owned()));
    // user:p%40ss and token: (a name without a password).
    assert!(layers.authorization_for("https://registry.example/npm/a") == basic("dXNlcjpwJTQwc3M="));
    assert!(layers.authorization_within("http://own.test:8080/a", &registry("@own/a")) == basic("dG9rZW46"));
    assert!(layers.authorization_for("http://own.test/a").is_none(), "another port is another registry");
    let kept = layers.authorization_within("https://kept.test/a", &registry("@kept/a"));
    assert!(kept == Some(Authorization::Bearer("t".to_owned())), "credentials of its own come first");
    assert_eq!(layers.get("proxy"), Some("http://a:b@proxy.test/"), "only registries are concerned");
}

#[test]
fn addresses_without_a_password_stay_as_they_are_written() {
    for address in ["https://registry.example", "https://registry.example/a b/", "not an address", ""] {
        assert!(without_userinfo(address) == (address.to_owned(), None), "{address}");
    }
    assert_eq!(without_userinfo("me:secret@registry.example").0, "registry.example");
    assert_eq!(without_userinfo("//me:secret@registry.example/@scope").0, "//registry.example/@scope");
}

use super::without_secrets;
use std::borrow::Cow;

#[test]
fn users_with_passwords_and_tokens_go() {
    let texts = [
        ("https://me:secret@host.test/a.tgz", "https://host.test/a.tgz"),
        ("git+https://token@host.test/a.git#main", "git+https://host.test/a.git#main"),
        ("a@HTTP://me:se@cret@host.test", "a@HTTP://host.test"),
        ("'ssh+git://me:secret@host.test:22/a'", "'ssh+git://host.test:22/a'"),
        ("//me:secret@host.test/", "//host.test/"),
        (
            "x@https://me:a@one.test/x: no\n  prod \"git+ssh://git@two.test/y\" from https://b@three.test",
            "x@https://one.test/x: no\n  prod \"git+ssh://git@two.test/y\" from https://three.test",
        ),
    ];
    for (text, told) in texts {
        assert_eq!(without_secrets(text), told);
    }
}

#[test]
fn everything_else_stays() {
    let texts = [
        "",
        "left@^1.0.0",
        "https://host.test/a@1.0.0/b:c@d",
        "git+ssh://git@host.test:a/b.git",
        "git@host.test:a/b.git",
        "https://host.test?mail=a:b@c.test",
        "http://[::1]:4873/@scope%2fname",
        "see https://host.test, or ask me@host.test",
        "file:../a//b@c",
    ];
    for text in texts {
        assert!(matches!(without_secrets(text), Cow::Borrowed(told) if told == text), "{text}");
    }
}

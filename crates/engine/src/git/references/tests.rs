use super::{References, read_advertisement};

const LIST: &str = "\
a000000000000000000000000000000000000003\tHEAD
a000000000000000000000000000000000000004\trefs/heads/dev
a000000000000000000000000000000000000003\trefs/heads/main
a000000000000000000000000000000000000009\trefs/pull/12/head
a000000000000000000000000000000000000001\trefs/tags/v1.0.0
b000000000000000000000000000000000000002\trefs/tags/release-v1.1.0
a000000000000000000000000000000000000002\trefs/tags/release-v1.1.0^{}
a000000000000000000000000000000000000005\trefs/tags/v1.2.0-rc.1
a000000000000000000000000000000000000003\trefs/tags/v2.0.0
a000000000000000000000000000000000000006\trefs/tags/v3
";

fn commit(digit: u8) -> String {
    format!("a00000000000000000000000000000000000000{digit}")
}

#[test]
fn references_have_short_and_full_names() {
    let references = References::read(LIST);
    let named = |name| references.named(name).map(str::to_owned);
    assert_eq!(named(None), Some(commit(3)));
    assert_eq!(named(Some("dev")), Some(commit(4)));
    assert_eq!(named(Some("refs/heads/dev")), Some(commit(4)));
    assert_eq!(named(Some("pull/12")), Some(commit(9)));
    assert_eq!(references.named(Some(&commit(5))), Some(commit(5).as_str()));
    assert_eq!(named(Some("HEAD~3")), None);
}

#[test]
fn an_annotated_tag_is_the_commit_it_points_to() {
    assert_eq!(References::read(LIST).named(Some("release-v1.1.0")), Some(commit(2).as_str()));
}

#[test]
fn a_range_takes_the_highest_tag_and_prefers_what_head_is() {
    let references = References::read(LIST);
    assert_eq!(references.in_range("^1.0.0"), Some(commit(2)));
    assert_eq!(references.in_range(">=1.0.0"), Some(commit(3)));
    assert_eq!(references.in_range("1.2.0-rc.1"), Some(commit(5)));
    assert_eq!(references.in_range("^4"), None);
    let behind = format!("{LIST}{}\trefs/tags/v2.1.0\n", commit(7));
    assert_eq!(References::read(&behind).in_range("*"), Some(commit(3)), "HEAD is 2.0.0, which is in the range");
    assert_eq!(References::read(&behind).in_range("^2.1.0"), Some(commit(7)));
}

#[test]
fn a_server_over_http_is_read_as_git_reads_it() {
    let line = |text: &str| format!("{:04x}{text}", text.len() + 4);
    let body = [
        line("# service=git-upload-pack\n"),
        "0000".to_owned(),
        line(&format!("{} HEAD\0multi_ack symref=HEAD:refs/heads/main\n", commit(3))),
        line(&format!("{} refs/heads/main\n", commit(3))),
        "0000".to_owned(),
    ];
    let text = read_advertisement(body.concat().as_bytes()).unwrap();
    assert_eq!(References::read(&text).named(Some("main")), Some(commit(3).as_str()));
    assert_eq!(read_advertisement(b"<!doctype html>"), None);
    assert_eq!(read_advertisement(b"00"), None);
    assert_eq!(read_advertisement(b"fffe# service=git-upload-pack"), None);
}

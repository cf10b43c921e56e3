use super::integrity;
use gantry_manifest::{Dist, Text};

#[test]
fn a_shasum_is_written_as_npm_writes_it_and_what_is_none_can_never_be_met() {
    let of = |integrity_text: Option<&str>, shasum: Option<&str>| {
        let share = |text: Option<&str>| text.map(Text::from);
        integrity(&Dist { integrity: share(integrity_text), shasum: share(shasum), ..Dist::default() })
    };
    let shasum = "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d";
    assert_eq!(of(None, Some(shasum)).as_deref(), Some("sha1-qvTGHdzF6KLavt4PO0gs2a6pQ00="));
    assert_eq!(of(Some("sha512-x  sha1-y"), Some(shasum)).as_deref(), Some("sha512-x sha1-y"));
    assert_eq!(of(Some(" "), Some(shasum)).as_deref(), Some("sha1-qvTGHdzF6KLavt4PO0gs2a6pQ00="));
    assert_eq!(of(None, None), None);
    assert_eq!(of(None, Some("")), None);
    for odd in ["aaf4", &shasum[2..], "not hexadecimal"] {
        let kept = of(None, Some(odd)).expect("not dropped: the package would be installed unverified");
        assert!(gantry_archive::Integrity::parse(&kept).is_err(), "{kept}");
    }
}

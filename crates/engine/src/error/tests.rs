use super::*;

#[test]
fn what_is_wrong_with_a_tarball_keeps_its_code_its_advice_and_its_package() {
    let error = ArchiveError::Truncated { package: "left@1.0.0".into() };
    let fault = Fault::from(&error);
    assert_eq!((fault.code.as_ref(), fault.package.as_deref()), ("ARCHIVE_TRUNCATED", Some("left@1.0.0")));
    assert_eq!((fault.message, fault.hint), (error.to_string(), error.hint()));
    assert_eq!(Fault::from(&ArchiveError::IntegritySyntax { text: "sha0".into() }).package, None);
}

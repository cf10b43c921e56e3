use super::{CODES, LayoutError};

#[test]
fn every_error_has_a_code_of_the_list_and_advice() {
    let errors = [
        LayoutError::Path { path: "x".into() },
        LayoutError::Integrity { path: "x".into(), integrity: "y".into() },
        LayoutError::Missing { package: "a@1.0.0".into(), path: "x".into() },
    ];
    assert_eq!(errors.iter().map(LayoutError::code).collect::<Vec<_>>(), CODES);
    assert!(errors.iter().all(|error| error.hint().is_some() && error.package().is_some()));
}

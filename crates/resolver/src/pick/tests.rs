use super::milliseconds;

#[test]
fn dates_with_and_without_a_time() {
    assert_eq!(milliseconds("1970-01-01"), Some(0));
    assert_eq!(milliseconds("2000-02-29T12:30:15.250Z"), Some(951_827_415_250));
    assert_eq!(milliseconds("2024-12-31T23:59:59+02:00"), Some(1_735_682_399_000));
    assert_eq!(milliseconds("1969-12-31T23:59:59Z"), Some(-1_000));
}

#[test]
fn what_is_no_date() {
    for text in [
        "",
        "yesterday",
        "2024",
        "2024-13-01",
        "2024-01-00",
        "2024-01-01T",
        "2024-01-01T25:00",
        "2024-01-01Tx:y",
        "-1-1-1",
    ] {
        assert_eq!(milliseconds(text), None, "{text:?}");
    }
}

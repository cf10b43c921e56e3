use super::*;
use bytes::Bytes;

/// Sun, 06 Nov 1994 08:49:37 GMT
const NOW: f64 = 784_111_777_000.0;

fn response(headers: &[(&str, &str)]) -> HttpResponse {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    HttpResponse { status: 200, headers, body: Bytes::new(), ..HttpResponse::default() }
}

#[test]
fn lifetimes_are_what_http_cache_semantics_makes_of_the_headers() {
    let cases: &[(&[(&str, &str)], u64)] = &[
        (&[("cache-control", "public, max-age=300")], 300),
        (&[("cache-control", "MAX-AGE=\"60\", s-maxage=9")], 60),
        (&[("cache-control", "max-age=nonsense")], 0),
        (&[("cache-control", "max-age=300, no-cache")], 0),
        (&[("cache-control", "max-age=300"), ("vary", "*")], 0),
        (&[("cache-control", "public"), ("cache-control", "max-age=300")], 300),
        (&[("cache-control", "max-age=300"), ("date", "today"), ("cache-control", "no-cache")], 0),
        (&[("cache-control", "max-age=300"), ("vary", "accept"), ("vary", "*")], 0),
        (&[("cache-control", "max-age=300"), ("vary", "accept, accept-encoding"), ("vary", "origin")], 300),
        (&[("cache-control", "max-age=10"), ("expires", "Sun, 06 Nov 1994 09:49:37 GMT")], 10),
        (&[("expires", "Sun, 06 Nov 1994 09:49:37 GMT")], 3600),
        (&[("expires", "Sun, 06 Nov 1994 09:49:37 GMT"), ("date", "Sun, 06 Nov 1994 09:49:07 GMT")], 30),
        (&[("expires", "Sun, 06 Nov 1994 07:49:37 GMT")], 0),
        (&[("expires", "0"), ("cache-control", "immutable")], 0),
        (&[("cache-control", "immutable")], 86_400),
        (&[("last-modified", "Sat, 05 Nov 1994 08:49:37 GMT")], 8640),
        (&[("last-modified", "Mon, 07 Nov 1994 08:49:37 GMT")], 0),
        (&[("last-modified", "yesterday")], 0),
        (&[], 0),
    ];
    for (headers, seconds) in cases {
        let freshness = freshness_of(&response(headers), NOW).expect("may be kept");
        assert_eq!((freshness.lifetime, freshness.answered), (seconds * 1000, 784_111_777_000), "{headers:?}");
    }
    assert_eq!(freshness_of(&response(&[("cache-control", "no-store, max-age=300")]), NOW), None);
    assert_eq!(freshness_of(&response(&[("cache-control", "public"), ("cache-control", "no-store")]), NOW), None);
}

#[test]
fn what_was_under_way_in_other_caches_counts_as_age() {
    let answer = response(&[("cache-control", "max-age=300"), ("age", "100")]);
    let freshness = freshness_of(&answer, NOW).expect("may be kept");
    assert!(is_fresh(&freshness, NOW) && is_fresh(&freshness, NOW + 199_000.0));
    assert!(!is_fresh(&freshness, NOW + 200_000.0));
    assert!(!is_fresh(&freshness, NOW - 101_000.0), "answered in the future");
}

#[test]
fn what_must_be_revalidated_is_never_fresh() {
    let answer = response(&[("cache-control", "max-age=300, must-revalidate")]);
    assert!(!is_fresh(&freshness_of(&answer, NOW).expect("may be kept"), NOW));
}

#[test]
fn dates_across_leap_years() {
    for (text, seconds) in [
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("Tue, 29 Feb 2000 12:30:15 GMT", 951_827_415.0),
        ("Fri, 01 Mar 2024 00:00:00 GMT", 1_709_251_200.0),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777.0),
    ] {
        assert_eq!(seconds_of_date(text), Some(seconds), "{text}");
    }
    for text in
        ["", "0", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT"]
    {
        assert_eq!(seconds_of_date(text), None, "{text}");
    }
}

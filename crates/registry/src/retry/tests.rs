//! How long to wait, by what registries say and by chance.

use super::*;
use bytes::Bytes;
use std::collections::BTreeSet;

/// Sun, 06 Nov 1994 08:49:37 GMT
const NOW: f64 = 784_111_777_000.0;

type Headers<'a> = &'a [(&'a str, &'a str)];

fn response(headers: Headers<'_>) -> HttpResponse {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    HttpResponse { status: 429, headers, body: Bytes::new(), ..HttpResponse::default() }
}

/// A clock that stands still.
struct Still(f64);

impl Clock for Still {
    fn monotonic_milliseconds(&self) -> f64 {
        self.0
    }

    fn unix_milliseconds(&self) -> f64 {
        NOW + self.0
    }

    async fn sleep(&self, _: f64) {}
}

#[test]
fn retry_after_is_a_number_of_seconds_or_a_moment() {
    let cases: &[(Headers<'_>, Option<f64>)] = &[
        (&[("retry-after", "120")], Some(120_000.0)),
        (&[("retry-after", " 1.5 ")], Some(1500.0)),
        (&[("retry-after", "-1")], None),
        (&[("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT")], Some(30_000.0)),
        (&[("retry-after", "Sun, 06 Nov 1994 08:49:07 GMT")], Some(0.0)),
        // The registry's clock is an hour ahead, and so is what it asks for.
        (
            &[("retry-after", "Sun, 06 Nov 1994 09:49:47 GMT"), ("date", "Sun, 06 Nov 1994 09:49:37 GMT")],
            Some(10_000.0),
        ),
        (&[("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT"), ("date", "today")], Some(30_000.0)),
        (&[("retry-after", "tomorrow")], None),
        (&[], None),
    ];
    for (headers, milliseconds) in cases {
        assert_eq!(retry_after(&response(headers), NOW), *milliseconds, "{headers:?}");
    }
}

#[test]
fn requests_that_fail_in_the_same_millisecond_are_spread() {
    let clock = Still(5.0);
    let mut tenths = [0_u32; 10];
    for package in 0..1000 {
        let jitter = jitter(&format!("https://registry.example/package-{package}"), 0, &clock);
        assert!((0.0..1.0).contains(&jitter));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 9")]
        let tenth = (jitter * 10.0) as usize;
        tenths[tenth] += 1;
    }
    assert!(tenths.iter().all(|count| (60..140).contains(count)), "{tenths:?}");
}

#[test]
fn attempts_and_clients_are_spread_too() {
    let url = "https://registry.example/a";
    let attempts = (0..100).map(|attempt| jitter(url, attempt, &Still(5.0)).to_bits());
    let clients = (100..200).map(|started| jitter(url, 0, &Still(f64::from(started))).to_bits());
    assert_eq!(attempts.chain(clients).collect::<BTreeSet<_>>().len(), 200);
}

use super::*;
use crate::NativeClock;
use gantry_archive::Integrity;
use std::sync::mpsc;

fn workers() -> Arc<Workers<NativeClock>> {
    Arc::new(Workers::new(1, NativeClock::default()))
}

/// A body of so many bytes, with what it hashes to.
fn body(bytes: usize) -> (Arc<TarballRequest>, Bytes) {
    let body = Bytes::from(vec![b'x'; bytes]);
    (Arc::new(TarballRequest::of_body("a@1", body.clone(), Some(Integrity::sha512_of(&body)))), body)
}

/// Work that ends when `gate` is opened.
fn blocked(workers: &Arc<Workers<NativeClock>>) -> (mpsc::Sender<()>, Handed<bool>) {
    let (open, gate) = mpsc::channel();
    let (request, body) = body(5);
    (open, workers.hand_in(request, body, move |_, _| gate.recv().is_ok()))
}

#[tokio::test]
async fn jobs_begin_in_order_on_no_more_threads_than_allowed() {
    let workers = workers();
    let (open, first) = blocked(&workers);
    first.begun.await.expect("it begins");
    let hand_in = |number: usize| {
        let (request, body) = body(10);
        workers.hand_in(request, body, move |verified, _| (number, verified.result.is_ok(), verified.span.bytes))
    };
    let later: Vec<_> = (0..100).map(hand_in).collect();
    assert_eq!(workers.waiting(), 1000);
    open.send(()).expect("it waits");
    for (number, handed) in later.into_iter().enumerate() {
        assert_eq!(handed.result.await, Ok((number, true, 10)));
    }
    assert_eq!(workers.waiting(), 0);
    let (open, again) = blocked(&workers);
    open.send(()).expect("it waits");
    assert_eq!(again.result.await, Ok(true));
}

#[tokio::test]
async fn each_body_is_verified_for_itself_whatever_its_size() {
    let workers = workers();
    let (open, _first) = blocked(&workers);
    let hand_in = |number: usize| {
        let (request, body) = body(if number == 3 { 1 << 20 } else { 100 + number });
        let body = if number % 5 == 2 { Bytes::from_static(b"damaged") } else { body };
        workers.hand_in(request, body, |verified, _| verified.result.is_ok())
    };
    let handed: Vec<_> = (0..20).map(hand_in).collect();
    open.send(()).expect("it waits");
    for (number, handed) in handed.into_iter().enumerate() {
        assert_eq!(handed.result.await, Ok(number % 5 != 2), "{number}");
    }
}

#[tokio::test]
async fn a_job_that_panics_ends_alone() {
    let workers = workers();
    let ((bad, bad_body), (good, good_body)) = (body(1), body(1));
    let bad = workers.hand_in(bad, bad_body, |_, _| {
        if true {
            panic!("on purpose")
        }
    });
    let good = workers.hand_in(good, good_body, |_, _| 7);
    assert!(bad.result.await.is_err());
    assert_eq!(good.result.await, Ok(7));
}

#[tokio::test]
async fn a_job_that_nobody_waits_for_is_left() {
    let workers = workers();
    let (open, first) = blocked(&workers);
    let (said, heard) = mpsc::channel();
    let (request, body_of_it) = body(1);
    drop(workers.hand_in(request, body_of_it, move |_, _| said.send(())));
    open.send(()).expect("it waits");
    assert_eq!(first.result.await, Ok(true));
    let (request, last) = body(1);
    assert_eq!(workers.hand_in(request, last, |_, _| 1).result.await, Ok(1));
    assert!(heard.try_recv().is_err());
}

use super::*;
use std::sync::mpsc;

#[tokio::test]
async fn jobs_begin_in_order_on_no_more_threads_than_allowed() {
    let workers = Arc::new(Workers::new(1));
    let (open, gate) = mpsc::channel::<()>();
    let first = workers.hand_in(5, move |_| gate.recv());
    first.begun.await.expect("it begins");
    let later: Vec<_> = (0..3).map(|number| workers.hand_in(10, move |_| number)).collect();
    assert_eq!(workers.waiting(), 30);
    open.send(()).expect("it waits");
    for (number, handed) in later.into_iter().enumerate() {
        assert_eq!(handed.result.await, Ok(number));
    }
    assert_eq!(workers.waiting(), 0);
    assert_eq!(workers.hand_in(1, |_| "again").result.await, Ok("again"));
}

#[tokio::test]
async fn a_job_that_panics_ends_alone() {
    let workers = Arc::new(Workers::new(1));
    let bad = workers.hand_in(1, |_| {
        if true {
            panic!("on purpose")
        }
    });
    let good = workers.hand_in(1, |_| 7);
    assert!(bad.result.await.is_err());
    assert_eq!(good.result.await, Ok(7));
}

#[tokio::test]
async fn a_job_that_nobody_waits_for_is_left() {
    let workers = Arc::new(Workers::new(1));
    let (open, gate) = mpsc::channel::<()>();
    let (said, heard) = mpsc::channel();
    let first = workers.hand_in(1, move |_| gate.recv());
    drop(workers.hand_in(1, move |_| said.send(())));
    open.send(()).expect("it waits");
    assert!(first.result.await.expect("it ends").is_ok());
    assert_eq!(workers.hand_in(1, |_| 1).result.await, Ok(1));
    assert!(heard.try_recv().is_err());
}

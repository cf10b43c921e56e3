use super::{Body, Handed, LARGE, PIECE, Recipient};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::mpsc::{Receiver, channel};

/// Somebody who wants large bodies, what they get, and how many they were told of.
fn wanting() -> (Recipient, Receiver<super::Piece>, Arc<AtomicUsize>) {
    let (sender, receiver) = channel(64);
    let told = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&told);
    let begin = move || {
        count.fetch_add(1, Ordering::Relaxed);
        Some(sender.clone())
    };
    (Recipient(Arc::new(begin)), receiver, told)
}

async fn bring(body: &mut Body, length: u64) {
    let mut left = usize::try_from(length).unwrap();
    while left > 0 {
        let chunk = vec![7; left.min(PIECE / 3)];
        body.push(&chunk);
        assert_eq!(body.hand_on().await, Handed::On);
        left -= chunk.len();
    }
}

#[tokio::test]
async fn a_large_body_is_handed_on_whether_it_was_announced_or_not() {
    for announced in [0, 100, LARGE + 5] {
        let (recipient, mut receiver, told) = wanting();
        let mut body = Body::new(announced, Some(&recipient));
        bring(&mut body, LARGE + 5).await;
        assert!(body.bytes.len() < PIECE, "{announced}: what has come is held no longer");
        assert_eq!(body.length() as u64, LARGE + 5);
        assert!(body.finish().await.is_empty());
        assert_eq!(told.load(Ordering::Relaxed), 1);
        let mut length = 0;
        while let Some(Some(piece)) = receiver.recv().await {
            length += piece.len() as u64;
        }
        assert_eq!(length, LARGE + 5);
    }
}

#[tokio::test]
async fn a_small_body_stays_in_one_piece() {
    let (recipient, _receiver, told) = wanting();
    let mut body = Body::new(0, Some(&recipient));
    bring(&mut body, LARGE - 1).await;
    assert_eq!((body.finish().await.len() as u64, told.load(Ordering::Relaxed)), (LARGE - 1, 0));
}

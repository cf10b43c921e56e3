//! When requests wait for each other.

use super::*;
use futures_util::FutureExt;

#[tokio::test(start_paused = true)]
async fn nothing_waits_while_nothing_is_known_or_the_registry_is_far() {
    let nearness = Nearness::default();
    nearness.note(Duration::from_millis(30));
    let turns: Vec<Turn<'_>> = (0..200).map(|_| nearness.turn().now_or_never().expect("it may go at once")).collect();
    assert_eq!(turns.len(), 200);
}

#[tokio::test(start_paused = true)]
async fn a_neighbour_gets_so_many_at_a_time_and_the_next_as_one_ends() {
    let nearness = Nearness::default();
    nearness.note(Duration::from_millis(1));
    let mut turns = Vec::new();
    for _ in 0..SLOTS {
        turns.push(nearness.turn().now_or_never().expect("there is room"));
    }
    assert!(nearness.turn().now_or_never().is_none());
    turns.pop();
    assert!(nearness.turn().now_or_never().is_some());
}

#[tokio::test(start_paused = true)]
async fn where_nothing_ends_nothing_waits_any_more() {
    let nearness = Nearness::default();
    nearness.note(Duration::from_millis(1));
    let mut turns = Vec::new();
    for _ in 0..SLOTS {
        turns.push(nearness.turn().await);
    }
    // The clock goes on by itself while everything waits.
    turns.push(nearness.turn().await);
    assert!(nearness.turn().now_or_never().is_some());
    nearness.note(Duration::from_millis(1));
    assert!(nearness.turn().now_or_never().is_some(), "it stays far");
}

#[tokio::test(start_paused = true)]
async fn where_some_end_the_others_go_on_waiting() {
    let nearness = Nearness::default();
    nearness.note(Duration::from_millis(1));
    let mut turns = Vec::new();
    for _ in 0..SLOTS {
        turns.push(nearness.turn().await);
    }
    let ends = async {
        for _ in 0..3 {
            tokio::time::sleep(Duration::from_millis(30)).await;
            // One that had no slot, as those that were under way when it became near.
            drop(Turn { nearness: &nearness, _slot: None });
        }
        turns.pop();
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    let (turn, ()) = tokio::join!(nearness.turn(), ends);
    assert!(turn._slot.is_some());
}

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
            drop(Turn { nearness: &nearness, slot: None });
        }
        turns.pop();
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    let (turn, ()) = tokio::join!(nearness.turn(), ends);
    assert!(turn.slot.is_some());
}

#[tokio::test(start_paused = true)]
async fn one_that_answers_slowly_from_some_time_on_is_far() {
    let nearness = Nearness::default();
    nearness.note(Duration::from_millis(1));
    let turn = nearness.turn().await;
    let slow = || turn.note(PATIENCE);
    (1..SLOW_ONES).for_each(|_| slow());
    turn.note(Duration::from_millis(20));
    (1..SLOW_ONES).for_each(|_| slow());
    assert!(nearness.is_near(), "one was not slow in between");
    slow();
    assert!(!nearness.is_near());
    let turns: Vec<Turn<'_>> = (0..200).map(|_| nearness.turn().now_or_never().expect("it may go at once")).collect();
    assert_eq!(turns.len(), 200);
    turn.note(Duration::from_millis(1));
    assert!(!nearness.is_near(), "it stays far");
}

#[tokio::test(start_paused = true)]
async fn many_that_went_at_once_may_be_slow_and_say_nothing() {
    let nearness = Nearness::default();
    let mut turns = Vec::new();
    for _ in 0..3 * SLOW_ONES {
        turns.push(nearness.turn().await);
    }
    turns[0].note(PATIENCE);
    turns[1].note(Duration::from_millis(1));
    turns.iter().for_each(|turn| turn.note(2 * PATIENCE));
    assert!(nearness.is_near());
}

#[tokio::test(start_paused = true)]
async fn each_origin_is_near_or_far_for_itself() {
    let neighbourhood = Neighbourhood::default();
    neighbourhood.of("http://localhost:4873/react").note(Duration::from_millis(1));
    neighbourhood.of("https://registry.example/react").note(Duration::from_millis(30));
    for near in ["http://localhost:4873", "http://localhost:4873/", "http://localhost:4873/@scope%2fname?write=true"] {
        assert!(neighbourhood.is_near(near), "{near}");
    }
    for far in
        ["https://registry.example/vue", "https://localhost:4873/", "http://localhost/", "http://localhost:48731/"]
    {
        assert!(!neighbourhood.is_near(far), "{far}");
    }
    let (near, far) = (neighbourhood.of("http://localhost:4873/vue"), neighbourhood.of("https://registry.example/vue"));
    let mut turns = Vec::new();
    for _ in 0..SLOTS {
        turns.push(near.turn().await);
    }
    assert!(near.turn().now_or_never().is_none());
    let beside: Vec<Turn<'_>> = (0..200).map(|_| far.turn().now_or_never().expect("it may go at once")).collect();
    assert_eq!(beside.len(), 200);
}

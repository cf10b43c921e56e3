use super::*;
use futures_util::FutureExt;
use std::task::Context;

fn polled(future: &mut (impl Future<Output = ()> + Unpin)) -> bool {
    future.poll_unpin(&mut Context::from_waker(Waker::noop())).is_ready()
}

#[test]
fn a_slot_is_given_up_while_its_holder_waits_and_had_again_when_there_is_one() {
    let lane = Lane::default();
    let end = Cell::new(false);
    let pause = poll_fn(|_| if end.get() { Poll::Ready(()) } else { Poll::Pending });
    let slot = lane.slot();
    let mut held = Box::pin(slot.given_up_during(pause));
    assert!(!polled(&mut held) && lane.take_change());
    assert_eq!((lane.resting(), lane.readmit()), (1, false), "it waits still");
    end.set(true);
    assert!(!polled(&mut held) && lane.take_change());
    assert_eq!(lane.resting(), 1, "it has no slot before it is given one");
    assert!(lane.readmit());
    assert_eq!(lane.resting(), 0);
    assert!(polled(&mut held));
    assert!(!lane.readmit() && !lane.take_change());
}

#[test]
fn who_comes_back_first_has_the_first_slot() {
    let lane = Lane::default();
    let slots = [lane.slot(), lane.slot()];
    let mut first = Box::pin(slots[0].given_up_during(async {}));
    let mut second = Box::pin(slots[1].given_up_during(async {}));
    assert!(!polled(&mut first) && !polled(&mut second));
    assert!(lane.readmit());
    assert_eq!((polled(&mut second), polled(&mut first)), (false, true));
    assert!(lane.readmit() && polled(&mut second));
}

#[test]
fn whoever_is_given_up_meanwhile_counts_no_longer() {
    let lane = Lane::default();
    let slot = lane.slot();
    let mut waiting = Box::pin(slot.given_up_during(futures_util::future::pending()));
    assert!(!polled(&mut waiting));
    drop(waiting);
    let mut due = Box::pin(slot.given_up_during(async {}));
    assert!(!polled(&mut due));
    drop(due);
    assert_eq!((lane.resting(), lane.readmit()), (0, false));
}

#[test]
fn what_is_held_in_no_lane_is_not_waited_for() {
    assert!(Slot::default().given_up_during(async {}).now_or_never().is_some());
    assert!(().given_up_during(async {}).now_or_never().is_some());
}

//! The slots of one kind of request, as those see them who hold one.
//!
//! A slot stands for a socket. Whoever hands slots out counts what is under way; a request that waits to be made again has no
//! socket, and so gives its slot up meanwhile: a registry that asks some to come back in a minute does not hold up the others.
//! Afterwards it asks for a slot again, and has it when there is one. Those who come back are in the order in which their waits
//! ended; whoever hands slots out serves them before what has not been asked for yet, so that none of them starves.

use core::cell::{Cell, RefCell};
use core::future::{Future, poll_fn};
use core::task::{Poll, Waker};
use std::collections::VecDeque;
use std::rc::Rc;

/// What is held while a request is under way.
pub trait Held {
    /// Gives it up during `pause`, and has it again afterwards.
    fn given_up_during(&self, pause: impl Future<Output = ()>) -> impl Future<Output = ()>;
}

/// Nothing is held.
impl Held for () {
    async fn given_up_during(&self, pause: impl Future<Output = ()>) {
        pause.await;
    }
}

/// Who holds slots of one kind and has given one up for a while. Clones are the same lane.
#[derive(Debug, Clone, Default)]
pub struct Lane(Rc<Waits>);

#[derive(Debug, Default)]
struct Waits {
    /// How many have given up their slots, those who want them back included.
    resting: Cell<usize>,
    /// Who wants a slot back.
    due: RefCell<VecDeque<Rc<Return>>>,
    has_changed: Cell<bool>,
}

/// Somebody who wants a slot back.
#[derive(Debug, Default)]
struct Return {
    is_admitted: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Lane {
    /// A slot of this lane, for whoever has been counted.
    pub fn slot(&self) -> Slot {
        Slot(Some(self.clone()))
    }

    /// How many of those who have a slot have given it up for a while.
    pub fn resting(&self) -> usize {
        self.0.resting.get()
    }

    /// Gives a slot to who has waited longest to have it back; `false` where nobody does.
    pub fn readmit(&self) -> bool {
        let Some(first) = self.0.due.borrow_mut().pop_front() else { return false };
        self.0.resting.set(self.0.resting.get() - 1);
        first.is_admitted.set(true);
        if let Some(waker) = first.waker.take() {
            waker.wake();
        }
        true
    }

    /// Whether, since the last call, a slot was given up or somebody began to wait for one.
    pub fn take_change(&self) -> bool {
        self.0.has_changed.take()
    }
}

/// One place in a [`Lane`]; by default in none, which is like holding nothing.
#[derive(Debug, Clone, Default)]
pub struct Slot(Option<Lane>);

impl Held for Slot {
    async fn given_up_during(&self, pause: impl Future<Output = ()>) {
        let Some(Lane(waits)) = &self.0 else { return pause.await };
        let rest = Rest::begin(waits);
        pause.await;
        waits.due.borrow_mut().push_back(Rc::clone(&rest.back));
        waits.has_changed.set(true);
        poll_fn(|context| {
            if rest.back.is_admitted.get() {
                return Poll::Ready(());
            }
            *rest.back.waker.borrow_mut() = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

/// A slot that is given up. Dropped before it is had back, it is for good.
struct Rest<'w> {
    waits: &'w Waits,
    back: Rc<Return>,
}

impl<'w> Rest<'w> {
    fn begin(waits: &'w Waits) -> Self {
        waits.resting.set(waits.resting.get() + 1);
        waits.has_changed.set(true);
        Self { waits, back: Rc::default() }
    }
}

impl Drop for Rest<'_> {
    fn drop(&mut self) {
        if !self.back.is_admitted.get() {
            self.waits.resting.set(self.waits.resting.get() - 1);
            self.waits.due.borrow_mut().retain(|other| !Rc::ptr_eq(other, &self.back));
        }
    }
}

#[cfg(test)]
mod tests;

//! What is under way is noted when it ends, also where nobody waits for its end.

use gantry_platform::{Clock, Ending, Span, Work};

/// One piece of work under way; when it is dropped, what became of it is noted. Unless it is [`done`](Self::done) it was
/// given up.
pub(crate) struct Underway<'c, C: Clock, N: FnOnce(Span)> {
    clock: &'c C,
    span: Span,
    /// Taken once, when it is dropped.
    note: Option<N>,
}

impl<'c, C: Clock, N: FnOnce(Span)> Underway<'c, C, N> {
    /// Begins now.
    pub fn new(clock: &'c C, work: Work, note: N) -> Self {
        let began = clock.monotonic_milliseconds();
        let span = Span { ending: Ending::Abandoned, ..Span::of(work, began, began, 0) };
        Self { clock, span, note: Some(note) }
    }

    /// Ends now, with what `describe` says of it.
    pub fn done(mut self, describe: impl FnOnce(&mut Span)) {
        self.span.ended = self.clock.monotonic_milliseconds();
        self.span.ending = Ending::Done;
        describe(&mut self.span);
    }
}

impl<C: Clock, N: FnOnce(Span)> Drop for Underway<'_, C, N> {
    fn drop(&mut self) {
        if self.span.ending == Ending::Abandoned {
            self.span.ended = self.clock.monotonic_milliseconds();
        }
        if let Some(note) = self.note.take() {
            note(self.span.clone());
        }
    }
}

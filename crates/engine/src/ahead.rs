//! Packuments asked for before the resolver knows that it needs them.
//!
//! Over a network a tree costs a round trip for each of its levels. A [table](gantry_forecast) of what popular packages depend on
//! foretells most of the names below what the resolver asks for; they are fetched with what the lane has to spare, and their answers
//! kept here until the resolver asks. It never learns of those that it does not ask for, so what comes out is the same with and
//! without.

use gantry_forecast::{Table, Walk};
use gantry_manifest::Packument;
use gantry_registry::RegistryError;
use gantry_resolver::PackumentRequest;
use gantry_spec::PackageName;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::sync::Arc;

type Answer = Result<Arc<Packument>, RegistryError>;

/// What is foretold, and what has become of it.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    walk: Option<Walk<'static>>,
    /// Names that need no packument, as a lock has them.
    settled: FxHashSet<String>,
    /// Requests of the resolver that were not answered at once, and that nothing was foretold from yet.
    unfollowed: Vec<PackumentRequest>,
    states: FxHashMap<PackageName, State>,
    waiting: VecDeque<PackageName>,
}

#[derive(Debug)]
enum State {
    /// The resolver has asked for it, and waits.
    Asked,
    /// The resolver has it.
    Answered,
    /// It is foretold.
    Waiting,
    /// It is foretold, and under way.
    Flying,
    /// It was foretold, and nobody has asked for it so far.
    Here(Answer),
}

/// Where a request of the resolver finds what it asks for.
pub(crate) enum Place {
    /// It is to be fetched.
    Nowhere,
    /// It is under way, and will land as if it had been asked for.
    UnderWay,
    Here(Answer),
}

impl Ahead {
    pub fn new(table: Option<Table<'static>>) -> Self {
        Self { walk: table.map(Walk::new), ..Self::default() }
    }

    /// Foretells nothing of these, nor of what they depend on.
    pub fn settle(&mut self, names: impl IntoIterator<Item = String>) {
        if self.walk.is_some() {
            self.settled.extend(names);
        }
    }

    /// The resolver asks for a packument.
    pub fn asked(&mut self, request: &PackumentRequest) -> Place {
        if self.walk.is_none() || request.version.is_some() {
            return Place::Nowhere;
        }
        match self.states.insert(request.name.clone(), State::Asked) {
            Some(State::Here(answer)) => Place::Here(answer),
            Some(State::Flying) => Place::UnderWay,
            Some(State::Waiting | State::Asked | State::Answered) | None => {
                self.unfollowed.push(request.clone());
                Place::Nowhere
            }
        }
    }

    /// Takes an answer; gives it back if the resolver waits for it.
    pub fn landed(&mut self, name: &PackageName, answer: Answer) -> Option<Answer> {
        match self.states.get_mut(name) {
            Some(state @ State::Flying) => {
                *state = State::Here(answer);
                None
            }
            Some(state) => {
                *state = State::Answered;
                Some(answer)
            }
            None => Some(answer),
        }
    }

    /// Whether there is anything that more may be foretold from.
    pub fn is_open(&self) -> bool {
        self.walk.is_some() && !self.unfollowed.is_empty()
    }

    /// To be called when nothing more can be had at once: what is asked for now waits for the network, and with it goes what is
    /// foretold from it. Gives whether there is anything new to fetch.
    pub fn look(&mut self) -> bool {
        let Some(walk) = &mut self.walk else { return false };
        let Self { settled, states, .. } = self;
        let before = self.waiting.len();
        for PackumentRequest { name, range, for_peers, .. } in self.unfollowed.drain(..) {
            // What a package depends on is known from itself by now.
            if matches!(states.get(&name), Some(State::Answered)) {
                continue;
            }
            for foretold in walk.follow((name.as_str(), &range, for_peers), |name| settled.contains(name)) {
                let Ok(name) = foretold.name.parse::<PackageName>() else { continue };
                if states.contains_key(&name) {
                    continue;
                }
                states.insert(name.clone(), State::Waiting);
                if foretold.has_builds {
                    self.waiting.push_front(name);
                } else {
                    self.waiting.push_back(name);
                }
            }
        }
        self.waiting.len() > before
    }

    /// The next packument to fetch.
    pub fn next(&mut self) -> Option<PackageName> {
        while let Some(name) = self.waiting.pop_front() {
            if let Some(state @ State::Waiting) = self.states.get_mut(&name) {
                *state = State::Flying;
                return Some(name);
            }
        }
        None
    }

    /// Foretells nothing more: everything that is needed is there. What is under way still lands here.
    pub fn end(&mut self) {
        self.walk = None;
        self.unfollowed.clear();
        self.waiting.clear();
    }
}

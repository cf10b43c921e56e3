//! What kept documents are good for where connections fail.

use super::{Answer, FRESH, Machine, TAGGED, answer};
use crate::tests::{PACKUMENT, Script, Sleeps, client, now};
use crate::{RegistryClient, ReplaceHost};
use futures_util::{FutureExt, join};
use gantry_platform::{Clock, Http, HttpError, HttpErrorKind, HttpRequest, HttpResponse};
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

#[test]
fn where_nobody_answers_stale_documents_do_and_the_user_is_told_once() {
    let machine = Machine::with_kept(&[FRESH, TAGGED]);
    let body = PACKUMENT.replace("\"a\"", "\"b\"");
    now(machine.run(vec![answer(200, &[FRESH, TAGGED], &body)]).0.packument("b")).unwrap();
    machine.pass(301.0);
    let (client, script) = machine.run(vec![Err(HttpErrorKind::Connect)]);
    assert!(now(client.packument("a")).unwrap().has_version("1.0.0"));
    assert!(now(client.packument("b")).unwrap().has_version("1.0.0"));
    assert_eq!(script.asked().len(), 1, "neither repeated nor tried for the next document");
    let warnings = now(client.settle());
    assert_eq!(warnings.iter().map(|warning| warning.code).collect::<Vec<_>>(), ["REGISTRY_STALE"]);
    assert!(warnings[0].message.contains("registry.example") && warnings[0].message.contains("a and 1 more"));
    assert!(now(client.settle()).is_empty());
}

#[test]
fn where_a_registry_has_answered_one_failed_connection_is_tried_again_and_concerns_one_document() {
    let machine = Machine::default();
    let names = ["a", "b", "c"];
    for name in names {
        let body = PACKUMENT.replace("\"a\"", &format!("\"{name}\""));
        now(machine.run(vec![answer(200, &[FRESH, TAGGED], &body)]).0.packument(name)).unwrap();
    }
    machine.pass(301.0);
    let confirmed = || answer(304, &[FRESH], "");
    for kind in [HttpErrorKind::Connect, HttpErrorKind::Timeout] {
        let missed = || Err(kind);
        let (client, script) = machine.run(vec![confirmed(), missed(), confirmed(), missed(), missed(), confirmed()]);
        for name in names {
            assert!(now(client.packument(name)).unwrap().has_version("1.0.0"));
        }
        assert_eq!(script.asked().len(), 6, "{kind:?}");
        assert!(now(client.settle()).is_empty(), "everybody has answered in the end");
        machine.pass(301.0);

        let gone = [confirmed(), missed(), missed(), missed(), confirmed()];
        let (client, script) = machine.run(gone.to_vec());
        for name in names {
            assert!(now(client.packument(name)).unwrap().has_version("1.0.0"));
        }
        assert_eq!(script.asked().len(), 5, "the next one is asked for again");
        let warnings = now(client.settle());
        assert_eq!(warnings.iter().map(|warning| warning.code).collect::<Vec<_>>(), ["REGISTRY_STALE"]);
        assert!(warnings[0].message.contains("kept of b are used"), "{}", warnings[0].message);
        machine.pass(301.0);
    }
}

/// Answers when it is told to, each request of a package by itself.
#[derive(Clone, Default)]
struct Told {
    answers: Rc<RefCell<Vec<(char, Answer)>>>,
    asked: Rc<RefCell<String>>,
}

impl Http for Told {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let name = request.url.chars().last().unwrap();
        self.asked.borrow_mut().push(name);
        let answer = poll_fn(|_| {
            let mut answers = self.answers.borrow_mut();
            match answers.iter().position(|(of, _)| *of == name) {
                Some(position) => Poll::Ready(answers.remove(position).1),
                None => Poll::Pending,
            }
        });
        let (url, message) = (request.url, "scripted".to_owned());
        answer.await.map_err(|kind| HttpError { kind, url, message, has_answered: false })
    }
}

/// Waits until it is told that they are over.
#[derive(Clone, Default)]
struct Waits {
    clock: Sleeps,
    are_over: Rc<Cell<bool>>,
}

impl Clock for Waits {
    fn monotonic_milliseconds(&self) -> f64 {
        self.clock.monotonic_milliseconds()
    }

    fn unix_milliseconds(&self) -> f64 {
        self.clock.unix_milliseconds()
    }

    async fn sleep(&self, _: f64) {
        poll_fn(|_| if self.are_over.get() { Poll::Ready(()) } else { Poll::Pending }).await;
    }
}

#[test]
fn a_connection_that_fails_before_another_is_answered_is_tried_again() {
    let machine = Machine::with_kept(&[FRESH, TAGGED]);
    let body = PACKUMENT.replace("\"a\"", "\"b\"");
    now(machine.run(vec![answer(200, &[FRESH, TAGGED], &body)]).0.packument("b")).unwrap();
    machine.pass(301.0);
    let ask = |first: Answer| {
        let (http, clock) = (Told::default(), Waits { clock: machine.clock.clone(), ..Waits::default() });
        let settings = client(&Script::default(), &machine.clock, &[], ReplaceHost::Never).settings().clone();
        let client = RegistryClient::new(http.clone(), clock.clone(), settings);
        let client = client.with_mirror(Box::new(machine.mirror.clone()));
        let mut both = Box::pin(async { join!(client.packument("a"), client.packument("b")) });
        let tell = |name, answer| http.answers.borrow_mut().push((name, answer));
        tell('b', Err(HttpErrorKind::Connect));
        assert!((&mut both).now_or_never().is_none(), "what becomes of the other is not known yet");
        tell('a', first);
        let mut packuments = (&mut both).now_or_never();
        if packuments.is_none() {
            clock.are_over.set(true);
            tell('b', answer(200, &[FRESH], &body.replace("1.0.0", "2.0.0")));
            packuments = both.now_or_never();
        }
        let (a, b) = packuments.unwrap();
        assert!(a.unwrap().has_version("1.0.0"));
        let warned: Vec<_> = now(client.settle()).iter().map(|warning| warning.code).collect();
        let asked = http.asked.borrow().clone();
        (asked, b.unwrap().has_version("2.0.0"), warned)
    };
    let nobody = ask(Err(HttpErrorKind::Connect));
    assert_eq!(nobody, ("ab".to_owned(), false, vec!["REGISTRY_STALE"]), "nobody waits where nobody answers");
    assert_eq!(ask(answer(304, &[FRESH], "")), ("abb".to_owned(), true, vec![]));
}

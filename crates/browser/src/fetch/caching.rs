//! Who keeps what a page is answered: its store, or the browser.
//!
//! Tarballs bypass the browser's HTTP cache: the store has their contents, and a second copy would cost quota. So do
//! documents, which the metadata mirror keeps: with the second copy an install with nothing kept took a tenth longer, and
//! what the cache called fresh the mirror called fresh once more. But a page cannot ask on condition, which takes headers
//! that need a CORS preflight; it can ask for the headers alone (`HEAD`), and ask for the document if they have another date.
//!
//! The browser's cache is used for documents, by its own rules, where that cannot be done, since the registry shows pages
//! neither dates nor tags or tells nothing by `HEAD`, and where nothing outlives the page, in a store in memory.
//!
//! What goes past the cache carries `Cache-Control: no-cache`, which is the browser's doing (Fetch, "HTTP-network-or-cache
//! fetch"): caches on the way that heed it ask the registry.

use gantry_platform::{HttpRequest, HttpResponse};
use rustc_hash::FxHashSet;
use std::cell::{Cell, RefCell};

thread_local! {
    /// What the browser keeps: documents of origins that cannot be asked by headers whether one has changed, each with what such a
    /// document was asked for by.
    static BY_BROWSER: RefCell<FxHashSet<String>> = RefCell::default();
    static IS_KEPT_BY_BROWSER: Cell<bool> = const { Cell::new(false) };
}

/// From now on the browser keeps documents for this worker.
pub(crate) fn keep_in_browser() {
    IS_KEPT_BY_BROWSER.set(true);
}

/// How a request is made.
#[derive(Debug, Clone)]
pub(super) struct Question {
    /// Headers to send, a line each.
    pub headers: String,
    /// The mode of the browser's cache.
    pub cache: &'static str,
    /// The header, as a line, with which nothing has changed.
    pub known: String,
    /// Whether the headers are asked for first.
    pub is_by_head: bool,
    /// Where the answer is to be kept by the mirror alone: origin, and what is accepted.
    for_mirror: Option<String>,
}

impl Question {
    /// How to make `request`. Fails with the name of a header that would be two.
    pub fn of(request: &HttpRequest) -> Result<Self, &str> {
        let (mut lines, mut known) = (Vec::new(), String::new());
        let mut accepted = None;
        let (mut is_conditional, mut is_to_reload, mut is_personal) = (false, false, false);
        for (name, value) in &request.headers {
            match (name.as_str(), value.as_str()) {
                // No page has a say in it.
                ("accept-encoding", _) => continue,
                // As headers these would need a preflight. An answer with the header that was asked with is as good as a 304;
                // like any to a date, this trusts that a registry dates each change.
                ("if-none-match", tag) => known = format!("etag:{tag}"),
                ("if-modified-since", date) if known.is_empty() => known = format!("last-modified:{date}"),
                ("if-modified-since", _) => {}
                ("cache-control", "max-age=0") => is_conditional = true,
                ("cache-control", _) => is_to_reload = true,
                _ if value.contains('\n') => return Err(name),
                _ => {
                    if name == "accept" {
                        accepted = Some(format!("{} {value}", origin_of(&request.url)));
                    }
                    is_personal |= name == "authorization";
                    lines.push(format!("{name}:{value}"));
                }
            }
        }
        let is_known = !known.is_empty();
        let is_without_head =
            accepted.as_ref().is_some_and(|accepted| BY_BROWSER.with_borrow(|all| all.contains(accepted)));
        let is_by_browser = is_without_head || IS_KEPT_BY_BROWSER.get();
        // A browser's cache gives an answer to whoever asks for its address next: with another token, or with none.
        let cache = if is_personal || accepted.is_none() {
            "no-store"
        } else if is_to_reload {
            "reload"
        } else if is_by_browser {
            if is_known || is_conditional { "no-cache" } else { "default" }
        } else if is_known || !is_conditional {
            "no-store"
        } else {
            "no-cache"
        };
        Ok(Self {
            headers: lines.join("\n"),
            cache,
            is_by_head: cache == "no-store" && is_known && !is_without_head,
            for_mirror: accepted.filter(|_| cache == "no-store"),
            known,
        })
    }

    /// Remembers what the answer to it tells; `is_without_head`: that headers alone told nothing.
    pub fn learn(self, answer: &HttpResponse, is_without_head: bool) {
        let tells_nothing = || answer.header("last-modified").is_none() && answer.header("etag").is_none();
        if let Some(accepted) = self.for_mirror.filter(|_| answer.has_content() && (is_without_head || tells_nothing()))
        {
            BY_BROWSER.with_borrow_mut(|all| all.insert(accepted));
        }
    }
}

/// Scheme, host and port of an absolute address.
fn origin_of(url: &str) -> &str {
    let host = url.find("//").map_or(0, |at| at + 2);
    let end = url[host..].find('/').map_or(url.len(), |at| host + at);
    &url[..end]
}

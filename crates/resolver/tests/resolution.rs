//! The resolver from outside: what npm gives ([`npm_cases`]) and what must never happen ([`robust`]).

#[path = "resolution/npm_cases.rs"]
mod npm_cases;
#[path = "resolution/robust.rs"]
mod robust;
#[path = "resolution/support.rs"]
mod support;

//! The resolver from outside: what npm gives ([`npm_cases`]), what is asked for early ([`ahead`]), what ends a conflict
//! ([`remedies`]) and what must never happen ([`robust`]).

#[path = "resolution/ahead.rs"]
mod ahead;
#[path = "resolution/npm_cases.rs"]
mod npm_cases;
#[path = "resolution/remedies.rs"]
mod remedies;
#[path = "resolution/robust.rs"]
mod robust;
#[path = "resolution/support.rs"]
mod support;

//! Text that compresses about as source code does.

use crate::random::Random;

const SYLLABLES: &[&str] = &[
    "ar", "ba", "con", "da", "el", "fo", "gra", "he", "in", "jo", "ka", "lo", "mo", "na", "or", "pa", "qui", "re",
    "sa", "to", "un", "va", "wi", "xe", "yo", "zu", "ment", "tion", "er", "ing", "ly", "ex", "pre", "sub", "test",
    "node", "type", "list",
];

const PATTERNS: &[&[&str]] = &[
    &["const ", "#", " = ", "#", "(", "#", ", ", "#", ");"],
    &["  if (", "#", " === undefined) return ", "#", ";"],
    &["export function ", "#", "(", "#", ", ", "#", ") {"],
    &["  return this.", "#", ".", "#", "(\"", "#", "\");"],
    &["// ", "#", " ", "#", " ", "#", " of the ", "#"],
    &["  ", "#", ".prototype.", "#", " = function (", "#", ") {"],
    &["    \"", "#", "\": [\"", "#", "\", \"", "#", "\"],"],
    &["  readonly ", "#", "?: ", "#", " | undefined;"],
    &["import { ", "#", " } from './", "#", "';"],
    &["}"],
    &[""],
];

/// A word of two or three syllables.
pub(super) fn word(random: &mut Random) -> String {
    (0..random.between(2, 3)).map(|_| *random.pick(SYLLABLES)).collect()
}

/// Lines of source code of a package whose names are `names`, at least `size` bytes.
pub(super) fn source(random: &mut Random, names: &[String], size: usize) -> String {
    let mut text = String::with_capacity(size + 200);
    while text.len() < size {
        for part in *random.pick(PATTERNS) {
            match *part {
                // A few names are used much more than the others.
                "#" => {
                    let bound = 1 + random.below(names.len());
                    text.push_str(&names[random.below(bound)]);
                }
                part => text.push_str(part),
            }
        }
        if random.percent(6) {
            text.push_str(&random.base64(12));
        }
        text.push('\n');
    }
    text
}

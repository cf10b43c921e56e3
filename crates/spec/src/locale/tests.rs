//! The order is total, and the sort key agrees with it. That it is npm's is what the vectors say.

use std::cmp::Ordering;

use proptest::prelude::*;

use super::{compare_any, compare_locale};

#[test]
fn case_breaks_ties_only() {
    let mut texts = ["b", "B", "a", "A", "ab", "aB", "a-b", "@a/b", "_a", "1"];
    texts.sort_by(|left, right| compare_locale(left, right));
    assert_eq!(texts, ["_a", "@a/b", "1", "a", "A", "a-b", "ab", "aB", "b", "B"]);
}

#[test]
fn accents_stand_behind_their_letter_and_the_rest_behind_ascii() {
    let mut texts = ["f", "é", "E", "e", "É", "ez", "z", "你", "ea"];
    texts.sort_by(|left, right| compare_locale(left, right));
    assert_eq!(texts, ["e", "E", "é", "É", "ea", "ez", "f", "z", "你"]);
}

const ODD_TEXT: &str = "[aAbB/_.@1\u{1}\u{e9}\u{c9}\u{e8}\u{df}\u{4f60}\t-]{0,5}";

proptest! {
    #[test]
    fn the_order_is_total(texts in prop::array::uniform3(ODD_TEXT)) {
        let [a, b, c] = &texts;
        prop_assert_eq!(compare_locale(a, b), compare_locale(b, a).reverse());
        prop_assert_eq!(compare_locale(a, b) == Ordering::Equal, a == b);
        if compare_locale(a, b).is_le() && compare_locale(b, c).is_le() {
            prop_assert!(compare_locale(a, c).is_le());
        }
    }

    #[test]
    fn what_is_quick_orders_likewise(left in ODD_TEXT, right in ODD_TEXT, any_left in any::<String>(), any_right in any::<String>()) {
        for (left, right) in [(&left, &right), (&any_left, &any_right)] {
            prop_assert_eq!(compare_locale(left, right), compare_any(left, right));
        }
    }
}

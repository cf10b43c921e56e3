use super::{for_terminal, warning_line};
use std::borrow::Cow;

#[test]
fn what_is_only_read_stays() {
    for text in
        ["", "warning EBADENGINE: left@1.0.0\n\tneeds Node\r\n", "größer 你好 \u{2028}", "\u{1b}[31mred\u{1b}[0m"]
    {
        assert_eq!(for_terminal(text), text);
    }
    assert!(matches!(for_terminal("plain"), Cow::Borrowed("plain")));
}

#[test]
fn what_a_terminal_would_do_is_shown() {
    let texts = [
        ("\u{1b}]0;title\u{7}", "^[]0;title^G"),
        ("\u{1b}[2J\u{1b}[1;1H", "^[[2J^[[1;1H"),
        ("a\u{8}b\u{0}c\u{c}", "a^Hb^@c^L"),
        ("\u{7f}\u{9b}2J", "^?^[2J"),
        ("\u{1b}[38;5;255mx \u{1b}[38;5;2551mx", "\u{1b}[38;5;255mx ^[[38;5;2551mx"),
        ("\u{1b}", "^["),
        ("x\rerror y\r\n\r", "x^Merror y\r\n^M"),
    ];
    for (text, shown) in texts {
        assert_eq!(for_terminal(text), shown, "{text:?}");
    }
}

#[test]
fn a_warning_of_several_lines_is_one() {
    assert_eq!(warning_line("DEPRECATED", "a@1.0.0: no"), "warning DEPRECATED: a@1.0.0: no");
    assert_eq!(warning_line("A", "x\nwarning B: y\n  z"), "warning A: x\n  warning B: y\n    z");
}

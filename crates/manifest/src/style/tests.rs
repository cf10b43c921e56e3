//! Layouts found in texts.

use super::*;

#[test]
fn the_first_line_break_tells_indentation_and_line_end() {
    let cases = [
        ("{\n  \"a\": 1\n}", "  ", "\n"),
        ("{\r\n\t\"a\": 1\r\n}", "\t", "\r\n"),
        ("\u{feff} [\n    1\n]", "    ", "\n"),
        ("{\n\"a\": 1\n}", "", "\n"),
        ("{\n\n  \"a\": 1\n}", "  ", "\n\n"),
        ("{\"a\": 1}", "", ""),
        ("{ \n \"a\": 1}", "", ""),
        ("", "", ""),
        ("{}", "  ", "\n"),
        ("{}\r\n", "  ", "\r\n"),
        ("[]\n", "  ", "\n"),
        ("{} ", "", ""),
    ];
    for (text, indent, newline) in cases {
        let style = TextStyle::detect(text);
        assert_eq!((style.indent.as_str(), style.newline.as_str()), (indent, newline), "{text:?}");
    }
}

use super::{Names, contents, import};

#[test]
fn only_imports_of_scripts_are_taken() {
    assert_eq!(
        import("import { ask, give } from './snippets/gantry-browser-0/src/a.js';"),
        Some((Names::Each("ask, give"), "snippets/gantry-browser-0/src/a.js"))
    );
    assert_eq!(
        import("import * as import1 from \"./snippets/gantry-browser-0/src/a.js\""),
        Some((Names::All("import1"), "snippets/gantry-browser-0/src/a.js"))
    );
    assert_eq!(import("import { ask } from './other/a.js';"), None);
    assert_eq!(import("    import { ask } from './snippets/a.js';"), None);
    assert_eq!(import("        \"./snippets/gantry-browser-0/src/a.js\": import1,"), None);
    assert_eq!(import("const text = `import`;"), None);
}

#[test]
fn a_script_gets_a_scope_of_its_own() {
    let script = "const own = 1;\nexport async function ask() {\n  return own;\n}\nexport function give(a) {}\n";
    let within = "(() => {\nconst own = 1;\nasync function ask() {\n  return own;\n}\nfunction give(a) {}\nreturn";
    let text = |names| contents(names, script, "a.js").expect("a plain script");
    assert_eq!(text(Names::Each("give")), format!("const {{ give }} = {within} {{ give }};\n}})();"));
    assert_eq!(text(Names::All("import1")), format!("const import1 = {within} {{ ask, give }};\n}})();"));
}

#[test]
fn what_could_not_stand_in_a_function_is_refused() {
    let refused = |script| contents(Names::Each("ask"), script, "a.js").expect_err("not a plain script").to_string();
    assert_eq!(refused("export const ask = 1;"), "a.js: only functions can be exported");
    assert_eq!(refused("import { b } from './b.js';"), "a.js: nothing can be imported");
}

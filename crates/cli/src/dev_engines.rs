//! `devEngines` of `package.json`: with which package manager, runtime and machine the project is to be worked on.
//!
//! The rules are those of npm's `npm-install-checks` (`dev-engines.js`), where a package manager is looked at as npm: what is
//! meant for another would be installed another way.

use gantry_engine::Fault;
use gantry_resolver::Target;
use gantry_spec::{Range, Version};
use serde_json::{Map, Value};

const CODE: &str = "DEV_ENGINES";

/// What there is of one engine.
struct Current<'a> {
    name: Option<&'a str>,
    version: Option<&'a str>,
}

/// Compares what the text of a `package.json` demands with a machine, whose operating system is of this release. Gives warnings;
/// with `force` whatever is wrong is one.
pub fn check(
    package_json: &[u8],
    (target, release): (&Target, Option<&str>),
    force: bool,
) -> Result<Vec<(&'static str, String)>, Fault> {
    // Whoever reads the manifest says what is wrong with it.
    let text = package_json.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(package_json);
    let manifest: Value = serde_json::from_slice(text).unwrap_or_default();
    let Some(demanded) = manifest.get("devEngines") else { return Ok(Vec::new()) };
    let Some(engines) = demanded.as_object() else { return Err(malformed("it is no object")) };
    let mut warnings = Vec::new();
    for (engine, wanted) in engines {
        let current = match engine.as_str() {
            "packageManager" => Current { name: Some("npm"), version: Some(&target.npm_version) },
            "runtime" => Current { name: Some("node"), version: Some(&target.node_version) },
            "os" => Current { name: Some(&target.os), version: release },
            "cpu" => Current { name: Some(&target.cpu), version: None },
            "libc" => Current { name: target.libc.as_deref(), version: None },
            other => return Err(malformed(&format!("npm knows no {other}"))),
        };
        let choices = match wanted {
            Value::Array(list) => list.as_slice(),
            one => std::slice::from_ref(one),
        };
        let choices = choices.iter().map(|choice| Choice::of(engine, choice)).collect::<Result<Vec<_>, _>>()?;
        let problems = choices.iter().map(|choice| choice.problem(engine, &current)).collect::<Result<Vec<_>, _>>()?;
        let Some(last) = choices.last() else { continue };
        if problems.iter().any(Option::is_none) {
            continue;
        }
        let problems: Vec<String> = problems.into_iter().flatten().collect();
        let message = format!("devEngines.{engine} in package.json: {}", problems.join("; "));
        match last.on_fail {
            "ignore" => {}
            "warn" => warnings.push((CODE, message)),
            _ if force => warnings.push((CODE, message)),
            _ => {
                let hint = "Use what the project asks for, or --force to go on without.";
                return Err(Fault::new(CODE, message).with_hint(hint));
            }
        }
    }
    Ok(warnings)
}

/// One of the engines that will do.
struct Choice<'a> {
    name: &'a str,
    version: Option<&'a str>,
    on_fail: &'a str,
}

impl<'a> Choice<'a> {
    fn of(engine: &str, value: &'a Value) -> Result<Self, Fault> {
        let Some(members) = value.as_object() else { return Err(malformed(&format!("{engine} is no object"))) };
        if let Some(other) = members.keys().find(|key| !matches!(key.as_str(), "name" | "version" | "onFail")) {
            return Err(malformed(&format!("{engine} has {other}, which npm does not know")));
        }
        let name = text(engine, members, "name")?.ok_or_else(|| malformed(&format!("{engine} has no name")))?;
        let on_fail = text(engine, members, "onFail")?.unwrap_or("error");
        if !matches!(on_fail, "ignore" | "warn" | "error" | "download") {
            return Err(malformed(&format!("{engine} has {on_fail:?} for onFail")));
        }
        Ok(Self { name, version: text(engine, members, "version")?, on_fail })
    }

    /// Why what is there will not do.
    fn problem(&self, engine: &str, current: &Current<'_>) -> Result<Option<String>, Fault> {
        let unknown = |what: &str| malformed(&format!("nobody knows the {what} of this machine's {engine}"));
        let name = current.name.filter(|name| !name.is_empty()).ok_or_else(|| unknown("name"))?;
        if self.name != name {
            return Ok(Some(format!("it asks for {}, this is {name}", self.name)));
        }
        let Some(wanted) = self.version else { return Ok(None) };
        let version = current.version.filter(|version| !version.is_empty()).ok_or_else(|| unknown("version"))?;
        let fits = match (Range::parse(wanted), Version::parse(version)) {
            (Some(range), Some(version)) => range.satisfied_by(&version),
            _ => wanted == version,
        };
        Ok((!fits).then(|| format!("it asks for {name} {wanted}, this is {version}")))
    }
}

fn text<'a>(engine: &str, members: &'a Map<String, Value>, key: &str) -> Result<Option<&'a str>, Fault> {
    match members.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(malformed(&format!("{key} of {engine} is no text"))),
    }
}

fn malformed(what: &str) -> Fault {
    Fault::new(CODE, format!("devEngines in package.json: {what}"))
        .with_hint("npm's documentation of package.json says what may stand there.")
}

#[cfg(test)]
mod tests {
    use super::check;
    use gantry_resolver::Target;

    fn outcome(engines: &str, force: bool) -> Result<Vec<String>, String> {
        let target = Target { node_version: "22.1.0".to_owned(), ..Target::default() };
        let manifest = format!(r#"{{"devEngines":{engines}}}"#);
        let warnings = check(manifest.as_bytes(), (&target, Some("6.1.0")), force).map_err(|fault| fault.message)?;
        Ok(warnings.into_iter().map(|(_, message)| message).collect())
    }

    #[test]
    fn one_of_several_is_enough() {
        let several = r#"{"packageManager":[{"name":"pnpm"},{"name":"npm","version":">=10"}],"runtime":[]}"#;
        assert_eq!(outcome(several, false), Ok(Vec::new()));
        assert_eq!(outcome(r#"{"runtime":{"name":"node","version":"^22.0.0"}}"#, false), Ok(Vec::new()));
        assert_eq!(outcome(r#"{"os":{"name":"linux","version":">=6"}}"#, false), Ok(Vec::new()));
    }

    #[test]
    fn the_last_one_says_what_comes_of_it() {
        let wanted = r#"{"runtime":[{"name":"deno"},{"name":"node","version":"^20","onFail":"ON"}]}"#;
        let told =
            "devEngines.runtime in package.json: it asks for deno, this is node; it asks for node ^20, this is 22.1.0";
        assert_eq!(outcome(&wanted.replace("ON", "warn"), false), Ok(vec![told.to_owned()]));
        assert_eq!(outcome(&wanted.replace("ON", "ignore"), false), Ok(Vec::new()));
        assert_eq!(outcome(&wanted.replace("ON", "download"), false), Err(told.to_owned()));
        assert_eq!(outcome(&wanted.replace("ON", "error"), true), Ok(vec![told.to_owned()]));
    }

    #[test]
    fn what_npm_does_not_understand_is_an_error_whatever_is_forced() {
        for engines in [
            "[]",
            r#"{"browser":{"name":"x"}}"#,
            r#"{"runtime":"node"}"#,
            r#"{"runtime":{"version":"1"}}"#,
            r#"{"runtime":{"name":1}}"#,
            r#"{"runtime":{"name":"node","onFail":"cry"}}"#,
            r#"{"runtime":{"name":"node","engine":"v8"}}"#,
            r#"{"cpu":{"name":"x64","version":"1"}}"#,
        ] {
            assert!(outcome(engines, true).is_err(), "{engines}");
        }
    }
}

//! Settings in files that are none of npm's but nearly: what is spelled wrongly has no effect, and npm's default is easily
//! taken for what was asked for. npm warns of every setting that it does not know, also of those that other tools have in the
//! same file.

use super::table::setting_names;

/// What belongs to an address, without being a setting by itself (`nerfDarts` in `@npmcli/config`).
const OF_AN_ADDRESS: [&str; 7] = ["_auth", "_authToken", "_password", "certfile", "email", "keyfile", "username"];
/// Of older npm, and still heeded.
const OF_OLDER_NPM: [&str; 1] = ["node-version"];

/// The setting that is probably meant by one that has no effect. None where it has one, or is like no other.
pub fn meant(key: &str) -> Option<&'static str> {
    // `//host/:_authToken`, `@scope:registry`
    let (is_of_address, name) = match key.rsplit_once(':') {
        Some((_, name)) => (true, name),
        None => (false, key),
    };
    let own: &[&str] = if is_of_address { &OF_AN_ADDRESS } else { &OF_OLDER_NPM };
    let known = || own.iter().copied().chain(setting_names());
    if known().any(|other| other == name) {
        return None;
    }
    let plain = letters(name);
    let near = |other: &&str| {
        let distance = strsim::damerau_levenshtein(&plain, &letters(other));
        distance == 0 || distance <= (plain.len() / 5).min(2)
    };
    known().filter(near).min_by_key(|other| strsim::damerau_levenshtein(name, other))
}

/// Without what words are joined by.
fn letters(name: &str) -> String {
    name.chars().filter(|letter| !matches!(letter, '-' | '_' | '.')).map(|letter| letter.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::meant;

    #[test]
    fn what_is_spelled_wrongly_is_recognized() {
        for (key, setting) in [
            ("legacy-peer-dep", "legacy-peer-deps"),
            ("legacy_peer_deps", "legacy-peer-deps"),
            ("legacyPeerDeps", "legacy-peer-deps"),
            ("enginestrict", "engine-strict"),
            ("regsitry", "registry"),
            ("no-proxy", "noproxy"),
            ("//host/:_authtoken", "_authToken"),
            ("//host/path/:_autToken", "_authToken"),
            ("//host/:userName", "username"),
            ("@scope:registri", "registry"),
        ] {
            assert_eq!(meant(key), Some(setting), "{key}");
        }
    }

    #[test]
    fn what_has_an_effect_or_is_of_other_tools_is_passed_over() {
        for key in [
            "legacy-peer-deps",
            "node-version",
            "registry",
            "_auth",
            "@scope:registry",
            "//host/:_authToken",
            "//host/:certfile",
            "os",
            "ca",
            "arch",
            "cache-dir",
            "store-dir",
            "state-dir",
            "node-linker",
            "auto-install-peers",
            "hoist",
            "strict-peer-dependencies",
            "always-auth",
            "unsafe-perm",
            "python",
            "target",
            "disturl",
            "user",
            "email",
            "sass_binary_site",
            "electron_mirror",
            "puppeteer_download_host",
            "network-timeout",
            "resolution-mode",
            "",
        ] {
            assert_eq!(meant(key), None, "{key}");
        }
    }
}

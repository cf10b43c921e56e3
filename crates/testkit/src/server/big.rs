//! A packument of any size, made piece by piece while it is sent.
use bytes::Bytes;

/// Repeated to fill a version: there is structure to scan, not one long text.
const MEMBER: &str = r#""a-dependency-of-a-version-that-nobody-wants":"^1.2.3 || >=2.0.0-0 <3","#;
const VERSIONS: &[u8] = b"\"versions\":{";

/// The pieces of a packument with further versions before its own.
#[derive(Debug)]
pub(super) struct BigPackument {
    /// The real one up to its first version, and from there on; empty once sent.
    head: Bytes,
    tail: Bytes,
    /// How many further versions are still to come.
    left: u32,
    /// The dependencies of each of them, with a comma behind each.
    members: String,
}

impl BigPackument {
    /// `real` is a packument that has versions; anything else is sent as it is.
    pub(super) fn new(real: Bytes, bytes: u64, versions: u32) -> Self {
        let start = real.windows(VERSIONS.len()).position(|window| window == VERSIONS);
        let left = if start.is_some() { versions } else { 0 };
        let mut tail = real;
        let head = tail.split_to(start.map_or(0, |start| start + VERSIONS.len()));
        let each = bytes.checked_div(u64::from(left)).unwrap_or(0);
        let members = MEMBER.repeat(usize::try_from(each).unwrap_or(usize::MAX) / MEMBER.len());
        Self { head, tail, left, members }
    }
}

impl Iterator for BigPackument {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        if !self.head.is_empty() {
            return Some(std::mem::take(&mut self.head));
        }
        if self.left > 0 {
            // A prerelease: no range means it unless it names one.
            let (version, members) = (format!("0.0.0-big.{}", self.left), &self.members);
            self.left -= 1;
            return Some(Bytes::from(format!(
                r#""{version}":{{"name":"big","version":"{version}","dependencies":{{{members}"left":"1"}}}},"#
            )));
        }
        let tail = std::mem::take(&mut self.tail);
        (!tail.is_empty()).then_some(tail)
    }
}

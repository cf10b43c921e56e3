//! Named byte strings in one file: how inputs get into the program and into the page.
//!
//! Four bytes with the length of the head (little-endian), the head (JSON, a list of `[name, length]`), the bodies.

use bytes::Bytes;

/// Named byte strings, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bundle {
    /// Name and bytes; the bytes share one allocation.
    pub items: Vec<(String, Bytes)>,
}

/// The bytes are no bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BundleError;

impl std::fmt::Display for BundleError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the bytes are no bundle of inputs")
    }
}

impl std::error::Error for BundleError {}

impl Bundle {
    /// Reads a bundle.
    pub fn parse(bytes: Bytes) -> Result<Self, BundleError> {
        let length = bytes.first_chunk::<4>().map(|length| u32::from_le_bytes(*length) as usize).ok_or(BundleError)?;
        let head = bytes.get(4..4 + length).ok_or(BundleError)?;
        let head: Vec<(String, usize)> = serde_json::from_slice(head).map_err(|_| BundleError)?;
        let mut at = 4 + length;
        let mut items = Vec::with_capacity(head.len());
        for (name, length) in head {
            let end = at.checked_add(length).filter(|end| *end <= bytes.len()).ok_or(BundleError)?;
            items.push((name, bytes.slice(at..end)));
            at = end;
        }
        Ok(Self { items })
    }

    /// Writes a bundle.
    pub fn to_bytes(&self) -> Vec<u8> {
        let head: Vec<(&str, usize)> = self.items.iter().map(|(name, body)| (name.as_str(), body.len())).collect();
        let head = serde_json::to_vec(&head).expect("names and numbers are JSON");
        let mut bytes = u32::try_from(head.len()).expect("a head is small").to_le_bytes().to_vec();
        bytes.extend(head);
        for (_, body) in &self.items {
            bytes.extend_from_slice(body);
        }
        bytes
    }

    /// Bytes of all bodies.
    pub fn size(&self) -> usize {
        self.items.iter().map(|(_, body)| body.len()).sum()
    }

    pub(crate) fn bodies(&self) -> impl Iterator<Item = &Bytes> {
        self.items.iter().map(|(_, body)| body)
    }
}

impl<Name: Into<String>> FromIterator<(Name, Vec<u8>)> for Bundle {
    fn from_iter<Items: IntoIterator<Item = (Name, Vec<u8>)>>(items: Items) -> Self {
        Self { items: items.into_iter().map(|(name, body)| (name.into(), Bytes::from(body))).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_comes_back_as_it_was() {
        let bundle: Bundle =
            [("a", b"one".to_vec()), ("b", Vec::new()), ("@s/c", b"three".to_vec())].into_iter().collect();
        let bytes = bundle.to_bytes();
        assert_eq!(Bundle::parse(Bytes::from(bytes.clone())), Ok(bundle));
        for end in 0..bytes.len() {
            assert_eq!(Bundle::parse(Bytes::copy_from_slice(&bytes[..end])), Err(BundleError), "cut at {end}");
        }
    }
}

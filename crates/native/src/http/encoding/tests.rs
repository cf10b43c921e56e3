use super::{Undecoded, decoded};
use bytes::Bytes;
use flate2::Compression;
use flate2::read::{DeflateEncoder, GzEncoder, ZlibEncoder};
use std::io::Read;

const TEXT: &[u8] = b"what the registry says, and says again, and says again";

fn all(mut encoder: impl Read) -> Bytes {
    let mut bytes = Vec::new();
    encoder.read_to_end(&mut bytes).unwrap();
    bytes.into()
}

/// Decodes; gives whether the headers are those of what comes out.
fn decode(encoding: &str, body: Bytes, maximum: u64) -> Result<(Bytes, bool), Undecoded> {
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let mut headers = vec![header("content-encoding", encoding), header("content-length", "7"), header("etag", "x")];
    let body = decoded(body, &mut headers, maximum)?;
    Ok((body, headers == [header("etag", "x")]))
}

#[test]
fn what_caches_may_send_is_read() {
    let whole = Ok((Bytes::from_static(TEXT), true));
    let best = Compression::best();
    assert_eq!(decode("gzip", all(GzEncoder::new(TEXT, best)), 1000), whole);
    assert_eq!(decode("X-GZIP ", all(GzEncoder::new(TEXT, best)), 1000), whole);
    assert_eq!(decode("deflate", all(ZlibEncoder::new(TEXT, best)), 1000), whole);
    assert_eq!(decode("deflate", all(DeflateEncoder::new(TEXT, best)), 1000), whole);
    assert_eq!(decode("identity", Bytes::from_static(TEXT), 1), Ok((Bytes::from_static(TEXT), false)));
    assert_eq!(decode("br", Bytes::new(), 1), Ok((Bytes::new(), false)));
}

#[test]
fn what_cannot_be_read_is_said() {
    let best = Compression::best();
    let reason = |encoding: &str, body: Bytes| match decode(encoding, body, 1000) {
        Err(Undecoded::Because(reason)) => reason,
        other => panic!("{other:?}"),
    };
    assert!(reason("br", Bytes::from_static(TEXT)).contains("encoded as br"));
    assert!(reason("gzip, br", Bytes::from_static(TEXT)).contains("gzip, br"));
    assert!(reason("gzip", Bytes::from_static(TEXT)).contains("gzip"));
    let zlib = all(ZlibEncoder::new(TEXT, best));
    assert!(reason("deflate", zlib.slice(..zlib.len() - 3)).contains("damaged"));
    for (encoding, body) in [("gzip", all(GzEncoder::new(TEXT, best))), ("deflate", zlib)] {
        assert_eq!(decode(encoding, body, 20), Err(Undecoded::TooLarge));
    }
}

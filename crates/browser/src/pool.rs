//! The pool of unpack workers as the coordinator calls it, and what travels to and from them.

use crate::error::failed;
use crate::javascript::{from_object, settle, to_object};
use gantry_archive::Integrity;
use gantry_engine::{Fault, IngestJob};
use gantry_platform::{Ending, Span, Work};
use gantry_registry::{RequestLog, RetryPolicy, TarballRequest};
use gantry_store::{PackAssignment, SegmentPlace};
use js_sys::{Promise, Uint8Array};
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// What TypeScript implements over the workers.
    #[derive(Debug, Clone)]
    pub type PoolPort;

    #[wasm_bindgen(method, getter)]
    fn size(this: &PoolPort) -> u32;
    #[wasm_bindgen(method, catch)]
    fn open(this: &PoolPort, store: &str, packs: Vec<String>) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, catch)]
    fn unpack(this: &PoolPort, job: JsValue) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, catch)]
    fn read(this: &PoolPort, worker: u32, offset: f64, length: f64) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, catch)]
    fn flush(this: &PoolPort) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, catch)]
    fn close(this: &PoolPort) -> Result<Promise, JsValue>;
}

impl PoolPort {
    pub(crate) fn workers(&self) -> usize {
        self.size() as usize
    }

    pub(crate) async fn open_packs(&self, store: &str, packs: &[PackAssignment]) -> Result<(), Fault> {
        let tokens = packs.iter().map(|pack| PackToken::from(pack).encode()).collect();
        settle(self.open(store, tokens).map_err(|value| failed(&value))?).await.map(drop)
    }

    pub(crate) async fn run(&self, job: &UnpackJob) -> Result<UnpackReport, Fault> {
        let promise = self.unpack(to_object(job)?).map_err(|value| failed(&value))?;
        from_object(settle(promise).await?, "an unpack worker's result")
    }

    /// Part of the pack that worker number `worker` has open; nothing if it has let go of it.
    pub(crate) async fn read_pack(&self, worker: u32, offset: u64, length: u64) -> Result<Option<Vec<u8>>, Fault> {
        #[expect(clippy::cast_precision_loss, reason = "a pack is far below 2^53 bytes")]
        let promise = self.read(worker, offset as f64, length as f64).map_err(|value| failed(&value))?;
        let answer = settle(promise).await?;
        Ok(answer.dyn_into::<Uint8Array>().ok().map(|bytes| bytes.to_vec()))
    }

    pub(crate) async fn flush_packs(&self) -> Result<(), Fault> {
        settle(self.flush().map_err(|value| failed(&value))?).await.map(drop)
    }

    pub(crate) async fn close_packs(&self) -> Result<(), Fault> {
        settle(self.close().map_err(|value| failed(&value))?).await.map(drop)
    }
}

/// Which pack a worker appends to; travels as an opaque string.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PackToken {
    pub pack: u32,
    pub name: String,
    pub start: u64,
}

impl From<&PackAssignment> for PackToken {
    fn from(assignment: &PackAssignment) -> Self {
        Self { pack: assignment.pack, name: assignment.name.clone(), start: assignment.start }
    }
}

impl PackToken {
    fn encode(&self) -> String {
        serde_json::to_string(self).expect("numbers and a name are always JSON")
    }

    pub fn decode(text: &str) -> Result<Self, Fault> {
        serde_json::from_str(text).map_err(|error| Fault::new("INVALID_OPTION", format!("pack: {error}")))
    }
}

/// One tarball to fetch, verify and unpack.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct UnpackJob {
    package: String,
    url: String,
    authorization: Option<String>,
    integrity: Option<String>,
    /// Unpacked size in bytes as the registry states it; the pool starts with the big ones.
    size: f64,
    max_bytes: f64,
    retries: u32,
    factor: f64,
    min_wait: f64,
    max_wait: f64,
    timeout: f64,
    offline: bool,
    /// Whether the result is to say how long each step took.
    pub timed: bool,
    /// The tarball itself, where the page has it.
    body: Option<FileBytes>,
}

/// Bytes that are a `Uint8Array` on the JavaScript side.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FileBytes(#[serde(with = "byte_array")] pub Vec<u8>);

#[expect(clippy::cast_precision_loss, reason = "sizes and times are far below 2^53")]
impl UnpackJob {
    pub fn new(job: &IngestJob, timed: bool) -> Self {
        let IngestJob { tarball, size_hint, .. } = job;
        Self {
            package: tarball.package.clone(),
            url: tarball.url.clone(),
            authorization: tarball.authorization.clone(),
            integrity: tarball.integrity.as_ref().map(ToString::to_string),
            size: *size_hint as f64,
            max_bytes: tarball.max_bytes as f64,
            retries: tarball.retry.retries,
            factor: tarball.retry.factor,
            min_wait: tarball.retry.min_wait_milliseconds,
            max_wait: tarball.retry.max_wait_milliseconds,
            timeout: tarball.retry.timeout_milliseconds as f64,
            offline: tarball.offline,
            timed,
            body: tarball.body.as_ref().map(|body| FileBytes(body.to_vec())),
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "made from whole numbers by the above")]
impl TryFrom<UnpackJob> for TarballRequest {
    type Error = Fault;

    fn try_from(job: UnpackJob) -> Result<Self, Fault> {
        let integrity = job
            .integrity
            .as_deref()
            .map(Integrity::parse)
            .transpose()
            .map_err(|error| Fault::from(&error).with_package(&job.package))?;
        Ok(Self {
            package: job.package,
            url: job.url,
            authorization: job.authorization,
            integrity,
            max_bytes: job.max_bytes as u64,
            retry: RetryPolicy {
                retries: job.retries,
                factor: job.factor,
                min_wait_milliseconds: job.min_wait,
                max_wait_milliseconds: job.max_wait,
                timeout_milliseconds: job.timeout as u64,
            },
            offline: job.offline,
            body: job.body.map(|FileBytes(bytes)| bytes.into()),
            log: RequestLog::default(),
        })
    }
}

/// What a worker made of a job. 64-bit numbers travel as text: JavaScript's are exact only up to 2^53.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct UnpackResult {
    pack: u32,
    offset: String,
    length: String,
    checksum: String,
    /// The package's index, encoded.
    #[serde(with = "byte_array")]
    pub index: Vec<u8>,
    pub bytes: f64,
    pub requests: u32,
}

/// How a job ended, with what was done for it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct UnpackReport {
    pub unpacked: Option<UnpackResult>,
    pub failure: Option<UnpackFailure>,
    /// Spans, if they were asked for: place of its kind in [`Work::ALL`], began, answered, ended, status, bytes, place of
    /// its ending in [`Ending::ALL`].
    spans: Vec<[f64; 7]>,
}

/// A fault as it travels.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct UnpackFailure {
    code: String,
    message: String,
    hint: Option<String>,
    package: Option<String>,
}

impl UnpackReport {
    /// `spans` are none where nobody wants to know.
    #[expect(clippy::cast_precision_loss, reason = "small numbers, and the size of a package")]
    pub fn new(result: Result<UnpackResult, Fault>, spans: &[Span]) -> Self {
        let numbers = |span: &Span| {
            let kind = Work::ALL.iter().position(|work| *work == span.work).unwrap_or_default() as f64;
            let ending = Ending::ALL.iter().position(|ending| *ending == span.ending).unwrap_or_default() as f64;
            let Span { began, answered, ended, .. } = *span;
            [kind, began, answered, ended, f64::from(span.status), span.bytes as f64, ending]
        };
        let (unpacked, failure) = match result {
            Ok(unpacked) => (Some(unpacked), None),
            Err(Fault { code, message, hint, package }) => {
                (None, Some(UnpackFailure { code: code.into_owned(), message, hint, package }))
            }
        };
        Self { unpacked, failure, spans: spans.iter().map(numbers).collect() }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "made from whole numbers by the above")]
    pub fn spans(&self) -> Vec<Span> {
        let span = |&[kind, began, answered, ended, status, bytes, ending]: &[f64; 7]| {
            let (work, ending) = (*Work::ALL.get(kind as usize)?, *Ending::ALL.get(ending as usize)?);
            Some(Span { work, began, answered, ended, status: status as u16, bytes: bytes as u64, ending })
        };
        self.spans.iter().filter_map(span).collect()
    }

    /// What the job was for.
    pub fn into_result(self) -> Result<UnpackResult, Fault> {
        match (self.unpacked, self.failure) {
            (Some(unpacked), _) => Ok(unpacked),
            (None, Some(UnpackFailure { code, message, hint, package })) => {
                Err(Fault { code: code.into(), message, hint, package })
            }
            (None, None) => Err(Fault::new("WORKER_LOST", "an unpack worker answered with nothing")),
        }
    }
}

impl UnpackResult {
    #[expect(clippy::cast_precision_loss, reason = "a tarball is far below 2^53 bytes")]
    pub fn new(place: &SegmentPlace, index: Vec<u8>, bytes: u64, requests: u32) -> Self {
        Self {
            pack: place.pack,
            offset: place.offset.to_string(),
            length: place.length.to_string(),
            checksum: place.checksum.to_string(),
            index,
            bytes: bytes as f64,
            requests,
        }
    }

    pub fn place(&self) -> Result<SegmentPlace, Fault> {
        let number = |text: &str| {
            text.parse::<u64>().map_err(|_| Fault::new("WORKER_LOST", "an unpack worker answered with nonsense"))
        };
        Ok(SegmentPlace {
            pack: self.pack,
            offset: number(&self.offset)?,
            length: number(&self.length)?,
            checksum: number(&self.checksum)?,
        })
    }
}

/// A `Uint8Array` on the JavaScript side instead of an array of numbers.
mod byte_array {
    use serde::de::{Error, Visitor};
    use serde::{Deserializer, Serializer};
    use std::fmt;

    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytes)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Vec<u8>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("bytes")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
                Ok(bytes.to_vec())
            }

            fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
                Ok(bytes)
            }
        }
        deserializer.deserialize_byte_buf(Bytes)
    }
}

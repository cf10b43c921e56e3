//! The pool of unpack workers as the coordinator calls it, and what travels to and from them.

use crate::error::{failed, file_fault};
use crate::javascript::settle;
use crate::opfs::{OpfsDirectory, OpfsFile};
use gantry_archive::Integrity;
use gantry_engine::{Fault, IngestJob};
use gantry_platform::{Ending, Span, Work};
use gantry_registry::{RegistryError, Repeatable, RequestLog, RetryPolicy, TarballRequest};
use gantry_store::{PackAssignment, PackWriter, SegmentPlace};
use js_sys::{Array, Promise, Uint8Array};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::rc::Rc;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// What TypeScript implements over the workers.
    #[derive(Debug, Clone)]
    pub type PoolPort;

    #[wasm_bindgen(method, getter)]
    fn size(this: &PoolPort) -> u32;
    #[wasm_bindgen(method, catch)]
    fn open(this: &PoolPort, packs: Vec<String>) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, catch)]
    fn unpack(this: &PoolPort, job: &str, size: f64, body: Option<Uint8Array>) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, catch)]
    fn read(this: &PoolPort, worker: u32, pack: u32, offset: f64, length: f64) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, catch)]
    fn flush(this: &PoolPort) -> Result<Promise, JsValue>;
    #[wasm_bindgen(method, catch)]
    fn close(this: &PoolPort) -> Result<Promise, JsValue>;
}

impl PoolPort {
    pub(crate) fn workers(&self) -> usize {
        self.size() as usize
    }

    pub(crate) async fn open_packs(&self, packs: &[WorkerPacks]) -> Result<(), Fault> {
        let tokens = packs.iter().map(WorkerPacks::encode).collect();
        settle(self.open(tokens).map_err(|value| failed(&value))?).await.map(drop)
    }

    /// Has a job done by whichever worker is free; those that are known to be big begin first.
    #[expect(clippy::cast_precision_loss, reason = "the size of a package")]
    pub(crate) async fn run(&self, job: &IngestJob, timed: bool) -> Result<UnpackReport, Fault> {
        let body = job.tarball.body.as_deref().map(Uint8Array::from);
        let promise = self.unpack(&UnpackJob::new(job, timed).encode(), job.size_hint as f64, body);
        UnpackReport::received(settle(promise.map_err(|value| failed(&value))?).await?)
    }

    /// Part of a pack that worker number `worker` has; nothing if it has let go of it.
    pub(crate) async fn read_pack(
        &self,
        worker: u32,
        pack: u32,
        offset: u64,
        length: u64,
    ) -> Result<Option<Vec<u8>>, Fault> {
        #[expect(clippy::cast_precision_loss, reason = "a pack is far below 2^53 bytes")]
        let promise = self.read(worker, pack, offset as f64, length as f64).map_err(|value| failed(&value))?;
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

/// The packs that a worker appends to; they travel as an opaque string.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WorkerPacks {
    pub pack: PackToken,
    /// For large packages while they come; nobody has to have made it.
    pub arrivals: PackToken,
    /// Whether what is not recorded of both is to go at once.
    pub cut: bool,
}

impl WorkerPacks {
    fn encode(&self) -> String {
        serde_json::to_string(self).expect("numbers and names are always JSON")
    }

    pub fn decode(text: &str) -> Result<Self, Fault> {
        serde_json::from_str(text).map_err(|error| Fault::new("INVALID_OPTION", format!("packs: {error}")))
    }
}

/// A pack to append to.
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
    /// Opens the pack: cuts off what was never recorded in it, or, for the `successor` of a worker that was lost, goes on behind
    /// what that one wrote.
    pub async fn open(&self, directory: &OpfsDirectory, successor: bool) -> Result<PackWriter<Rc<OpfsFile>>, Fault> {
        let file = directory.open_for_appending(&self.name).await.map_err(|error| file_fault(&error))?;
        let open = if successor { PackWriter::resume } else { PackWriter::open };
        open(Rc::new(file), self.pack, self.start).map_err(|error| Fault::from(&error))
    }
}

/// One tarball to fetch, verify and unpack. It travels as text, and the tarball, where the page has it, beside it: hundreds
/// go to and fro, and an object would be made and taken apart field by field.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct UnpackJob {
    package: String,
    url: String,
    authorization: Option<String>,
    integrity: Option<String>,
    max_bytes: u64,
    timeout: u64,
    offline: bool,
    /// Whether the result is to say how long each step took.
    pub timed: bool,
}

impl UnpackJob {
    fn new(job: &IngestJob, timed: bool) -> Self {
        let IngestJob { tarball, .. } = job;
        Self {
            package: tarball.package.clone(),
            url: tarball.url.clone(),
            authorization: tarball.authorization.clone(),
            integrity: tarball.integrity.as_ref().map(ToString::to_string),
            max_bytes: tarball.max_bytes,
            timeout: tarball.retry.timeout_milliseconds,
            offline: tarball.offline,
            timed,
        }
    }

    fn encode(&self) -> String {
        serde_json::to_string(self).expect("numbers and texts are always JSON")
    }

    pub fn decode(text: &str) -> Result<Self, Fault> {
        serde_json::from_str(text).map_err(|error| Fault::new("INVALID_OPTION", format!("an unpack job: {error}")))
    }

    /// What to ask for. `body` is the tarball, where it is there already.
    pub fn into_request(self, body: Option<Vec<u8>>) -> Result<TarballRequest, Fault> {
        let integrity = self.integrity.as_deref().map(Integrity::parse).transpose();
        let integrity = integrity.map_err(|error| Fault::from(&error).with_package(&self.package))?;
        Ok(TarballRequest {
            package: self.package,
            url: self.url,
            authorization: self.authorization,
            certificate: None,
            integrity,
            max_bytes: self.max_bytes,
            // A job that waits to be done again is in no worker, where it would take the place of another.
            retry: RetryPolicy { retries: 0, timeout_milliseconds: self.timeout, ..RetryPolicy::default() },
            offline: self.offline,
            body: body.map(Into::into),
            log: RequestLog::default(),
        })
    }
}

/// What a worker made of a job.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct UnpackResult {
    pack: u32,
    offset: u64,
    length: u64,
    checksum: u64,
    /// The package's index, encoded; it travels beside the text.
    #[serde(skip)]
    pub index: Vec<u8>,
    pub bytes: u64,
    pub requests: u32,
}

/// How a job ended, with what was done for it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct UnpackReport {
    result: Result<UnpackResult, UnpackFailure>,
    /// Spans, if they were asked for: place of its kind in [`Work::ALL`], began, answered, ended, status, bytes, place of
    /// its ending in [`Ending::ALL`].
    spans: Vec<(usize, f64, f64, f64, u16, u64, usize)>,
}

/// A fault as it travels.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct UnpackFailure {
    code: String,
    message: String,
    hint: Option<String>,
    package: Option<String>,
    repeat_after: Option<f64>,
}

/// Why a job failed.
#[derive(Debug)]
pub(crate) struct JobFailure {
    fault: Fault,
    /// How many milliseconds the registry asked to be left alone, 0 where it did not; `None` where asking again is of no use.
    repeat_after: Option<f64>,
}

impl From<Fault> for JobFailure {
    fn from(fault: Fault) -> Self {
        Self { fault, repeat_after: None }
    }
}

impl From<RegistryError> for JobFailure {
    fn from(error: RegistryError) -> Self {
        let repeat_after = error.repeatable().map(|repeatable| repeatable.after_milliseconds.unwrap_or(0.0));
        Self { fault: error.into(), repeat_after }
    }
}

impl UnpackReport {
    /// `spans` are none where nobody wants to know.
    pub fn new(result: Result<UnpackResult, JobFailure>, spans: &[Span]) -> Self {
        let numbers = |span: &Span| {
            let kind = Work::ALL.iter().position(|work| *work == span.work).unwrap_or_default();
            let ending = Ending::ALL.iter().position(|ending| *ending == span.ending).unwrap_or_default();
            let Span { began, answered, ended, status, bytes, .. } = *span;
            (kind, began, answered, ended, status, bytes, ending)
        };
        let failure = |JobFailure { fault: Fault { code, message, hint, package }, repeat_after }| {
            let code = Cow::into_owned(code);
            UnpackFailure { code, message, hint, package, repeat_after }
        };
        Self { result: result.map_err(failure), spans: spans.iter().map(numbers).collect() }
    }

    /// As it goes to the coordinator: a text, and the index.
    pub fn posted(&self) -> JsValue {
        let text = serde_json::to_string(self).expect("numbers and texts are always JSON");
        let index = self.result.as_ref().map_or(&[][..], |result| &result.index);
        Array::of2(&JsValue::from_str(&text), &Uint8Array::from(index)).into()
    }

    fn received(posted: JsValue) -> Result<Self, Fault> {
        let nonsense = || Fault::new("WORKER_LOST", "an unpack worker answered with nonsense");
        let parts: Array = posted.dyn_into().map_err(|_| nonsense())?;
        let text = parts.get(0).as_string().ok_or_else(nonsense)?;
        let mut report: Self = serde_json::from_str(&text).map_err(|_| nonsense())?;
        if let Ok(result) = &mut report.result {
            result.index = parts.get(1).dyn_into::<Uint8Array>().map_err(|_| nonsense())?.to_vec();
        }
        Ok(report)
    }

    pub fn spans(&self) -> Vec<Span> {
        let span = |&(kind, began, answered, ended, status, bytes, ending): &_| {
            let (work, ending) = (*Work::ALL.get::<usize>(kind)?, *Ending::ALL.get::<usize>(ending)?);
            Some(Span { answered, status, ending, ..Span::of(work, began, ended, bytes) })
        };
        self.spans.iter().filter_map(span).collect()
    }

    /// How to do the job again, where it failed and that may help.
    pub fn repeatable(&self) -> Option<Repeatable> {
        let after_milliseconds = self.result.as_ref().err()?.repeat_after?;
        Some(Repeatable { after_milliseconds: Some(after_milliseconds) })
    }

    /// What the job was for.
    pub fn into_result(self) -> Result<UnpackResult, Fault> {
        self.result.map_err(|UnpackFailure { code, message, hint, package, .. }| Fault {
            code: code.into(),
            message,
            hint,
            package,
        })
    }
}

impl UnpackResult {
    pub fn new(place: &SegmentPlace, index: Vec<u8>, bytes: u64, requests: u32) -> Self {
        let SegmentPlace { pack, offset, length, checksum } = *place;
        Self { pack, offset, length, checksum, index, bytes, requests }
    }

    pub fn place(&self) -> SegmentPlace {
        let Self { pack, offset, length, checksum, .. } = *self;
        SegmentPlace { pack, offset, length, checksum }
    }
}

//! Packs on loan: each worker of the pool appends to one from when an install has the first package to unpack until it ends.
//! An install that finds everything stored starts no worker and waits for none.

use super::{BrowserStore, cleared, closed};
use crate::error::{failed, file_fault, to_javascript};
use crate::javascript::settle;
use crate::pool::WorkerPacks;
use futures_util::future::{join, join_all};
use gantry_engine::{Fault, PackageStore};
use gantry_platform::FileErrorKind;
use gantry_store::{PackAssignment, PackStore, pack_name};
use js_sys::Promise;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::future_to_promise;

/// Bytes behind what is recorded of a pack for which each worker's second pack is opened before it is needed.
const LONG: u64 = 1 << 20;

impl BrowserStore {
    /// Looks at the packs, for an install that begins. It brings what those lack that end before what is recorded of them: they
    /// are retired. Those that end long after it have what a page that was closed in the midst has left: they are to be cut.
    pub async fn look_at_packs(&self) -> Result<(), Fault> {
        let ends = self.with_packs(PackStore::pack_ends)?;
        let length = async |pack: u32| self.directory.length(&pack_name(pack)).await;
        let lengths = join_all(ends.iter().map(|(pack, _)| length(*pack))).await;
        let mut packs = self.packs.borrow_mut();
        let packs = packs.as_mut().ok_or_else(closed)?;
        for ((pack, end), length) in ends.into_iter().zip(lengths) {
            // Why one cannot be looked at is for those to say who need it.
            let Ok(length) = length else { continue };
            packs.retire_if_short(pack, length).map_err(|error| Fault::from(&error))?;
            if length > end + LONG {
                self.has_remains.set(true);
            }
        }
        Ok(())
    }

    /// Begins to hand over packs, for an install that is going to need them.
    pub fn begin_lending(&self) -> Promise {
        let begin = || {
            let store = self.this.upgrade().expect("whoever asks has it");
            // To its end also when the install is given up meanwhile: what a worker opens has to be taken back from it.
            future_to_promise(async move {
                let lent = store.lend_packs(store.has_remains.take()).await;
                Ok(lent.err().map_or(JsValue::UNDEFINED, |fault| to_javascript(&fault)))
            })
        };
        self.lending.borrow_mut().get_or_insert_with(begin).clone()
    }

    /// Resolves when the workers can append.
    pub(super) async fn packs_are_lent(&self) -> Result<(), Fault> {
        if !self.lent.borrow().is_empty() {
            return Ok(());
        }
        let fault = settle(self.begin_lending()).await?;
        if fault.is_undefined() { Ok(()) } else { Err(failed(&fault)) }
    }

    /// Whether packs have been handed over, or are being, in this install.
    pub fn is_lending(&self) -> bool {
        self.lending.borrow().is_some()
    }

    /// Hands two packs to each worker of the pool. One that its worker finds damaged is left alone from now on. `cut`: what is
    /// not recorded of both is to go at once.
    async fn lend_packs(&self, cut: bool) -> Result<(), Fault> {
        loop {
            let workers = self.pool.workers();
            // Those for small packages first, so that they are the same ones again when there are no large ones.
            let packs = self.with_packs(|packs| packs.packs_for_writers(workers * 2))?;
            let lent = packs.iter().zip(&packs[workers..]);
            let lent: Vec<_> = lent
                .map(|(pack, arrivals)| WorkerPacks { pack: pack.into(), arrivals: arrivals.into(), cut })
                .collect();
            // After a read that is opening its pack, so that this one is let go of too.
            let _guard = self.opening.lock().await;
            self.readers.borrow_mut().clear();
            // Side by side: whoever waits for both begins with a lock or a manifest meanwhile, and hears of nothing until then.
            let (opened, is_there) = join(self.pool.open_packs(&lent), self.is_there()).await;
            // What is written into files that the browser has removed is nowhere.
            let opened = is_there.and_then(|is_there| if is_there { opened } else { Err(cleared()) });
            let Err(fault) = opened else {
                *self.lent.borrow_mut() = lent.iter().map(|packs| [packs.pack.pack, packs.arrivals.pack]).collect();
                return Ok(());
            };
            // Some workers may have theirs. They give them back before anybody reads again: a read would open a pack here that is
            // not back yet.
            let returned = self.pool.close_packs().await;
            if !matches!(&*fault.code, "STORE_CORRUPT" | "STORE_FORMAT") {
                return Err(fault);
            }
            returned?;
            if !self.retire_damaged(&packs).await? {
                return Err(fault);
            }
        }
    }

    /// Whether any of them was damaged.
    async fn retire_damaged(&self, packs: &[PackAssignment]) -> Result<bool, Fault> {
        let mut found = false;
        for PackAssignment { pack, name, .. } in packs {
            let file = match self.directory.open_for_reading(name).await {
                Ok(file) => file,
                // A new one, which nobody has made yet.
                Err(error) if error.kind == FileErrorKind::NotFound => continue,
                Err(error) => return Err(file_fault(&error)),
            };
            let mut store = self.packs.borrow_mut();
            let store = store.as_mut().ok_or_else(closed)?;
            found |= store.retire_if_damaged(*pack, &file).map_err(|error| Fault::from(&error))?;
        }
        Ok(found)
    }

    /// Makes everything durable and takes the packs back, if any are lent.
    pub async fn collect_packs(&self) -> Result<(), Fault> {
        if !self.is_lending() {
            return Ok(());
        }
        let committed = self.commit().await;
        self.pending.borrow_mut().clear();
        committed.and(self.take_back().await)
    }

    /// Takes the packs back and cuts off what is not recorded: there is no room for it.
    pub async fn discard_packs(&self) -> Result<(), Fault> {
        self.pending.borrow_mut().clear();
        self.uncommitted.set(0);
        self.take_back().await?;
        self.cut_packs().await
    }

    /// Cuts off what is not recorded of packs that nobody has.
    pub(super) async fn cut_packs(&self) -> Result<(), Fault> {
        // Whoever opens a pack cuts it.
        self.lend_packs(true).await?;
        self.take_back().await
    }

    async fn take_back(&self) -> Result<(), Fault> {
        if let Some(lending) = self.lending.take() {
            settle(lending).await?;
        }
        let _guard = self.opening.lock().await;
        let closed = self.pool.close_packs().await;
        self.lent.borrow_mut().clear();
        closed
    }
}

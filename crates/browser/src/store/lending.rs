//! Packs on loan: each worker of the pool appends to one while an install runs.

use super::{BrowserStore, closed, file_fault};
use gantry_engine::{Fault, PackageStore};
use gantry_platform::FileErrorKind;
use gantry_store::PackAssignment;

impl BrowserStore {
    /// Hands a pack to each worker of the pool. One that its worker finds damaged is left alone from now on.
    pub async fn lend_packs(&self) -> Result<(), Fault> {
        loop {
            let packs = self.writable_packs()?;
            // After a read that is opening its pack, so that this one is let go of too.
            let _guard = self.opening.lock().await;
            self.readers.borrow_mut().clear();
            let Err(fault) = self.pool.open_packs(&self.name, &packs).await else {
                *self.lent.borrow_mut() = packs.iter().map(|pack| pack.pack).collect();
                return Ok(());
            };
            if !matches!(&*fault.code, "STORE_CORRUPT" | "STORE_FORMAT") {
                return Err(fault);
            }
            self.pool.close_packs().await?;
            if !self.retire_damaged(&packs).await? {
                return Err(fault);
            }
        }
    }

    fn writable_packs(&self) -> Result<Vec<PackAssignment>, Fault> {
        self.with_packs(|packs| packs.packs_for_writers(self.pool.workers()))
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

    /// Makes everything durable and takes the packs back.
    pub async fn collect_packs(&self) -> Result<(), Fault> {
        let committed = self.commit().await;
        self.pending.borrow_mut().clear();
        committed.and(self.take_back().await)
    }

    /// Takes the packs back and cuts off what is not recorded: there is no room for it.
    pub async fn discard_packs(&self) -> Result<(), Fault> {
        self.pending.borrow_mut().clear();
        self.uncommitted.set(0);
        self.take_back().await?;
        // Whoever opens a pack cuts it.
        self.lend_packs().await?;
        self.take_back().await
    }

    async fn take_back(&self) -> Result<(), Fault> {
        let _guard = self.opening.lock().await;
        let closed = self.pool.close_packs().await;
        self.lent.borrow_mut().clear();
        closed
    }
}

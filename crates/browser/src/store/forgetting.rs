//! Taking back what was recorded: the packages of an install for which there was no room, and the journal's past.

use super::{BrowserStore, closed};
use gantry_engine::Fault;
use gantry_store::PackStore;

impl BrowserStore {
    /// Notes where an install begins.
    pub fn begin_install(&self) -> Result<(), Fault> {
        *self.added.borrow_mut() = (self.with_packs(PackStore::mark)?, Default::default());
        Ok(())
    }

    /// Forgets what the install has recorded, and cuts it off: no project has it, and it takes the room of what would fit. No
    /// pack may be lent.
    pub async fn forget_added(&self) -> Result<(), Fault> {
        let (mark, added) = self.added.take();
        if added.is_empty() {
            return Ok(());
        }
        {
            let _guard = self.opening.lock().await;
            self.readers.borrow_mut().clear();
            self.checked.borrow_mut().retain(|key, _| !added.contains(key));
            let mut packs = self.packs.borrow_mut().take().ok_or_else(closed)?;
            let forgotten = packs.forget_packages(&added, &mark).await;
            *self.packs.borrow_mut() = Some(packs);
            forgotten.map_err(|error| Fault::from(&error))?;
        }
        self.cut_packs().await
    }

    /// Whether writing the journal anew is worth it.
    pub fn has_long_past(&self) -> bool {
        self.packs.borrow().as_ref().is_some_and(PackStore::has_long_past)
    }

    /// Writes the journal anew, without its past. Must not run beside an install, nor beside a read.
    pub async fn forget_past(&self) -> Result<(), Fault> {
        let _guard = self.opening.lock().await;
        let mut packs = self.packs.borrow_mut().take().ok_or_else(closed)?;
        let forgotten = packs.forget_past().await;
        *self.packs.borrow_mut() = Some(packs);
        forgotten.map_err(|error| Fault::from(&error))
    }
}

// For pages that remove files of a store.

/** A worker that was just closed may still be letting go of the file. */
export async function removeFrom(folder, name) {
  const patience = performance.now() + 5000;
  for (;;) {
    try {
      return await folder.removeEntry(name);
    } catch (error) {
      if (performance.now() > patience) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

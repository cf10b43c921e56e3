/**
 * Opening files that a worker held until a moment ago. The browser releases the Web Lock of a worker that ended before
 * its access handles, and no event tells when those are free: try again, for about three seconds.
 */
const FIRST_PAUSE_MILLISECONDS = 25;
const LAST_PAUSE_MILLISECONDS = 1600;

export async function whileHeld<T>(open: () => Promise<T>): Promise<T> {
  for (let pause = FIRST_PAUSE_MILLISECONDS; ; pause *= 2) {
    try {
      return await open();
    } catch (error) {
      const held = error instanceof Error && 'code' in error && error.code === 'STORE_LOCKED';
      if (!held || pause > LAST_PAUSE_MILLISECONDS) throw error;
      await new Promise((resume) => setTimeout(resume, pause));
    }
  }
}

/** A file of the installed tree as text that an editor can show without trouble. */
import type { Project } from 'gantry';
import { formatBytes } from '../format.js';

/** More than this is shown in part: an editor lays out long lines and large documents slowly. */
const SHOWN_BYTES = 512 * 1024;

export interface ViewedFile {
  text: string;
  /** What the reader should know: the size, and whether all of it is shown. */
  note: string;
}

export async function readForViewing(project: Project, path: string): Promise<ViewedFile> {
  try {
    const bytes = await project.fs.readFile(path);
    const size = formatBytes(bytes.length);
    if (bytes.subarray(0, 8192).includes(0)) return { text: '', note: `${size}, not a text` };
    const text = new TextDecoder().decode(bytes.subarray(0, SHOWN_BYTES));
    return { text, note: bytes.length > SHOWN_BYTES ? `the first ${formatBytes(SHOWN_BYTES)} of ${size}` : size };
  } catch (error) {
    return { text: '', note: error instanceof Error ? error.message : String(error) };
  }
}

/** What has been opened: a file, or a directory, which Node opens as well, and which can then only be asked what it is. */
import { fileSystemError } from './file-errors.js';
import type { FileLocation, FileStatData } from './protocol.js';

export type Opened = FileLocation | FileStatData;

/** What `stat` tells of it. */
export function statusOf(opened: Opened): FileStatData {
  return 'kind' in opened ? opened : { kind: 'file', size: opened.size, mode: opened.mode };
}

/** The file, to read up to `length` bytes of it from `position` on; `size` is how many there are. */
export function partOf(opened: Opened, position: number, length: number): { file?: FileLocation; size: number } {
  if (!('kind' in opened)) return { file: opened, size: Math.min(length, Math.max(0, opened.size - position)) };
  // Of nothing there is nothing to refuse.
  if (length === 0) return { size: 0 };
  throw fileSystemError('EISDIR', 'read');
}

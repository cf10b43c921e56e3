/** What `stat` and `readdir` tell of a path, in the shape of Node's `Stats` and `Dirent`. */
import type { DirectoryEntryData, EntryKind, FileStatData } from './protocol.js';

/** What npm gives every file of a package: a tree says nothing of when it was installed. */
const MODIFIED = Date.UTC(1985, 9, 26, 8, 15);

/** The modes of `access`, with Node's values. */
export const constants = Object.freeze({ F_OK: 0, X_OK: 1, W_OK: 2, R_OK: 4 });

class Kinded {
  readonly kind: EntryKind;

  constructor(kind: EntryKind) {
    this.kind = kind;
  }

  isFile(): boolean {
    return this.kind === 'file';
  }

  isDirectory(): boolean {
    return this.kind === 'directory';
  }

  isSymbolicLink(): boolean {
    return this.kind === 'symlink';
  }

  /** A tree has no devices, pipes or sockets; callers that ask get an answer. */
  isBlockDevice(): boolean {
    return false;
  }

  isCharacterDevice(): boolean {
    return false;
  }

  isFIFO(): boolean {
    return false;
  }

  isSocket(): boolean {
    return false;
  }
}

export class Stats extends Kinded {
  /** Bytes; of a link, those of its target's path. */
  readonly size: number;
  /** Kind and permission bits, as Unix has them: `0o100644`, `0o100755` for what may be run, `0o40755`, `0o120777`. */
  readonly mode: number;
  /** Milliseconds; the same for everything: 26 October 1985, as npm has it in tarballs. */
  readonly mtimeMs: number = MODIFIED;

  constructor(data: FileStatData) {
    super(data.kind);
    this.size = data.size;
    this.mode = data.mode;
  }

  get mtime(): Date {
    return new Date(this.mtimeMs);
  }
}

export class DirectoryEntry extends Kinded {
  readonly name: string;
  /** The directory that it is in, from the root `/`. */
  readonly parentPath: string;

  /** `name` may lead through folders below `directory`, as a recursive listing has it. */
  constructor(data: DirectoryEntryData, directory: string) {
    super(data.kind);
    const end = data.name.lastIndexOf('/');
    this.name = data.name.slice(end + 1);
    this.parentPath = end === -1 ? directory : joinPath(directory, data.name.slice(0, end));
  }
}

function joinPath(directory: string, name: string): string {
  return directory.endsWith('/') ? `${directory}${name}` : `${directory}/${name}`;
}

// Folders in which tools run, and the proof that they are empty when they have to be.
//
// Old trees are renamed into a trash folder and deleted between samples on tmpfs, where that has no consequences; on
// other file systems only at the very end, because ext4 creates files slowly for minutes after a big delete.
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const TMPFS = 0x01021994;

export class Workspace {
  #trash = 0;

  /** @param {string} folder @param {string} fileSystem */
  constructor(folder, fileSystem) {
    this.folder = folder;
    /** Name of the file system, as the kernel says. */
    this.fileSystem = fileSystem;
    mkdirSync(join(folder, 'trash'));
  }

  /** A new folder on a tmpfs, or inside `place`. @param {string} [place] */
  static create(place) {
    const parent = place ?? ['/dev/shm', tmpdir()].find((path) => existsSync(path) && statfsSync(path).type === TMPFS);
    const folder = mkdtempSync(join(parent ?? tmpdir(), 'gantry-bench-'));
    return new Workspace(folder, fileSystemName(folder));
  }

  /** A folder that exists. @param {string[]} path */
  folderFor(...path) {
    const folder = join(this.folder, ...path);
    mkdirSync(folder, { recursive: true });
    return folder;
  }

  /** Takes something away, whether or not it is there. @param {string} path */
  moveAside(path) {
    if (!existsSync(path)) return;
    renameSync(path, join(this.folder, 'trash', String(this.#trash++)));
  }

  /** Deletes what was moved aside, where deleting does no harm to what is measured next. */
  emptyTrash() {
    if (this.fileSystem !== 'tmpfs') return;
    for (const name of readdirSync(join(this.folder, 'trash'))) {
      rmSync(join(this.folder, 'trash', name), { recursive: true });
    }
  }

  /** A copy of a folder, with its times. @param {string} from @param {string} to */
  copy(from, to) {
    cpSync(from, to, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
  }

  /** A copy of a folder in a place of its own. @param {string} from */
  copyAside(from) {
    const to = join(this.folder, `kept-${this.#trash++}`);
    this.copy(from, to);
    return to;
  }

  remove() {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** What a folder is on, as the kernel says. @param {string} folder */
export function fileSystemName(folder) {
  if (statfsSync(folder).type === TMPFS) return 'tmpfs';
  try {
    // Not `stat -f`, which has one name for three generations of ext.
    const [, name = ''] = execFileSync('df', ['--output=fstype', folder], { encoding: 'utf8' }).split('\n');
    return name.trim() || 'unknown';
  } catch {
    return 'unknown';
  }
}

/**
 * The folders of one tool for one project.
 * @param {Workspace} workspace @param {string} tool @param {string} project
 * @returns {import('./tools.mjs').Folders}
 */
export function foldersFor(workspace, tool, project) {
  const base = [tool, project];
  return {
    home: join(workspace.folder, ...base, 'home'),
    cache: join(workspace.folder, ...base, 'cache'),
    project: join(workspace.folder, ...base, 'project'),
  };
}

/** Everything gone: caches, HOME, project; then the manifest alone.
 * @param {Workspace} workspace @param {import('./tools.mjs').Folders} folders @param {string} manifest */
export function wipeAll(workspace, folders, manifest) {
  wipeCaches(workspace, folders);
  workspace.moveAside(folders.project);
  mkdirSync(folders.project, { recursive: true });
  writeFileSync(join(folders.project, 'package.json'), manifest);
}

/** Caches and HOME gone, the project as it is. @param {Workspace} workspace @param {import('./tools.mjs').Folders} folders */
function wipeCaches(workspace, folders) {
  for (const folder of [folders.home, folders.cache]) {
    workspace.moveAside(folder);
    mkdirSync(folder, { recursive: true });
  }
  mkdirSync(join(folders.home, 'tmp'));
}

/** What is chosen gone from the project; caches as they are.
 * @param {Workspace} workspace @param {import('./tools.mjs').Folders} folders @param {(name: string) => boolean} chosen */
export function wipeFromProject(workspace, folders, chosen) {
  mkdirSync(folders.project, { recursive: true });
  for (const name of readdirSync(folders.project).filter(chosen)) workspace.moveAside(join(folders.project, name));
}

/** What is in a folder, in a few words. @param {string} folder */
export function contents(folder) {
  const names = existsSync(folder) ? readdirSync(folder).sort() : [];
  return names.length === 0 ? 'empty' : names.length <= 4 ? names.join(' ') : `${names.length} entries`;
}

/** Throws unless a folder holds exactly these names. @param {string} folder @param {string[]} names */
export function expectOnly(folder, names) {
  const found = existsSync(folder) ? readdirSync(folder).sort() : [];
  if (found.join('\n') !== [...names].sort().join('\n')) {
    throw new Error(`${folder} should hold only [${names.join(' ')}] and holds [${found.join(' ')}]`);
  }
}

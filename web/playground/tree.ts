/**
 * The explorer's tree as a flat list of visible rows. A directory is read when it is first expanded, so its cost is what
 * is looked at, not what is installed.
 */
import { computed, signal } from '@preact/signals';
import type { Project } from 'gantry';
import { type Failure, toFailure } from './failure.js';
import { project } from './session.js';
import { files, type OpenFile } from './workspace.js';

export interface Row {
  /** From the project's root, without a leading slash. */
  path: string;
  name: string;
  kind: 'file' | 'directory' | 'symlink';
  origin: OpenFile['origin'];
  level: number;
  expanded: boolean;
  /** Place among its siblings, from 1, and their number. */
  position: number;
  siblings: number;
}

type Entry = Pick<Row, 'name' | 'kind'>;

const expanded = signal<ReadonlySet<string>>(new Set());
const listings = signal<ReadonlyMap<string, readonly Entry[]>>(new Map());
/** Why the folder that was opened last cannot be shown. */
export const problem = signal<Failure | undefined>(undefined);
let listingsOf: Project | undefined;

export const rows = computed<readonly Row[]>(() => {
  const visible: Row[] = [];
  const own = ownEntries();
  const installed = project.value;
  const top = own.length + (installed ? 2 : 0);
  own.forEach((entry, index) => {
    visible.push({ ...entry, expanded: false, position: index + 1, siblings: top });
  });
  if (!installed) return visible;
  const lock = { path: 'package-lock.json', name: 'package-lock.json', kind: 'file', origin: 'lock' } as const;
  visible.push({ ...lock, level: 1, expanded: false, position: top - 1, siblings: top });
  const add = (entry: Entry, parent: string, level: number, position: number, siblings: number) => {
    const path = parent ? `${parent}/${entry.name}` : entry.name;
    const isOpen = entry.kind === 'directory' && expanded.value.has(path);
    visible.push({ ...entry, path, origin: 'installed', level, expanded: isOpen, position, siblings });
    if (!isOpen) return;
    const inside = listings.value.get(path) ?? [];
    for (let index = 0; index < inside.length; index++) {
      add(inside[index] as Entry, path, level + 1, index + 1, inside.length);
    }
  };
  add({ name: 'node_modules', kind: 'directory' }, '', 1, top, top);
  return visible;
});

function ownEntries(): Omit<Row, 'expanded' | 'position' | 'siblings'>[] {
  return [...files.value.keys()].map((path) => ({ path, name: path, kind: 'file', origin: 'project', level: 1 }));
}

export async function expand(row: Row): Promise<void> {
  const installed = project.value;
  if (!installed || row.kind !== 'directory') return;
  try {
    await list(installed, row.path);
  } catch (error) {
    // Of another tree than the one that is shown by now it says nothing.
    if (listingsOf === installed) problem.value = toFailure(error);
    return;
  }
  problem.value = undefined;
  expanded.value = new Set(expanded.value).add(row.path);
}

export function collapse(path: string): void {
  const rest = new Set(expanded.value);
  rest.delete(path);
  expanded.value = rest;
}

/** Another tree: what was read of the last one is stale; what was expanded stays so where it still exists. */
export async function adopt(installed: Project | undefined): Promise<void> {
  if (installed === listingsOf) return;
  listingsOf = installed;
  problem.value = undefined;
  if (!installed) {
    listings.value = new Map();
    expanded.value = new Set();
    return;
  }
  const paths = expanded.value.size > 0 ? [...expanded.value] : ['node_modules'];
  const read = new Map<string, readonly Entry[]>();
  await Promise.all(
    paths.map(async (path) => {
      try {
        read.set(path, await directoriesFirst(installed, path));
      } catch {
        // Not in this tree.
      }
    }),
  );
  if (listingsOf !== installed) return;
  listings.value = read;
  expanded.value = new Set(read.keys());
}

async function list(installed: Project, path: string): Promise<void> {
  if (listings.value.has(path)) return;
  const entries = await directoriesFirst(installed, path);
  if (listingsOf === installed) listings.value = new Map(listings.value).set(path, entries);
}

async function directoriesFirst(installed: Project, path: string): Promise<Entry[]> {
  const entries = await installed.fs.readdir(path, { withFileTypes: true });
  const [directories, others] = [[] as Entry[], [] as Entry[]];
  for (const { name, kind } of entries) (kind === 'directory' ? directories : others).push({ name, kind });
  return [...directories, ...others];
}

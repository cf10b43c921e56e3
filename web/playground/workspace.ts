/**
 * The project being edited: its starter, its files, and what is open in the editor. Edits are remembered per starter.
 */
import { computed, signal } from '@preact/signals';
import { type Starter, starterFiles, starters } from './starters.js';
import { remember, remembered } from './storage.js';

/** What the editor shows: a file of the project, one of the installed tree, or the lock file. */
export interface OpenFile {
  path: string;
  origin: 'project' | 'installed' | 'lock';
}

const first = starters[0] as Starter;

export const starter = signal<Starter>(starters.find(({ id }) => id === requestedStarter()) ?? first);
export const files = signal<ReadonlyMap<string, string>>(loadFiles(starter.value.id));
export const open = signal<OpenFile>({ path: 'package.json', origin: 'project' });
/** The file of the installed tree that was looked at last keeps its tab. */
export const visited = signal<OpenFile | undefined>(undefined);

export const edited = computed(() => {
  const original = starterFiles(starter.value.id);
  return [...files.value].some(([path, text]) => original.get(path) !== text);
});

export function chooseStarter(next: Starter): void {
  if (next.id === starter.value.id) return;
  remember('starter', next.id);
  // The address is what is bookmarked and sent, and what a reload goes by.
  const address = new URL(location.href);
  address.searchParams.set('project', next.id);
  history.replaceState(history.state, '', address);
  starter.value = next;
  files.value = loadFiles(next.id);
  visited.value = undefined;
  open.value = { path: 'package.json', origin: 'project' };
}

export function editFile(path: string, text: string): void {
  if (files.value.get(path) === text) return;
  files.value = new Map(files.value).set(path, text);
  const original = starterFiles(starter.value.id).get(path);
  remember(`file:${starter.value.id}/${path}`, text === original ? undefined : text);
}

/** Give up every edit of this starter. */
export function resetFiles(): void {
  const original = starterFiles(starter.value.id);
  for (const path of original.keys()) remember(`file:${starter.value.id}/${path}`, undefined);
  files.value = original;
}

export function openFile(file: OpenFile): void {
  if (file.origin === 'installed') visited.value = file;
  open.value = file;
}

function loadFiles(id: string): Map<string, string> {
  const loaded = starterFiles(id);
  for (const path of loaded.keys()) {
    const text = remembered(`file:${id}/${path}`);
    if (text !== undefined) loaded.set(path, text);
  }
  return loaded;
}

/** `?project=vue` in the address, else the one of the last visit. */
function requestedStarter(): string | undefined {
  return new URLSearchParams(location.search).get('project') ?? remembered('starter');
}

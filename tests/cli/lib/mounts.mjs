// File systems that a test mounts, where it may.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Mounts something; says what is wrong if that is not possible. */
export function mount(...words) {
  const { status, error, stderr } = spawnSync('mount', words, { encoding: 'utf8' });
  return status === 0 ? undefined : (error?.message ?? stderr.trim());
}

export function unmount(folder) {
  spawnSync('umount', ['--lazy', folder]);
}

/** Why a test cannot mount such a thing here, for `skip`; `words` are given the name of an empty folder. */
export function whyNoMount(words = () => ['-t', 'tmpfs', 'gantry-test']) {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-disk-'));
  const base = mount('-t', 'tmpfs', 'gantry-test', folder);
  if (base === undefined) mkdirSync(join(folder, 'there'));
  const refusal = base ?? mount(...words(folder), join(folder, 'there'));
  if (base === undefined) unmount(join(folder, 'there'));
  if (base === undefined) unmount(folder);
  rmSync(folder, { recursive: true, force: true });
  return refusal && `no disk can be mounted here: ${refusal}`;
}

// The recording: registry documents and tarballs of tests/projects, taken once from the registry that npm is configured
// with and replayed ever after. It lives outside the tree (GANTRY_RECORDING, else the user's cache folder) and is
// shared by all clones. Recording again keeps what is there and adds what is missing.
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { buildNative } from './native.mjs';
import { inRoot, registryCommand } from './paths.mjs';
import { run, timed } from './process.mjs';
import { contentDigest, unlessFresh } from './stamp.mjs';

export const projectsFolder = inRoot('tests', 'projects');

/** The projects' manifests decide what is recorded. */
const manifests = () =>
  existsSync(projectsFolder)
    ? readdirSync(projectsFolder, { recursive: true })
        .filter((name) => name.endsWith('package.json') || name.endsWith('package-lock.json'))
        .sort()
        .map((name) => join(projectsFolder, name))
    : [];

/** As gantry-registry finds it. */
export function recordingFolder() {
  if (process.env.GANTRY_RECORDING) return process.env.GANTRY_RECORDING;
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'gantry', 'recording');
}

/** Records, however complete the recording is. */
export async function record(words = []) {
  await buildNative();
  await timed('record', `recorded into ${recordingFolder()}`, () =>
    run(registryCommand, ['record', '--projects', projectsFolder, ...words]),
  );
}

/** Records unless that was done for these projects. */
export async function provideRecording() {
  const words = [recordingFolder(), ...manifests().map(contentDigest)];
  await unlessFresh('recording', { words, outputs: [join(recordingFolder(), 'packuments')] }, () => record());
}

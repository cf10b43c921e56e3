// The recording: registry documents and tarballs of tests/projects, taken once from the registry that npm is configured
// with and replayed ever after. It lives outside the tree (GANTRY_RECORDING, else the user's cache folder) and is
// shared by all clones. Recording again keeps what is there and adds what is missing. The npm that is asked what a project
// needs is the one of package-lock.json, with the settings of the user's.
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildNative } from './native.mjs';
import { npm } from './npm.mjs';
import { inRoot, nodeBinary, pathWith, registryCommand } from './paths.mjs';
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

/** Where the user's npm finds its settings, and its registry: another npm may look elsewhere. */
async function npmSettings() {
  const text = await npm(['config', 'get', 'registry', 'userconfig', 'globalconfig'], { output: 'quiet' });
  const settings = [...text.matchAll(/^(registry|userconfig|globalconfig)=(.*)$/gm)];
  return Object.fromEntries(settings.map(([, name, value]) => [`npm_config_${name}`, value]));
}

/** Records, however complete the recording is. */
export async function record(words = []) {
  await buildNative();
  const environment = { ...(await npmSettings()), PATH: pathWith(dirname(nodeBinary('npm'))) };
  await timed('record', `recorded into ${recordingFolder()}`, () =>
    run(registryCommand, ['record', '--projects', projectsFolder, ...words], { environment }),
  );
}

/** Records unless that was done for these projects. */
export async function provideRecording() {
  const words = [recordingFolder(), ...manifests().map(contentDigest)];
  await unlessFresh('recording', { words, outputs: [join(recordingFolder(), 'packuments')] }, () => record());
}

// First step of recording: everything that npm, Gantry and the peers ask for when they resolve the projects, fetched
// once from the registry that npm is configured with. What was fetched before is kept, so that a recording is of one
// time; `--refresh` begins anew.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { upstreamRegistry } from '../../../../bench/lib/record.mjs';
import { judgeOne } from '../judge.mjs';
import { projectsFolder, rawLocks, rawRecording } from '../places.mjs';
import { gantry, peers, runPeer, withFolders } from '../programs.mjs';
import { forEach, say, withRegistry } from '../work.mjs';

/** Who asks besides npm: what they need may differ. */
const others = {
  gantry: (folders, url) => gantry(folders, url, process.versions.node),
  ...Object.fromEntries(peers.map((peer) => [peer.name, (folders, url) => runPeer(peer, folders, url)])),
};

/**
 * Takes what is missing and resolves to npm's results. A project that has not changed since its last time is left alone.
 * @param {import('../projects.mjs').Project[]} projects @param {string} scratch
 * @param {{ refresh: boolean }} options @returns {Promise<import('../data.mjs').Frozen[]>}
 */
export async function take(projects, scratch, { refresh }) {
  if (refresh) for (const folder of [rawRecording, rawLocks]) rmSync(folder, { recursive: true, force: true });
  for (const folder of [rawRecording, rawLocks]) mkdirSync(folder, { recursive: true });
  const upstream = upstreamRegistry();
  return forEach(projects, async (project) => {
    const known = readRawLock(project);
    if (known) return known;
    // One for each project: it keeps every document it served in memory.
    return withRegistry({ recording: rawRecording, upstream }, async ({ url }) => {
      const frozen = await judgeOne(project, url, scratch);
      const went = [`npm ${frozen.error ?? 'well'}`];
      for (const [name, program] of Object.entries(others)) {
        const { status } = await withFolders(scratch, project, url, (folders) => program(folders, url));
        went.push(`${name} ${status === 0 ? 'well' : 'failed'}`);
      }
      say(`${project.name}: ${went.join(', ')}`);
      writeRawLock(project, frozen);
      return frozen;
    });
  });
}

/** npm's results of the last time. @param {import('../projects.mjs').Project[]} projects */
export function readRawLocks(projects) {
  return projects.map((project) => {
    const known = readRawLock(project);
    if (known === undefined) throw new Error(`${project.name} is not recorded, or was changed since`);
    return known;
  });
}

/** @param {import('../projects.mjs').Project} project */
const rawLockFile = (project) => join(rawLocks, `${project.name}.json`);

/** @param {import('../projects.mjs').Project} project @returns {import('../data.mjs').Frozen | undefined} */
function readRawLock(project) {
  if (!existsSync(rawLockFile(project))) return undefined;
  const { digest, frozen } = JSON.parse(readFileSync(rawLockFile(project), 'utf8'));
  return digest === digestOf(project) ? frozen : undefined;
}

/** @param {import('../projects.mjs').Project} project @param {import('../data.mjs').Frozen} frozen */
const writeRawLock = (project, frozen) =>
  writeFileSync(rawLockFile(project), JSON.stringify({ digest: digestOf(project), frozen }));

/** Over everything that npm reads. @param {import('../projects.mjs').Project} project */
function digestOf({ name }) {
  const folder = join(projectsFolder, name);
  const hash = createHash('sha256');
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }).sort(byPath)) {
    if (!entry.isFile() || entry.name === 'conformance.json') continue;
    hash.update(join(entry.parentPath, entry.name).slice(folder.length));
    hash.update(readFileSync(join(entry.parentPath, entry.name)));
  }
  return hash.digest('hex');
}

const byPath = (a, b) => (join(a.parentPath, a.name) < join(b.parentPath, b.name) ? -1 : 1);

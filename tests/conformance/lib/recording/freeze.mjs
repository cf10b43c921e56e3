// The last steps of recording: prune what was taken, let npm resolve again from the pruned data, and insist that it comes
// to the same.
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { readLocks, unpackRecording, writeAbout, writeLocks, writeRecording } from '../data.mjs';
import { judge } from '../judge.mjs';
import { entriesOf } from '../locks.mjs';
import { npmScript, projectsFolder, rawRecording } from '../places.mjs';
import { say } from '../work.mjs';
import { prune } from './prune.mjs';
import { readTarball, tarballNames } from './raw.mjs';
import { integrityOf, reduceTarball } from './tarball.mjs';

/** @param {import('../projects.mjs').Project[]} projects all of them
 * @param {import('../data.mjs').Frozen[]} before npm's results from what was taken
 * @param {string} scratch @param {string} recorded day */
export async function freeze(projects, before, scratch, recorded) {
  say('pruning');
  const locked = before.flatMap(({ text }) =>
    text ? entriesOf(text).map(({ name, version }) => [name, version]) : [],
  );
  const documents = prune(projectSpecs(), locked);
  const { tarballs, integrities } = reduceTarballs(documents);
  say('compressing');
  writeRecording(documents, tarballs);
  const versions = documents.reduce((sum, { versions }) => sum + Object.keys(versions).length, 0);

  say('npm resolves from the pruned data');
  const recording = join(scratch, 'recording');
  unpackRecording(recording);
  const after = await judge(projects, recording, scratch);
  const other = (text) =>
    text?.replace(/sha(?:1|512)-[\w+/]+=*/g, (integrity) => integrities.get(integrity) ?? integrity);
  const differing = before.filter(
    ({ text, error }, index) => other(text) !== after[index].text || error !== after[index].error,
  );
  // Written in any case: with them one can see what differs.
  writeLocks(after);
  const npm = createRequire(npmScript)('../package.json').version;
  writeAbout({ npm, node: process.versions.node, recorded, documents: documents.length, versions });
  if (differing.length > 0)
    throw new Error(`npm resolves differently from the pruned data: ${differing.map(({ name }) => name).join(', ')}`);
  for (const { name, error } of after) if (error) say(`${name}: npm refuses with ${error}`);
}

/** Whether npm still writes the frozen locks; resolves to the names of those where it does not.
 * @param {import('../projects.mjs').Project[]} projects @param {string} scratch */
export async function thaw(projects, scratch) {
  const recording = join(scratch, 'recording');
  unpackRecording(recording);
  const frozen = readLocks();
  const now = await judge(projects, recording, scratch);
  return now.filter(({ name, text, error }) => frozen.get(name)?.text !== text || frozen.get(name)?.error !== error);
}

/** Tarballs of versions that are kept; their documents get the new integrity. */
function reduceTarballs(documents) {
  const byName = new Map(documents.map((document) => [document.name, document]));
  const integrities = new Map();
  const tarballs = [];
  for (const path of tarballNames(rawRecording)) {
    const name = path.slice(0, path.lastIndexOf('/'));
    const file = path.slice(name.length + 1);
    const unscoped = name.slice(name.indexOf('/') + 1);
    const manifest = byName.get(name)?.versions[file.slice(unscoped.length + 1, -'.tgz'.length)];
    if (!(manifest?.bundleDependencies || manifest?.bundledDependencies || manifest?._hasShrinkwrap)) continue;
    const original = readTarball(rawRecording, path);
    const bytes = reduceTarball(original);
    const integrity = integrityOf(bytes);
    for (const former of [manifest.dist.integrity, sha1Integrity(manifest.dist.shasum)])
      if (former) integrities.set(former, integrity);
    manifest.dist = { ...manifest.dist, integrity };
    delete manifest.dist.shasum;
    tarballs.push([path, bytes]);
  }
  return { tarballs, integrities };
}

/** @param {string | undefined} shasum hexadecimal */
const sha1Integrity = (shasum) => shasum && `sha1-${Buffer.from(shasum, 'hex').toString('base64')}`;

/** Every name and spec in the manifests of the projects, overrides included. @returns {[string, string][]} */
function projectSpecs() {
  const specs = [];
  const overrides = (name, value) => {
    if (typeof value === 'string') specs.push([name, value === '' ? '*' : value]);
    else for (const [key, inner] of Object.entries(value)) overrides(key === '.' ? name : keyName(key), inner);
  };
  for (const path of readdirSync(projectsFolder, { recursive: true })) {
    if (!path.endsWith('package.json')) continue;
    const manifest = JSON.parse(readFileSync(join(projectsFolder, path), 'utf8'));
    for (const [field, value] of Object.entries(manifest)) {
      if (field.endsWith('ependencies') && !Array.isArray(value)) specs.push(...Object.entries(value));
    }
    overrides('', manifest.overrides ?? {});
  }
  return specs;
}

/** The name in an override's key, which may have a range behind it. @param {string} key */
const keyName = (key) => key.replace(/(?<=.)@.*/, '');

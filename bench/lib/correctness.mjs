// What a tool got right. The judge is npm: what it installs from its own lock, made against the same registry; and
// the tarballs themselves for the contents of files.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { seeded } from '../../scripts/lib/seeded.mjs';
import { recordingFolder } from './paths.mjs';
import { tarballFiles } from './tarball.mjs';

const SAMPLED_FILES = 200;
const SEED = 4;

/** @typedef {{ path: string, name: string, version: string }} Placed */
/** @typedef {{ package: Placed, file: string, digest: string }} Sample */
/** @typedef {{ placed: Placed[], tarballs: number, samples: Sample[] }} Judge */
/**
 * `exact`: packages at npm's path and version. `present`: those anywhere in the tree at npm's version. `files`: sampled
 * files with the tarball's contents. `links`: how sampled files share their contents with the store.
 * @typedef {{ packages: number, exact: number, present: number, sampled: number, files: number, links: string,
 *   extra: number }} Verdict
 */

/** Reads what npm installed. @param {string} project folder in which npm has installed @returns {Judge} */
export function readJudge(project) {
  const hidden = JSON.parse(readFileSync(join(project, 'node_modules', '.package-lock.json'), 'utf8'));
  const placed = [];
  const tarballs = new Map();
  for (const [path, entry] of Object.entries(hidden.packages)) {
    if (entry.link) continue;
    const name = entry.name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const item = { path, name, version: installedVersion(path) ?? entry.version };
    placed.push(item);
    // What a package bundles is part of another's tarball.
    if (entry.resolved && !entry.inBundle) tarballs.set(item, join(recordingFolder, 'tarballs', escaped(entry)));
  }
  return { placed, tarballs: new Set(tarballs.values()).size, samples: sampleFiles(tarballs) };

  // A recorded version may be a copy of another one, with that one's package.json (record.mjs).
  function installedVersion(path) {
    const manifest = join(project, path, 'package.json');
    return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version : undefined;
  }

  function escaped(entry) {
    const [name, file] = new URL(entry.resolved).pathname.slice(1).split('/-/');
    const segments = [...decodeURIComponent(name).split('/'), decodeURIComponent(file)];
    const percent = (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
    return segments.map((segment) => segment.replace(/[^a-z0-9\-_.@+~]/g, percent)).join('/');
  }
}

/** @param {Map<Placed, string>} tarballs @returns {Sample[]} */
function sampleFiles(tarballs) {
  const random = seeded(SEED);
  const items = [...tarballs.keys()].filter((item) => existsSync(String(tarballs.get(item))));
  const samples = [];
  const opened = new Map();
  for (let n = 0; n < SAMPLED_FILES && items.length > 0; n++) {
    const item = items[Math.floor(random() * items.length)];
    if (!opened.has(item)) opened.set(item, tarballFiles(readFileSync(String(tarballs.get(item)))));
    const files = [...opened.get(item)];
    const [file, body] = files[Math.floor(random() * files.length)];
    samples.push({ package: item, file, digest: digest(body) });
  }
  return samples;
}

/** Compares an installed project with the judge's. @param {Judge} judge @param {string} project @returns {Verdict} */
export function compare(judge, project) {
  let shared = 0;
  const found = judgeTree(judge, installedPackages(project), (path) => {
    const file = join(project, path);
    if (!existsSync(file)) return undefined;
    if (statSync(file).nlink > 1) shared += 1;
    return digest(readFileSync(file));
  });
  return { ...found, links: shared === 0 ? 'own files' : shared * 2 > found.files ? 'hard links' : 'some hard links' };
}

/**
 * The same for a tree wherever it is.
 * @param {Judge} judge
 * @param {{ byPath: Map<string, string>, byIdentity: Map<string, string> }} installed `name@version` by folder, and back
 * @param {(path: string) => string | undefined} digestOf SHA-1 of a file, `undefined` if there is none
 */
export function judgeTree(judge, { byPath, byIdentity }, digestOf) {
  const identity = ({ name, version }) => `${name}@${version}`;
  const isExact = (item) => byPath.get(item.path) === identity(item);
  const folderOf = (item) => (isExact(item) ? item.path : byIdentity.get(identity(item)));
  const isRight = (sample) => {
    const folder = folderOf(sample.package);
    return folder !== undefined && digestOf(`${folder}/${sample.file}`) === sample.digest;
  };
  const wanted = new Set(judge.placed.map(identity));
  return {
    packages: judge.placed.length,
    exact: judge.placed.filter(isExact).length,
    present: judge.placed.filter((item) => byIdentity.has(identity(item))).length,
    extra: [...byIdentity.keys()].filter((found) => !wanted.has(found)).length,
    sampled: judge.samples.length,
    files: judge.samples.filter(isRight).length,
  };
}

/** Every package folder of a tree, also those of layouts with links into a virtual store. @param {string} project */
function installedPackages(project) {
  const byPath = new Map();
  const byIdentity = new Map();
  const visit = (modules) => {
    for (const entry of entries(project, modules)) {
      if (entry.startsWith('@'))
        for (const own of entries(project, `${modules}/${entry}`)) take(`${modules}/${entry}/${own}`);
      else if (!entry.startsWith('.')) take(`${modules}/${entry}`);
    }
  };
  const take = (path) => {
    const manifest = join(project, path, 'package.json');
    if (!existsSync(manifest)) return;
    const { name, version } = JSON.parse(readFileSync(manifest, 'utf8'));
    byPath.set(path, `${name}@${version}`);
    if (!byIdentity.has(`${name}@${version}`)) byIdentity.set(`${name}@${version}`, path);
    visit(`${path}/node_modules`);
  };
  visit('node_modules');
  for (const name of entries(project, 'node_modules/.pnpm')) visit(`node_modules/.pnpm/${name}/node_modules`);
  return { byPath, byIdentity };
}

/** Folders, not links to them. @param {string} project @param {string} folder */
function entries(project, folder) {
  const path = join(project, folder);
  if (!existsSync(path)) return [];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

const digest = (bytes) => createHash('sha1').update(bytes).digest('hex');

// Recording what the projects need, once: npm and every peer install each project through a registry that fetches
// what it does not have from the registry npm is configured with. Afterwards nothing is asked of that registry again.
//
// Registries that mirror only a part may lack some platforms' packages at the version a package names. A lock without
// them makes `npm ci` fail, so such versions are added to the recorded documents as copies of the newest version that
// is there. Nobody downloads them here; the summary names them.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { addition, targetFlags } from './browser/target.mjs';
import { projectsFolder, recordingFolder, say } from './paths.mjs';
import { measure } from './process.mjs';
import { Registry } from './registry.mjs';

const stampFile = join(recordingFolder, 'bench.json');

/** How often each tool installs with warm caches while recording. */
const REPEATS = 3;

/** Names of the projects, smallest first. */
export const projectNames = ['lodash', 'vite-react', 'next15', 'cra5'];

/** @param {string} project */
export const projectManifest = (project) => readFileSync(join(projectsFolder, project, 'package.json'), 'utf8');

const digest = () => {
  const hash = createHash('sha256');
  for (const project of projectNames) hash.update(projectManifest(project));
  return hash.digest('hex').slice(0, 16);
};

/** What is known of the recording. @returns {{ digest: string, date: string, added: string[] } | undefined} */
export function recordingStamp() {
  if (!existsSync(stampFile)) return undefined;
  const stamp = JSON.parse(readFileSync(stampFile, 'utf8'));
  return stamp.digest === digest() ? stamp : undefined;
}

/**
 * @param {import('./tools.mjs').Tool[]} tools
 * @param {string} scratch
 * @param {{ projects?: string[] }} [options]
 */
export async function record(tools, scratch, { projects = projectNames } = {}) {
  const upstream = upstreamRegistry();
  mkdirSync(recordingFolder, { recursive: true });
  const npm = tools.find((tool) => tool.name === 'npm');
  for (const project of projects) {
    for (let pass = 0; pass < 5; pass++) {
      say('record', `${project}: npm resolves`);
      const folders = freshFolders(join(scratch, `${project}-npm-${pass}`), project);
      await withRegistry(upstream, (url) => attempt(npm, 'resolve', folders, url, scratch));
      const lock = JSON.parse(readFileSync(join(folders.project, 'package-lock.json'), 'utf8'));
      const holes = missingVersions(lock);
      if (holes.length === 0) break;
      for (const hole of holes) await addVersion(hole, upstream);
    }
    for (const tool of tools) {
      if (tool.name === 'gantry-again') continue;
      say('record', `${project}: ${tool.name} installs`);
      const folders = freshFolders(join(scratch, `${project}-${tool.name}`), project);
      await withRegistry(upstream, async (url) => {
        await attempt(tool, 'install', folders, url, scratch);
        rmSync(folders.cache, { recursive: true });
        rmSync(join(folders.project, 'node_modules'), { recursive: true, force: true });
        await attempt(tool, 'frozen', folders, url, scratch);
        // With everything cached a tool may get further with what it fetches on a guess.
        for (let again = 0; again < REPEATS; again++) {
          for (const name of ['node_modules', tool.lock]) rmSync(join(folders.project, name), { recursive: true });
          await attempt(tool, 'install', folders, url, scratch);
        }
      });
      rmSync(join(scratch, `${project}-${tool.name}`), { recursive: true });
    }
    await recordForPages(tools, project, upstream, scratch);
  }
  const added = addedVersions();
  writeFileSync(stampFile, JSON.stringify({ digest: digest(), date: new Date().toISOString(), added }, null, 2));
  say('record', `${added.length} versions of other platforms' packages added: ${added.join(' ') || '-'}`);
}

/**
 * What the browser bench needs besides: packages of its platform, what Gantry guesses for it, and the package that is added.
 * @param {import('./tools.mjs').Tool[]} tools @param {string} project @param {string} upstream @param {string} scratch
 */
export async function recordForPages(tools, project, upstream, scratch) {
  for (const tool of tools.filter(({ name }) => ['npm', 'gantry'].includes(name))) {
    say('record', `${project}: ${tool.name} installs for pages`);
    const forPages = { ...tool, command: (...words) => [...tool.command(...words), ...targetFlags] };
    const folders = freshFolders(join(scratch, `${project}-pages`), project);
    await withRegistry(upstream, async (url) => {
      for (let again = 0; again < (tool.name === 'gantry' ? REPEATS : 1); again++) {
        for (const name of ['node_modules', tool.lock])
          rmSync(join(folders.project, name), { recursive: true, force: true });
        rmSync(folders.cache, { recursive: true });
        await attempt(forPages, 'install', folders, url, scratch);
      }
      writeFileSync(join(folders.project, 'package.json'), addition(project, projectManifest(project)).manifest);
      await attempt(forPages, 'install', folders, url, scratch);
    });
    rmSync(join(scratch, `${project}-pages`), { recursive: true });
  }
}

/** @param {string} upstream @param {(url: string) => Promise<void>} work */
async function withRegistry(upstream, work) {
  const registry = await Registry.start({ upstream });
  try {
    await work(registry.url);
    const { log = [] } = await registry.counts({ log: true });
    const missed = log.filter((entry) => entry.miss).map((entry) => entry.path);
    if (missed.length > 0) say('record', `not there upstream either: ${missed.join(' ')}`);
  } finally {
    await registry.close();
  }
}

/** @param {string} folder @param {string} project */
function freshFolders(folder, project) {
  rmSync(folder, { recursive: true, force: true });
  const folders = { home: join(folder, 'home'), cache: join(folder, 'cache'), project: join(folder, project) };
  for (const path of [join(folders.home, 'tmp'), folders.cache, folders.project]) mkdirSync(path, { recursive: true });
  writeFileSync(join(folders.project, 'package.json'), projectManifest(project));
  return folders;
}

/** A tool that fails while recording is reported, not fatal: it may be unable to install the project at all. */
async function attempt(tool, mode, folders, url, scratch) {
  mkdirSync(folders.cache, { recursive: true });
  const invocation = {
    command: tool.command(mode, folders, url),
    cwd: folders.project,
    environment: tool.environment(folders, url),
  };
  const { usage, output } = await measure(invocation, scratch);
  if (usage.status !== 0) say('record', `${tool.name} (${mode}) failed: ${output.trim().slice(-600)}`);
}

/** Optional dependencies with an exact version that the lock should have and has not. */
function missingVersions(lock) {
  const found = new Map();
  for (const [path, entry] of Object.entries(lock.packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      const places = [];
      for (let at = path; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
        places.push(`${at}/node_modules/${name}`);
      }
      places.push(`node_modules/${name}`);
      const there = places.some((place) => lock.packages[place]);
      if (!there && /^\d+\.\d+\.\d+/.test(version)) found.set(`${name}@${version}`, { name, version });
    }
  }
  return [...found.values()];
}

/**
 * Adds a version to a recorded document, if there is one to take a copy from. npm unpacks packages that bundle others
 * even when it only resolves: theirs is the one tarball that has to be there as well.
 */
async function addVersion({ name, version }, upstream) {
  const file = join(recordingFolder, 'packuments', `${name}.json.gz`);
  if (!existsSync(file)) return;
  const document = JSON.parse(gunzipSync(readFileSync(file)).toString('utf8'));
  if (document.versions[version]) return;
  const newest = document.versions[document['dist-tags'].latest] ?? Object.values(document.versions).at(-1);
  if (!newest) return;
  if (newest.bundleDependencies ?? newest.bundledDependencies)
    await copyTarball(name, newest.version, version, upstream);
  const text = JSON.stringify(newest).replaceAll(newest.version, version);
  document.versions[version] = JSON.parse(text);
  if (document.time) document.time[version] = document.time[newest.version] ?? document.time.modified;
  writeFileSync(file, gzipSync(JSON.stringify(document)));
}

async function copyTarball(name, from, to, upstream) {
  const [source, target] = [from, to].map((version) => `${name.split('/').at(-1)}-${version}.tgz`);
  await withRegistry(upstream, async (url) => {
    await (await fetch(`${url}${name}/-/${source}`)).arrayBuffer();
  });
  const folder = join(recordingFolder, 'tarballs', name);
  copyFileSync(join(folder, source), join(folder, target));
}

/** Where what is not recorded yet comes from: the registry npm is configured with, unless GANTRY_BENCH_UPSTREAM names one. */
export function upstreamRegistry() {
  return (
    process.env.GANTRY_BENCH_UPSTREAM || execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim()
  );
}

/** The versions that are copies: they have the integrity of another version. */
function addedVersions() {
  const folder = join(recordingFolder, 'packuments');
  const added = [];
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const document = JSON.parse(gunzipSync(readFileSync(join(entry.parentPath ?? entry.path, entry.name))).toString());
    const latest = document.versions?.[document['dist-tags']?.latest];
    for (const [version, manifest] of Object.entries(document.versions ?? {})) {
      const isCopy = version !== latest?.version && manifest.dist.integrity === latest?.dist.integrity;
      if (isCopy && manifest.dist.integrity) added.push(`${document.name}@${version}`);
    }
  }
  return added.sort();
}

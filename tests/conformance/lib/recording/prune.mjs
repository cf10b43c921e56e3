// Second step of recording: from gigabytes of documents to what resolving the projects can ask about.
//
// Kept of every package are the versions that some range could pick. A range counts if it stands in a project, in an
// override, or in a version that is itself followed; followed are the versions in npm's locks, what npm would pick for a
// range, and the highest one that satisfies it (which others pick). All others in the range are kept but not followed, so
// that a wrong choice has something wrong to choose. Whether the pruned recording still gives the same locks is not
// reasoned about but tried (freeze.mjs).
import { createRequire } from 'node:module';
import { npmScript, rawRecording } from '../places.mjs';
import { shorten } from './fields.mjs';
import { documentNames, readDocument } from './raw.mjs';

const require = createRequire(npmScript);
const semver = require('semver');
const npa = require('npm-package-arg');
const pickManifest = require('npm-pick-manifest');
const npmVersion = require('../package.json').version;

const loose = { loose: true };

/** One package: what choosing a version needs, and the short form of each version as text. */
class Package {
  /** Versions to keep. @type {Set<string>} */
  kept = new Set();

  /** @param {string} name */
  constructor(name) {
    const { 'dist-tags': tags = {}, versions = {} } = readDocument(rawRecording, name);
    this.name = name;
    this.tags = tags;
    this.texts = new Map();
    const forPicking = {};
    for (const [version, manifest] of Object.entries(versions)) {
      this.texts.set(version, JSON.stringify(shorten(name, version, manifest)));
      forPicking[version] = { name, version, engines: manifest.engines, deprecated: manifest.deprecated };
    }
    this.document = { name, 'dist-tags': tags, versions: forPicking };
    this.highestFirst = Object.keys(versions)
      .filter((version) => semver.valid(version, loose))
      .sort((a, b) => semver.rcompare(a, b, loose));
  }

  /** Versions that a spec may pick; keeps all that it allows. @param {import('npm-package-arg').Result} spec @returns {string[]} */
  choose(spec) {
    const chosen = new Set();
    try {
      chosen.add(pickManifest(this.document, spec.fetchSpec, { nodeVersion: process.version, npmVersion }).version);
    } catch (error) {
      if (!['ETARGET', 'ENOVERSIONS', 'E403'].includes(error.code)) throw error;
    }
    if (spec.type === 'range') {
      const satisfying = this.highestFirst.filter((version) => semver.satisfies(version, spec.fetchSpec, loose));
      for (const version of satisfying) this.kept.add(version);
      for (const version of satisfying.slice(0, 1)) chosen.add(version);
    }
    for (const version of chosen) this.kept.add(version);
    return [...chosen];
  }

  /** The short form, with what is kept. */
  short() {
    const { latest } = this.tags;
    if (this.texts.has(latest)) this.kept.add(latest);
    const versions = {};
    for (const [version, text] of this.texts) if (this.kept.has(version)) versions[version] = JSON.parse(text);
    const tags = Object.fromEntries(Object.entries(this.tags).filter(([, version]) => this.kept.has(version)));
    return { name: this.name, tags, versions };
  }
}

/**
 * The short forms of all recorded documents.
 * @param {[string, string][]} specs names and specs that the projects name, in whatever place
 * @param {[string, string][]} locked names and versions in npm's locks
 */
export function prune(specs, locked) {
  const packages = new Map(documentNames(rawRecording).map((name) => [name, undefined]));
  /** @type {[string, string][]} */
  const queue = [...specs];
  const seen = new Set();
  const followed = new Set();

  /** @param {string} name @returns {Package | undefined} */
  const get = (name) => {
    if (packages.has(name) && !packages.get(name)) packages.set(name, new Package(name));
    return packages.get(name);
  };
  /** @param {Package} owner @param {string} version */
  const follow = (owner, version) => {
    const text = owner.texts.get(version);
    if (text === undefined || followed.has(`${owner.name}@${version}`)) return;
    followed.add(`${owner.name}@${version}`);
    owner.kept.add(version);
    const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(text);
    for (const map of [dependencies, optionalDependencies, peerDependencies]) {
      if (typeof map === 'object' && map !== null) queue.push(...Object.entries(map));
    }
  };

  for (const [name, version] of locked) {
    const owner = get(name);
    if (owner) follow(owner, version);
  }
  for (const request of queue) {
    const [name, text] = request;
    if (seen.has(`${name}@${text}`)) continue;
    seen.add(`${name}@${text}`);
    const spec = parse(name, text);
    const owner = spec && get(spec.name);
    if (owner) for (const version of owner.choose(spec)) follow(owner, version);
  }
  return [...packages.keys()].map((name) => get(name).short());
}

/** The registry spec that a spec comes down to, if it is one. @param {string} name @param {string} text */
function parse(name, text) {
  try {
    const spec = npa.resolve(name, text);
    const target = spec.subSpec ?? spec;
    return target.registry ? target : undefined;
  } catch {
    // What npm cannot read, it does not ask the registry about.
    return undefined;
  }
}

// What of a registry's document is kept: the fields that resolving and lock writing read, and nothing else.
//
// A document is kept in a short form: names, versions and tarball addresses that follow from the rest are left out, as
// is a version's SHA-1 where there is a stronger integrity. `expand` puts them back.
import { PLACEHOLDER } from '../places.mjs';

const KEPT = [
  'dependencies',
  'optionalDependencies',
  'peerDependencies',
  'peerDependenciesMeta',
  'acceptDependencies',
  'bundleDependencies',
  'bundledDependencies',
  'engines',
  'os',
  'cpu',
  'libc',
  'bin',
  'deprecated',
  'license',
  'licenses',
  'funding',
  'workspaces',
  'hasInstallScript',
  '_hasShrinkwrap',
];

/** What a package runs when it is installed; of the scripts only that there are any matters. */
const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall'];

const isEmpty = (value) => typeof value === 'object' && value !== null && Object.keys(value).length === 0;

/** Address of a version's tarball unless its document says otherwise. @param {string} name @param {string} version */
const usualTarball = (name, version) => `${PLACEHOLDER}${name}/-/${name.slice(name.indexOf('/') + 1)}-${version}.tgz`;

/** The short form of one version. @param {string} name @param {string} version @param {any} manifest as recorded */
export function shorten(name, version, manifest) {
  const short = {};
  if (manifest.name !== name) short.name = manifest.name;
  if (manifest.version !== version) short.version = manifest.version;
  for (const field of KEPT) {
    if (manifest[field] !== undefined && !isEmpty(manifest[field])) short[field] = manifest[field];
  }
  if (manifest.directories?.bin && !manifest.bin) short.directories = { bin: manifest.directories.bin };
  if (INSTALL_SCRIPTS.some((script) => manifest.scripts?.[script])) short.hasInstallScript = true;
  const { tarball, integrity, shasum } = manifest.dist ?? {};
  const dist = {};
  if (tarball !== usualTarball(name, version)) dist.tarball = tarball;
  if (integrity) dist.integrity = integrity;
  else if (shasum) dist.shasum = shasum;
  short.dist = dist;
  return short;
}

/** A document as the replay registry keeps it. @param {{ name: string, tags: Record<string, string>,
 * versions: Record<string, any> }} short */
export function expand({ name, tags, versions }) {
  const full = {};
  for (const [version, { dist, ...manifest }] of Object.entries(versions)) {
    full[version] = { name, version, ...manifest, dist: { tarball: usualTarball(name, version), ...dist } };
  }
  return { name, 'dist-tags': tags, versions: full };
}

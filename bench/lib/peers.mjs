// The peers, by pinned version from the registry that npm is configured with, in a cache folder.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { benchFolder, cacheFolder, peersFolder, say } from './paths.mjs';

const manifest = join(benchFolder, 'peers', 'package.json');
const pinned = () => JSON.parse(readFileSync(manifest, 'utf8'));

/** Versions that peers/package.json names. @returns {Record<string, string>} */
export const peerVersions = () => pinned().dependencies;
/** The same of those that run in a page. @returns {Record<string, string>} */
export const browserPeerVersions = () => pinned().browserPeers;

/** Where those that run in a page are, with what stands in for Node's modules. */
export const browserPeersFolder = join(cacheFolder, 'browser-peers');

/** Installs the peers unless these versions are there. */
export const providePeers = () => provide(peersFolder, peerVersions());

/** Installs those that run in a page unless these versions are there. */
export const provideBrowserPeers = () =>
  provide(browserPeersFolder, { ...browserPeerVersions(), ...pinned().browserPolyfills });

/** @param {string} folder @param {Record<string, string>} dependencies */
function provide(folder, dependencies) {
  const text = `${JSON.stringify({ name: 'gantry-bench-peers', private: true, dependencies }, null, 2)}\n`;
  const installed = join(folder, 'package.json');
  const done = join(folder, 'node_modules', '.package-lock.json');
  if (existsSync(done) && existsSync(installed) && readFileSync(installed, 'utf8') === text) return;
  say('peers', `installing into ${folder}`);
  mkdirSync(folder, { recursive: true });
  rmSync(done, { force: true });
  writeFileSync(installed, text);
  const words = ['install', '--ignore-scripts', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', words, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
}

const bits = () => `${process.platform}-${process.arch}`;

/**
 * The programs themselves. Their packages on npm are small Node scripts around a program in a platform package, put in
 * place by an install script; starting the program directly spares every peer the start of Node.
 */
export const programs = {
  bun: () =>
    program('@oven', `bun-${process.platform}-${process.arch === 'arm64' ? 'aarch64' : process.arch}`, 'bin', 'bun'),
  pnpm: () => program('@pnpm', `exe.${bits()}`, 'pnpm'),
  utoo: () => program('@utoo', `utoo-${bits()}`, 'bin', 'utoo'),
  npm: () => program('npm', 'bin', 'npm-cli.js'),
};

/** @param {string[]} path */
function program(...path) {
  const file = join(peersFolder, 'node_modules', ...path);
  if (!existsSync(file)) throw new Error(`${file} is missing: remove ${peersFolder} and try again`);
  return file;
}

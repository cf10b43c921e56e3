// The peers, by pinned version from the registry that npm is configured with, in a cache folder.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { benchFolder, peersFolder, say } from './paths.mjs';

const manifest = join(benchFolder, 'peers', 'package.json');

/** Versions that peers/package.json names. @returns {Record<string, string>} */
export const peerVersions = () => JSON.parse(readFileSync(manifest, 'utf8')).dependencies;

/** Installs the peers unless these versions are there. */
export function providePeers() {
  const installed = join(peersFolder, 'package.json');
  const done = join(peersFolder, 'node_modules', '.package-lock.json');
  const fresh = existsSync(done) && existsSync(installed);
  if (fresh && readFileSync(installed, 'utf8') === readFileSync(manifest, 'utf8')) return;
  say('peers', `installing into ${peersFolder}`);
  mkdirSync(peersFolder, { recursive: true });
  copyFileSync(manifest, installed);
  const words = ['install', '--ignore-scripts', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', words, { cwd: peersFolder, stdio: ['ignore', 'ignore', 'inherit'] });
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

// What is committed of a recording: documents and npm's locks, compressed in few large pieces because neighbours have
// much in common, and tarballs as they are. Unpacking gives the folder that the replay registry serves.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';
import { dataFolder } from './places.mjs';
import { expand } from './recording/fields.mjs';
import { readTarball, stored, tarballNames } from './recording/raw.mjs';

/** Text in one piece: as much as the compressor can look back. */
const PIECE = 16 << 20;
const locksFile = join(dataFolder, 'locks.br');
const aboutFile = join(dataFolder, 'recording.json');

/**
 * What npm made of a project: its lock with the placeholder as the registry's address, or the code of its error.
 * @typedef {{ name: string, text?: string, error?: string }} Frozen
 * @typedef {{ npm: string, node: string, recorded: string, documents: number, versions: number, tarballs: number,
 *   bytes: number }} About
 */

/** @param {string} text */
function compress(text) {
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_LGWIN, BROTLI_PARAM_SIZE_HINT } = constants;
  const bytes = Buffer.from(text);
  const params = { [BROTLI_PARAM_QUALITY]: 11, [BROTLI_PARAM_LGWIN]: 24, [BROTLI_PARAM_SIZE_HINT]: bytes.length };
  return brotliCompressSync(bytes, { params });
}

/** @param {string} file @returns {any[]} one value a line */
const readLines = (file) =>
  brotliDecompressSync(readFileSync(file))
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

/** Replaces the documents and tarballs. @param {object[]} documents short forms, sorted by name
 * @param {[string, Buffer][]} tarballs by `name/file` */
export function writeRecording(documents, tarballs) {
  rmSync(dataFolder, { recursive: true, force: true });
  mkdirSync(dataFolder, { recursive: true });
  let piece = '';
  let number = 0;
  const finish = () => {
    const name = `documents-${String(number++).padStart(2, '0')}.br`;
    writeFileSync(join(dataFolder, name), compress(piece));
    piece = '';
  };
  for (const document of documents) {
    piece += `${JSON.stringify(document)}\n`;
    if (piece.length > PIECE) finish();
  }
  if (piece !== '') finish();
  writeFiles(
    dataFolder,
    tarballs.map((tarball) => stored.tarball(...tarball)),
  );
}

/** @param {Frozen[]} locks */
export const writeLocks = (locks) =>
  writeFileSync(locksFile, compress(locks.map((lock) => `${JSON.stringify(lock)}\n`).join('')));

/** @returns {Map<string, Frozen>} */
export const readLocks = () => new Map(readLines(locksFile).map((lock) => [lock.name, lock]));

/** @param {Omit<About, 'tarballs' | 'bytes'>} about */
export function writeAbout(about) {
  const files = readdirSync(dataFolder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const bytes = files
    .filter(({ name }) => name !== 'recording.json')
    .reduce((sum, entry) => sum + readFileSync(join(entry.parentPath, entry.name)).length, 0);
  const tarballs = files.filter(({ name }) => name.endsWith('.tgz')).length;
  writeFileSync(aboutFile, `${JSON.stringify({ ...about, tarballs, bytes }, undefined, 2)}\n`);
}

/** @returns {About} */
export const readAbout = () => JSON.parse(readFileSync(aboutFile, 'utf8'));

/** Unpacks everything into a folder that the replay registry can serve. @param {string} folder */
export function unpackRecording(folder) {
  for (const name of readdirSync(dataFolder).sort()) {
    if (!/^documents-\d+\.br$/.test(name)) continue;
    writeFiles(
      folder,
      readLines(join(dataFolder, name)).map((short) => stored.document(short.name, expand(short))),
    );
  }
  if (!existsSync(join(dataFolder, 'tarballs'))) return;
  const tarballs = tarballNames(dataFolder).map((name) => stored.tarball(name, readTarball(dataFolder, name)));
  writeFiles(folder, tarballs);
}

/** @param {string} folder @param {[string, Buffer][]} files by relative path */
function writeFiles(folder, files) {
  const made = new Set();
  for (const [path, bytes] of files) {
    const parent = dirname(join(folder, path));
    if (!made.has(parent)) mkdirSync(parent, { recursive: true });
    made.add(parent);
    writeFileSync(join(folder, path), bytes);
  }
}

// The recording as it came: the files of the replay registry.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';

/** @param {string} folder @param {string} [ending] */
function filesBelow(folder, ending = '') {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending) && !entry.name.startsWith('.new-'))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

/** Names are kept with everything that a file system may treat specially as `%XX`. @param {string} name */
const fileName = (name) =>
  name
    .split('/')
    .map((part) =>
      part.replace(/[^a-z0-9\-_.@+~]/g, (mark) =>
        [...Buffer.from(mark)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
      ),
    )
    .join('/');

/** Names of all documents of a recording. @param {string} recording */
export const documentNames = (recording) =>
  filesBelow(join(recording, 'packuments'), '.json.gz').map((path) => decodeURIComponent(path.slice(0, -8)));

/** @param {string} name */
const documentFile = (name) => join('packuments', `${fileName(name)}.json.gz`);

/** A full document. @param {string} recording @param {string} name */
export const readDocument = (recording, name) =>
  JSON.parse(gunzipSync(readFileSync(join(recording, documentFile(name)))).toString('utf8'));

/** Tarballs as `name/file`. @param {string} recording */
export const tarballNames = (recording) => filesBelow(join(recording, 'tarballs')).map(decodeURIComponent);

/** @param {string} recording @param {string} tarball `name/file` */
export const readTarball = (recording, tarball) => readFileSync(join(recording, 'tarballs', fileName(tarball)));

/** Files of a recording by path, for one document and one tarball. */
export const stored = {
  /** @param {string} name @param {any} document @returns {[string, Buffer]} */
  document: (name, document) => [documentFile(name), gzipSync(JSON.stringify(document), { level: 1 })],
  /** @param {string} tarball `name/file` @param {Buffer} bytes @returns {[string, Buffer]} */
  tarball: (tarball, bytes) => [join('tarballs', fileName(tarball)), bytes],
};

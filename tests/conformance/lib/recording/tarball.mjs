// Tarballs of packages that bundle others: npm unpacks them when it resolves, but reads only the manifests in them.
//
// They are made anew with those files alone (aws-cdk-lib shrinks from tens of megabytes to some kilobytes). A new tarball
// has a new integrity, and the document that is kept beside it says that one.
import { createHash } from 'node:crypto';
import { constants, gzipSync } from 'node:zlib';
import { tarballFiles } from '../../../../bench/lib/tarball.mjs';

/** Files that decide what npm writes about a bundled package. */
const READ = ['package.json', 'npm-shrinkwrap.json', 'binding.gyp', '.package-lock.json'];
const BLOCK = 512;

/** @param {Buffer} bytes a package's tarball @returns {Buffer} */
export function reduceTarball(bytes) {
  const read = [...tarballFiles(bytes)].filter(([path]) => READ.includes(path.slice(path.lastIndexOf('/') + 1)));
  return gzipSync(tarOf(new Map(read)), { level: constants.Z_BEST_COMPRESSION });
}

/** An archive of a package's files, in the order of their paths. @param {Map<string, Buffer>} files @returns {Buffer} */
export function tarOf(files) {
  const blocks = [];
  for (const [path, body] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const name = Buffer.from(`package/${path}`);
    // Only names longer than the field need an entry of their own in front.
    if (name.length > 100) blocks.push(header('././@LongLink', name.length + 1, 'L'), padded(name, 1));
    blocks.push(header(name.toString('utf8', 0, 100), body.length, '0'), padded(body));
  }
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]);
}

/** Fills up to whole blocks, with at least so many zeros. @param {Buffer} body @param {number} [least] */
const padded = (body, least = 0) =>
  Buffer.concat([body, Buffer.alloc(least), Buffer.alloc((BLOCK - ((body.length + least) % BLOCK)) % BLOCK)]);

/** @param {string} name @param {number} size @param {string} kind */
function header(name, size, kind) {
  const block = Buffer.alloc(BLOCK);
  const octal = (value, length) => `${value.toString(8).padStart(length - 1, '0')}\0`;
  block.write(name, 0, 100);
  block.write(octal(0o644, 8) + octal(0, 8) + octal(0, 8) + octal(size, 12) + octal(499162500, 12), 100, 'latin1');
  block.write(`        ${kind}`, 148, 'latin1');
  block.write('ustar\x0000', 257, 'latin1');
  block.write(
    `${octal(
      block.reduce((sum, byte) => sum + byte, 0),
      7,
    )} `,
    148,
    'latin1',
  );
  return block;
}

/** @param {Buffer} bytes */
export const integrityOf = (bytes) => `sha512-${createHash('sha512').update(bytes).digest('base64')}`;

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
  const blocks = [];
  for (const [path, body] of [...tarballFiles(bytes)].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (!READ.includes(path.slice(path.lastIndexOf('/') + 1))) continue;
    // Only names longer than the field need an entry of their own in front.
    if (path.length + 8 > 100) {
      const name = Buffer.from(`package/${path}\0`);
      blocks.push(header('././@LongLink', name.length, 'L'), padded(name));
    }
    blocks.push(header(`package/${path}`.slice(0, 100), body.length, '0'), padded(body));
  }
  blocks.push(Buffer.alloc(2 * BLOCK));
  return gzipSync(Buffer.concat(blocks), { level: constants.Z_BEST_COMPRESSION });
}

/** @param {Buffer} body */
const padded = (body) => Buffer.concat([body, Buffer.alloc((BLOCK - (body.length % BLOCK)) % BLOCK)]);

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

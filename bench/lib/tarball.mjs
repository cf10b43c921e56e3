// Files of a package tarball, read plainly and without any of Gantry's code: it is the judge of file contents.
import { gunzipSync } from 'node:zlib';

/** Regular files by path below the package's folder. @param {Buffer} bytes @returns {Map<string, Buffer>} */
export function tarballFiles(bytes) {
  const tar = gunzipSync(bytes);
  const files = new Map();
  let longName;
  for (let at = 0; at + 512 <= tar.length && tar[at] !== 0; ) {
    const header = tar.subarray(at, at + 512);
    const size = octal(header.subarray(124, 136));
    const body = tar.subarray(at + 512, at + 512 + size);
    const kind = String.fromCharCode(header[156]);
    at += 512 + Math.ceil(size / 512) * 512;
    if (kind === 'x') longName = paxPath(body) ?? longName;
    else if (kind === 'L') longName = text(body);
    else if (kind !== 'g') {
      if (kind === '0' || kind === '\0') files.set(inPackage(longName ?? ustarName(header)), body);
      longName = undefined;
    }
  }
  return files;
}

const text = (bytes) => bytes.toString('utf8').replace(/\0.*$/s, '');
const octal = (bytes) => Number.parseInt(text(bytes).trim() || '0', 8);
const inPackage = (name) => name.slice(name.indexOf('/') + 1);

function ustarName(header) {
  const name = text(header.subarray(0, 100));
  const prefix = text(header.subarray(257, 262)) === 'ustar' ? text(header.subarray(345, 500)) : '';
  return prefix ? `${prefix}/${name}` : name;
}

function paxPath(body) {
  for (let at = 0; at < body.length; ) {
    const length = Number.parseInt(body.toString('latin1', at, body.indexOf(32, at)), 10);
    const record = body.toString('utf8', body.indexOf(32, at) + 1, at + length - 1);
    if (record.startsWith('path=')) return record.slice(5);
    at += length;
  }
  return undefined;
}

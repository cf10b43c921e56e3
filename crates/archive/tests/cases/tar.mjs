// Builds tar archives byte by byte, right or wrong as wanted.

import { gzipSync } from 'node:zlib';

const octal = (value, width) => value.toString(8).padStart(width - 1, '0') + '\0';
export const bytes = (value) => (Buffer.isBuffer(value) ? value : Buffer.from(value));
export const padded = (body) => Buffer.concat([body, Buffer.alloc((512 - (body.length % 512)) % 512)]);
export const end = Buffer.alloc(1024);

/** One header block. `raw` overwrites bytes before the checksum is computed, `after` once it is. */
export function header(
  path,
  { type = '0', size = 0, mode = 0o644, link = '', magic = 'ustar\x0000', prefix = '', raw = [], after = [] } = {},
) {
  const block = Buffer.alloc(512);
  bytes(path).copy(block, 0, 0, 100);
  if (mode !== undefined && mode !== null) block.write(octal(mode, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(size, 12), 124);
  block.write(octal(499162500, 12), 136);
  block.write(type, 156);
  bytes(link).copy(block, 157, 0, 100);
  block.write(magic, 257);
  bytes(prefix).copy(block, 345, 0, 155);
  for (const [offset, value] of raw) bytes(value).copy(block, offset);
  block.fill(' ', 148, 156);
  block.write(
    octal(
      block.reduce((sum, byte) => sum + byte, 0),
      7,
    ) + ' ',
    148,
  );
  for (const [offset, value] of after) bytes(value).copy(block, offset);
  return block;
}

/** A header and its body. */
export const file = (path, body = '', options = {}) =>
  Buffer.concat([header(path, { size: bytes(body).length, ...options }), padded(bytes(body))]);

const paxLine = (key, value) => {
  const rest = Buffer.concat([Buffer.from(` ${key}=`), bytes(value), Buffer.from('\n')]);
  let length = rest.length;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
};
export const pax = (records, type = 'x') =>
  file('PaxHeader/x', Buffer.concat(Object.entries(records).map(([key, value]) => paxLine(key, value))), { type });
export const long = (path, type = 'L') =>
  file('././@LongLink', Buffer.concat([bytes(path), Buffer.alloc(1)]), { type });
export const tar = (...parts) => Buffer.concat([...parts, end]);
export const tgz = (...parts) => gzip(tar(...parts));
export const gzip = (data) => {
  const packed = gzipSync(data, { level: 9 });
  packed[9] = 255; // the system that made it
  return packed;
};

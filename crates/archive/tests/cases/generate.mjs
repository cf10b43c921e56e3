// Writes npm.json: odd tarballs and what npm leaves on disk of each.
//
// Every tarball is built byte by byte, served on a loopback port and extracted by the pacote that npm carries.
// Run it with the npm that is the judge: `node generate.mjs`. The result depends on nothing of the machine.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { end, file, gzip, header, long, padded, pax, tar, tgz } from './tar.mjs';

const npm = join(execFileSync('npm', ['root', '-g'], { encoding: 'utf8' }).trim(), 'npm', 'package.json');
const pacote = createRequire(npm)('pacote');
process.umask(0o022);

const manifest = file('package/package.json', '{"name":"x","version":"1.0.0"}');

// --- the cases ------------------------------------------------------------------------------------------------------

const cases = {
  'an ordinary package': tgz(manifest, file('package/lib/a.js', 'a'), file('package/bin/x', '#!x', { mode: 0o755 })),
  'several roots are merged': tgz(manifest, file('other/a', 'a'), file('third/lib/b', 'b')),
  'one component vanishes': tgz(manifest, file('top', 'x'), file('package', 'y')),
  'a leading dot is the component that is stripped': tgz(file('./package/x', 'x'), file('./y', 'y')),
  'an absolute path loses its root only': tgz(file('/package/x', 'x'), file('//package/y', 'y')),
  'a leading dot-dot is stripped like any other': tgz(file('../evil', 'x'), file('../../evil2', 'x')),
  'dot-dot inside drops the entry': tgz(
    manifest,
    file('package/../x', 'x'),
    file('package/a/../../y', 'y'),
    file('package/a/..', 'z'),
    file('package/..b', 'b'),
  ),
  'dot-dot between backslashes drops the entry': tgz(
    manifest,
    file('package/..\\x', 'x'),
    file('package/a\\..\\x', 'x'),
    file('package/a\\b', 'kept'),
  ),
  'roots of Windows are cut': tgz(
    file('package/c:/x', 'x'),
    file('package/d:y', 'y'),
    file('package/\\\\server\\share\\z', 'z'),
    file('package/\\w', 'w'),
    file('package/cc:v', 'v'),
    file('package///?/C:/u', 'u'),
  ),
  'dots and empty components vanish': tgz(
    file('package//a/./b', 'b'),
    file('package/./c', 'c'),
    file('package/.', 'd'),
  ),
  'links and devices are left out': tgz(
    manifest,
    file('package/s', '', { type: '2', link: '/etc/passwd' }),
    file('package/h', '', { type: '1', link: 'package/package.json' }),
    file('package/c', '', { type: '3' }),
    file('package/b', '', { type: '4' }),
    file('package/f', '', { type: '6' }),
    file('package/s/inside', 'fine'),
  ),
  'a link without a target is passed over': tgz(file('package/s', '', { type: '2' }), manifest),
  'a file with a link target is passed over': tgz(file('package/a', '', { link: 'b' }), manifest),
  'a file with a link target and a body that looks like a file': tgz(
    file('package/a', file('package/smuggled', 'x'), { link: 'b' }),
    manifest,
  ),
  'folders are not made': tgz(
    manifest,
    file('package/empty/', '', { type: '5' }),
    file('package/old/', ''),
    file('package/d', '', { type: '5', size: 700 }),
    file('package/after', 'x'),
  ),
  'a dumped folder has a body': tgz(file('package/d/', 'names of files', { type: 'D' }), file('package/after', 'x')),
  'old and contiguous files are files': tgz(
    file('package/nul', 'nul', { type: '\0' }),
    file('package/seven', 'seven', { type: '7' }),
    file('package/slash/', 'slash', { type: '7' }),
  ),
  'unknown types are left out with their bodies': tgz(
    ...['S', 'V', 'A', 'I', 'M', 'Z', '8'].map((type) => file(`package/${type}`, 'body', { type })),
    manifest,
  ),
  'a pax path replaces the name': tgz(
    pax({ path: `package/${'long/'.repeat(60)}name` }),
    file('package/short', 'x'),
    manifest,
  ),
  'a pax path also replaces the prefix': tgz(
    pax({ path: 'package/from-pax' }),
    file('name', 'x', { prefix: 'package/prefix' }),
  ),
  'a pax path may be empty': tgz(pax({ path: '' }), file('package/name', 'x'), manifest),
  'a pax path ends at a NUL': tgz(pax({ path: 'package/a\0b' }), file('package/name', 'x')),
  'a pax path with an equals sign and a newline': tgz(
    pax({ path: 'package/a=b' }),
    file('package/x', 'x'),
    pax({ path: 'package/c\nd' }),
    file('package/y', 'y'),
  ),
  'a pax size replaces the size': tgz(
    pax({ size: '5' }),
    header('package/a', { size: 0 }),
    padded(Buffer.from('12345')),
    manifest,
  ),
  'an empty pax size is zero': tgz(pax({ size: '' }), header('package/a', { size: 512 }), manifest),
  'pax headers add up': tgz(
    pax({ path: 'package/first' }),
    pax({ size: '3' }),
    header('package/a', { size: 0 }),
    padded(Buffer.from('abc')),
    manifest,
  ),
  'a pax header is used once': tgz(pax({ path: 'package/once' }), file('package/a', 'a'), file('package/b', 'b')),
  'a pax header passes by a link to nothing': tgz(
    pax({ path: 'package/kept' }),
    file('package/s', '', { type: '2' }),
    file('package/a', 'a'),
  ),
  'a pax header is used up by a folder': tgz(
    pax({ path: 'package/kept' }),
    file('package/d/', '', { type: '5' }),
    file('package/a', 'a'),
  ),
  'a global pax header gives no path but a size': tgz(
    pax({ path: 'package/global', size: '3', comment: 'x' }, 'g'),
    header('package/a', { size: 9 }),
    padded(Buffer.from('abcdefghi')),
    header('package/b', { size: 0 }),
    padded(Buffer.from('xyz')),
  ),
  'a record of wrong length is passed over': tgz(
    file('PaxHeader/x', '99 path=package/wrong\n', { type: 'x' }),
    file('package/right', 'x'),
  ),
  'a pax path that is not UTF-8 is passed over': tgz(
    pax({ path: Buffer.from('package/\xff', 'latin1') }),
    file('package/plain', 'x'),
  ),
  'an old pax header is one': tgz(pax({ path: 'package/from-pax' }, 'X'), file('package/a', 'a')),
  'a pax header too large is passed over': tgz(
    pax({ comment: 'x'.repeat(1 << 20), path: 'package/from-pax' }),
    file('package/a', 'a'),
  ),
  'a pax size does not apply to a long name': tgz(
    pax({ size: '3' }),
    long('package/long'),
    header('package/a', { size: 0 }),
    padded(Buffer.from('abc')),
    manifest,
  ),
  'GNU long names': tgz(
    long(`package/${'deep/'.repeat(40)}name`),
    file('package/short', 'x'),
    long('target', 'K'),
    file('package/after', 'y'),
    long('package/old', 'N'),
    file('package/z', 'z'),
  ),
  'the last of a pax path and a long name': tgz(
    pax({ path: 'package/pax' }),
    long('package/gnu'),
    file('package/a', 'a'),
    long('package/gnu2'),
    pax({ path: 'package/pax2' }),
    file('package/b', 'b'),
  ),
  'a prefix goes before the name': tgz(
    file('name', 'x', { prefix: 'package/dir' }),
    file('end', 'y', { prefix: `package/${'p'.repeat(142)}/qqqq` }),
    file('old', 'z', { prefix: 'package/ignored', magic: '\0\0\0\0\0\0\0\0' }),
    file('package/gnu', 'w', { prefix: 'package/ignored', magic: 'ustar  \0' }),
  ),
  'a prefix without a name': tgz(file('', 'x', { prefix: 'package/only' }), file('', 'nothing'), manifest),
  'base-256 numbers': tgz(
    header('package/a', { raw: [[124, Buffer.from([0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3])]] }),
    padded(Buffer.from('abc')),
    file('package/b', 'b', { raw: [[136, Buffer.alloc(12, 0xff)]] }),
    file('package/bad', '', { raw: [[136, Buffer.from([0x81])]] }),
    file('package/huge', '', { raw: [[136, Buffer.from([0x80, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])]] }),
    manifest,
  ),
  'a negative size is none': tgz(header('package/a', { raw: [[124, Buffer.alloc(12, 0xff)]] }), manifest),
  'sizes with spaces': tgz(
    header('package/a', { raw: [[124, '         3 \0']] }),
    padded(Buffer.from('abc')),
    header('package/b', { raw: [[124, '3          \0']] }),
    padded(Buffer.from('def')),
    header('package/none', { raw: [[124, 'x\0']] }),
    manifest,
  ),
  'a wrong checksum passes over the header': tgz(
    file('package/bad', 'text of the file', { after: [[148, '000001\0 ']] }),
    manifest,
  ),
  'behind a wrong checksum blocks are read as headers': tgz(
    file('package/bad', file('package/smuggled', 'x'), { after: [[148, '000001\0 ']] }),
    manifest,
  ),
  'a wrong checksum and a body of zeros': gzip(
    Buffer.concat([
      manifest,
      file('package/bad', Buffer.alloc(1024), { after: [[148, '000001\0 ']] }),
      file('package/after', 'x'),
      end,
    ]),
  ),
  'one block of zeros is passed over': tgz(manifest, Buffer.alloc(512), file('package/a', 'a')),
  'two blocks of zeros are the end': tgz(manifest, Buffer.alloc(1024), file('package/a', 'a')),
  'no blocks of zeros are needed': gzip(Buffer.concat([manifest, file('package/a', 'a')])),
  'a rest smaller than a block is ignored': gzip(Buffer.concat([manifest, end, Buffer.from('rest')])),
  'a rest smaller than a block without an end': gzip(Buffer.concat([manifest, Buffer.from('rest')])),
  'gitignore becomes npmignore': tgz(
    manifest,
    file('package/.gitignore', 'git'),
    file('package/lib/.gitignore', 'lib'),
    file('package/a.gitignore', 'a'),
  ),
  'gitignore after npmignore is dropped': tgz(
    file('package/.npmignore', 'npm'),
    file('package/.gitignore', 'git'),
    file('package/lib/.gitignore', 'lib'),
  ),
  'gitignore before npmignore is replaced': tgz(file('package/.gitignore', 'git'), file('package/.npmignore', 'npm')),
  'gitignore of another root replaces npmignore': tgz(
    file('package/.npmignore', 'npm'),
    file('other/.gitignore', 'git'),
  ),
  'the last duplicate wins with the first mode': tgz(
    file('package/a', 'one', { mode: 0o755 }),
    file('other/a', 'two'),
    file('package/b', 'one'),
    file('package/b', 'two', { mode: 0o755 }),
    file('package/c', 'one', { mode: 0o755 }),
    file('package/c', 'two', { type: '7' }),
  ),
  'a file before a folder of that name': tgz(
    file('package/a', 'file'),
    file('package/a/b', 'x'),
    file('package/a/b/c', 'y'),
    file('package/a-', 'z'),
  ),
  'a folder before a file of that name': tgz(
    file('package/a/b', 'x'),
    file('package/a', 'file'),
    file('package/a/b/c', 'y'),
  ),
  'names too long are dropped': tgz(
    pax({ path: `package/${'n'.repeat(256)}` }),
    file('package/x', 'x'),
    pax({ path: `package/${'n'.repeat(255)}` }),
    file('package/x', 'kept'),
    pax({ path: `package/${'é'.repeat(128)}` }),
    file('package/x', 'x'),
    manifest,
  ),
  'paths too deep are dropped': tgz(
    pax({ path: `package/${'d/'.repeat(1024)}f` }),
    file('package/x', 'x'),
    pax({ path: `package/${'d/'.repeat(1023)}f` }),
    file('package/x', 'kept'),
  ),
  'names that are not UTF-8': tgz(
    file(Buffer.from('package/\xe9t\xe9', 'latin1'), 'x'),
    file('package/été', 'y'),
    file(Buffer.from('package/\xf0\x9f\x98x', 'latin1'), 'z'),
  ),
  'names that differ in case': tgz(file('package/Readme', 'x'), file('package/README', 'y')),
  'a name of a hundred bytes': tgz(
    file('package/' + 'n'.repeat(92), 'x'),
    file('package/' + 'm'.repeat(91) + 'é', 'y'),
  ),
  modes: tgz(
    ...[0o644, 0o755, 0o744, 0o711, 0o655, 0o4755, 0o600, 0, null].map((mode) =>
      file(`package/${mode === null ? 'none' : mode.toString(8)}`, 'x', { mode }),
    ),
  ),
  'empty files': tgz(file('package/empty', ''), file('package/x', 'x')),
  'nested node_modules': tgz(
    manifest,
    file('package/node_modules/y/package.json', '{"name":"y"}'),
    file('package/node_modules/y/i.js', 'y'),
  ),
  'a broken package.json': tgz(file('package/package.json', '{')),
  'a plain tar': tar(manifest, file('package/a', 'a')),
  'two members': Buffer.concat([gzip(manifest), gzip(Buffer.concat([file('package/a', 'a'), end]))]),
  'two members cut within a file': Buffer.concat([
    gzip(tar(manifest).subarray(0, 700)),
    gzip(tar(manifest).subarray(700)),
  ]),
  'every optional part of a gzip header': Buffer.concat([
    Buffer.from([0x1f, 0x8b, 8, 30, 0, 0, 0, 0, 0, 255, 3, 0, 1, 2, 3]),
    Buffer.from('name\0comment\0'),
    (() => {
      // The header's own checksum is the low half of the CRC-32 of what came before, taken from a gzip trailer.
      const head = Buffer.concat([
        Buffer.from([0x1f, 0x8b, 8, 30, 0, 0, 0, 0, 0, 255, 3, 0, 1, 2, 3]),
        Buffer.from('name\0comment\0'),
      ]);
      return gzipSync(head).subarray(-8, -6);
    })(),
    tgz(manifest).subarray(10),
  ]),
  'zeros after the stream': Buffer.concat([tgz(manifest), Buffer.alloc(100)]),
  'garbage after the stream': Buffer.concat([tgz(manifest), Buffer.from('garbage')]),
  'garbage after the stream that starts like gzip': Buffer.concat([tgz(manifest), Buffer.from([0x1f, 0x8b])]),
  'an unknown compression method': Buffer.from([0x1f, 0x8b, 7, 0, 0, 0, 0, 0, 0, 255, 1, 2, 3]),
  'reserved flags': Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 0x80, 0, 0, 0, 0, 0, 255]), tgz(manifest).subarray(10)]),
  'a truncated stream': tgz(manifest, file('package/a', 'a'.repeat(5000))).subarray(0, 120),
  'a truncated trailer': tgz(manifest).subarray(0, -3),
  'a wrong checksum in the trailer': (() => {
    const data = tgz(manifest);
    data[data.length - 8] ^= 1;
    return data;
  })(),
  'a wrong length in the trailer': (() => {
    const data = tgz(manifest);
    data[data.length - 2] ^= 1;
    return data;
  })(),
  'damage in the stream': (() => {
    const data = tgz(manifest);
    data[30] ^= 0xff;
    return data;
  })(),
  'an archive cut within a file': gzip(
    Buffer.concat([manifest, file('package/a', 'a'.repeat(2000)).subarray(0, 1500)]),
  ),
  'an archive cut within the padding': gzip(Buffer.concat([manifest, file('package/a', 'abc').subarray(0, 600)])),
  'an archive cut behind a header': gzip(Buffer.concat([manifest, header('package/a', { size: 3 })])),
  'a plain archive cut within a file': Buffer.concat([manifest, file('package/a', 'a'.repeat(2000)).subarray(0, 1500)]),
  'an empty body': Buffer.alloc(0),
  'a stream of nothing': gzip(Buffer.alloc(0)),
  'a page instead of an archive': Buffer.from('<!doctype html>' + '<p>not found</p>'.repeat(60)),
  'a compressed page instead of an archive': gzip(Buffer.from('<!doctype html>' + '<p>not found</p>'.repeat(60))),
  'a few bytes': Buffer.from('x'),
  'the start of gzip only': Buffer.from([0x1f, 0x8b]),
  'an archive of nothing': tgz(),
  'one block of zeros only': gzip(Buffer.alloc(512)),
  'folders only': tgz(file('package/', '', { type: '5' })),
};

// --- asking npm -----------------------------------------------------------------------------------------------------

function listing(root, prefix = '') {
  const found = [];
  for (const name of readdirSync(join(root, prefix))) {
    const path = prefix ? `${prefix}/${name}` : name;
    const status = lstatSync(join(root, path));
    if (status.isDirectory()) {
      found.push(...listing(root, path));
    } else {
      found.push({ path, executable: (status.mode & 0o111) !== 0, contents: readFileSync(join(root, path), 'utf8') });
    }
  }
  return found;
}

const byBytes = (left, right) => Buffer.compare(Buffer.from(left.path), Buffer.from(right.path));
const scratch = mkdtempSync(join(tmpdir(), 'archive-cases-'));
let body = Buffer.alloc(0);
const server = createServer((_, response) => response.end(body));
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${server.address().port}/`;

const results = [];
let number = 0;
for (const [name, tarball] of Object.entries(cases)) {
  body = tarball;
  const target = join(scratch, String(++number));
  const options = {
    cache: join(scratch, 'cache'),
    integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
    fetchRetries: 0,
  };
  const result = { name, tarball: tarball.toString('base64') };
  try {
    await pacote.extract(`${origin}${number}.tgz`, target, options);
    result.files = listing(target).sort(byBytes);
  } catch (error) {
    result.error = error.code;
  }
  results.push(result);
}
server.close();
rmSync(scratch, { recursive: true });
writeFileSync(
  new URL('npm.json', import.meta.url),
  `[\n${results.map((result) => JSON.stringify(result)).join(',\n')}\n]\n`,
);

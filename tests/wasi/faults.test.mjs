// What can go wrong under WASI: each failure has its code, and nothing half-made is ever to be seen.
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { fixturesForSuite } from '../cli/lib/programs.mjs';
import { underNode, underShim, underWasmtime } from './lib/hosts.mjs';
import { CI, folderInMemory, Prepared } from './lib/projects.mjs';
import { copyOf, memoryFolder, pathsIn } from './lib/shim-host.mjs';

const FILES = {
  'package.json': { name: 'project', version: '1.0.0', dependencies: { '@scope/middle': '^1.0.0', right: '1' } },
};
const ERRNO = { IO: 29, NOSPC: 51 };
/** The host's functions that change something. */
const CHANGES = [
  'fd_write',
  'fd_sync',
  'fd_datasync',
  'fd_filestat_set_size',
  'path_create_directory',
  'path_open',
  'path_rename',
  'path_unlink_file',
  'path_remove_directory',
];
const OFLAGS_CREAT = 1;

/** A host whose functions fail as `rule` says: it is given the function's name and words, and gives an error or undefined. */
const failing = (rule) => (functions) => {
  const changed = { ...functions };
  for (const name of CHANGES) {
    changed[name] = (...words) => {
      const isConsole = name === 'fd_write' && words[0] < 3;
      const onlyReads = name === 'path_open' && !(words[4] & OFLAGS_CREAT);
      return (isConsole || onlyReads ? undefined : rule(name, words)) ?? functions[name](...words);
    };
  }
  return changed;
};

/** Bytes that a call of `fd_write` wants to write. */
function lengthOfWrite([, vectors, count], memory) {
  const view = new DataView(memory.buffer);
  return Array.from({ length: count }, (_, index) => view.getUint32(vectors + 8 * index + 4, true)).reduce(
    (a, b) => a + b,
    0,
  );
}

/** The error that a run told, as its last line of JSON. */
function failure(result) {
  assert.notEqual(result.status, 0, result.stdout);
  assert.notEqual(result.status, 70, `it trapped: ${result.stderr}`);
  const { type, ...error } = result.lines.at(-1);
  assert.equal(type, 'error');
  return error;
}

describe('failures under WASI', { concurrency: 1 }, () => {
  const suite = fixturesForSuite();

  let prepared;
  let memory;
  const atTheEnd = [];
  before(async () => {
    prepared = new Prepared({ after: (action) => atTheEnd.push(action) }, suite.registry, FILES);
    const project = prepared.fresh();
    await prepared.feed(underNode, project);
    memory = {
      '/project': folderInMemory(project),
      '/store': new Map(),
      '/tarballs': folderInMemory(join(prepared.folder, 'tarballs')),
    };
  });
  test.after(() => atTheEnd.forEach((action) => void action()));

  /** Folders that share nothing with those of other tests. */
  const folders = () => Object.fromEntries(Object.entries(memory).map(([name, contents]) => [name, copyOf(contents)]));
  const paths = (own) => pathsIn(own['/project']);
  const digest = async (own) => (await underShim(['digest', '--prefix', '/project'], own)).succeeded().stdout.trim();
  const tarball = (own, name) => {
    const { packages } = JSON.parse(prepared.lock);
    const hex = Buffer.from(packages[`node_modules/${name}`].integrity.slice('sha512-'.length), 'base64').toString(
      'hex',
    );
    return [own['/tarballs'], `sha512-${hex}.tgz`];
  };
  const withLock = (own, change) => {
    const lock = JSON.parse(prepared.lock);
    change(lock);
    own['/project'].set('package-lock.json', memoryFolder({ lock: Buffer.from(JSON.stringify(lock)) }).get('lock'));
    return own;
  };

  for (const [host, run] of Object.entries({ 'node:wasi': underNode, wasmtime: underWasmtime })) {
    test(`${host}: a folder that is not opened is named, with the option that names another`, async () => {
      const opened = prepared.folders(prepared.fresh());
      for (const [name, option] of [
        ['/project', '--prefix'],
        ['/store', '--store-dir'],
        ['/tarballs', '--tarballs'],
      ]) {
        const { [name]: _, ...rest } = opened;
        const words = [...CI, '--tarballs', '/tarballs'];
        const { code, message, hint } = failure(await run(words, rest));
        assert.equal(code, 'PREOPEN_MISSING');
        assert.match(message, new RegExp(name));
        assert.match(hint, new RegExp(option));
      }
      assert.ok(!existsSync(join(opened['/project'], 'node_modules')));
    });
  }

  test('browser shim: the same', async () => {
    for (const name of ['/project', '/store', '/tarballs']) {
      const { [name]: _, ...rest } = folders();
      assert.equal(failure(await underShim([...CI, '--tarballs', '/tarballs'], rest)).code, 'PREOPEN_MISSING');
    }
  });

  test('a project and a store that may not be written say so; a full store that may only be read does', async () => {
    const project = prepared.fresh('read-only');
    const opened = prepared.folders(project, join(prepared.folder, 'store-read-only'));
    const before = readdirSync(project);
    assert.equal(failure(await underWasmtime(CI, opened, { readOnly: ['/store'] })).code, 'STORE_IO');
    assert.equal(failure(await underWasmtime(CI, opened, { readOnly: ['/project'] })).code, 'DISK_DENIED');
    assert.deepEqual(readdirSync(project), before);
    const inside = await underWasmtime([...CI, '--store-dir', '/project/store'], opened, { readOnly: ['/project'] });
    assert.equal(failure(inside).code, 'DISK_DENIED');
    // The store has got everything meanwhile.
    const { '/tarballs': _, ...withoutTarballs } = opened;
    (await underWasmtime(CI, withoutTarballs, { readOnly: ['/store'] })).succeeded();
    assert.ok(existsSync(join(project, 'node_modules', 'right', 'package.json')));
  });

  test('every tarball that is missing is told at once', async () => {
    const own = { ...folders(), '/tarballs': new Map() };
    const before = paths(own);
    const error = failure(await underShim(CI, own));
    assert.equal(error.code, 'REGISTRY_NOT_CACHED');
    const listed = JSON.parse((await underShim(['ci', '--print-missing', '--prefix', '/project'], own)).stdout);
    assert.deepEqual(error.missing, listed);
    assert.ok(listed.length > 2);
    assert.deepEqual(paths(own), before);
  });

  test('tarballs are found by the name of npm pack too', async () => {
    const own = folders();
    const missing = { ...own, '/tarballs': new Map() };
    const listed = JSON.parse((await underShim(['ci', '--print-missing', '--prefix', '/project'], missing)).stdout);
    for (const { name, version, file } of listed) {
      missing['/tarballs'].set(`${name.replace('@', '').replace('/', '-')}-${version}.tgz`, own['/tarballs'].get(file));
    }
    (await underShim(CI, missing)).succeeded();
    assert.equal(await digest(missing), prepared.digest);
  });

  for (const [what, change] of Object.entries({
    'a truncated tarball': (data) => data.slice(0, data.length / 2),
    'a tarball with one byte changed': (data) => data.with(data.length - 9, data.at(-9) ^ 1),
    'an empty tarball': () => new Uint8Array(),
  })) {
    test(`${what} is refused before a file is visible`, async () => {
      const own = folders();
      const [tarballs, file] = tarball(own, 'right');
      tarballs.get(file).data = change(tarballs.get(file).data);
      const before = paths(own);
      const result = await underShim(CI, own);
      const { code, package: name } = failure(result);
      assert.equal(code, 'ARCHIVE_INTEGRITY');
      assert.match(name, /^right@/);
      assert.equal(result.status, 5);
      assert.deepEqual(paths(own), before);
      assert.equal(
        failure(await underShim(['unpack', `/tarballs/${file}`, '/project/out', '--json'], own)).code.slice(0, 8),
        'ARCHIVE_',
      );
      assert.deepEqual(paths(own), before);
    });
  }

  test('locks that lie are refused, each with its code, and nothing is made', async () => {
    const lies = {
      LOCK_JSON: (own) => own['/project'].set('package-lock.json', memoryFolder({ a: Buffer.from('{') }).get('a')),
      LOCK_MISSING: (own) => own['/project'].delete('package-lock.json'),
      ARCHIVE_INTEGRITY: (own) =>
        withLock(own, ({ packages }) => {
          const entry = packages['node_modules/right'];
          // The tarball's own name, so that it is found, and another one's digest.
          const [tarballs, file] = tarball(own, 'right');
          tarballs.set(`right-${entry.version}.tgz`, tarballs.get(file));
          entry.integrity = packages['node_modules/@scope/middle'].integrity.replace(/^sha512-../, 'sha512-AA');
        }),
      LOCK_PATH: (own) =>
        withLock(own, ({ packages }) => {
          packages['node_modules/../../right'] = packages['node_modules/right'];
        }),
      LOCK_OUT_OF_SYNC: (own) =>
        withLock(own, ({ packages }) => {
          delete packages['node_modules/right'];
        }),
    };
    for (const [code, lie] of Object.entries(lies)) {
      const own = folders();
      lie(own);
      const before = paths(own);
      const result = await underShim(CI, own);
      assert.equal(failure(result).code, code, result.stdout);
      assert.deepEqual(paths(own), before, code);
    }
  });

  /** The tree is as it was: none, or the old one, whole; what is tried next works. */
  async function nothingHalfVisible(own, old, label) {
    const found = paths(own).filter((path) => !path.startsWith('.gantry-wasi'));
    assert.deepEqual(found, old, label);
    await nextTryWorks(own, label);
  }

  async function nextTryWorks(own, label) {
    (await underShim(CI, own)).succeeded();
    assert.equal(await digest(own), prepared.digest, label);
    assert.ok(!own['/project'].has('.gantry-wasi'), `${label}: nothing is left over`);
    (await underShim(['store', 'verify'], own)).succeeded();
    (await underShim(['verify', '--prefix', '/project'], own)).succeeded();
  }

  test('whichever change fails first: a code, the tree as it was, and the next try works', async () => {
    for (const hadTree of [false, true]) {
      let runs = 0;
      for (let nth = 1; ; nth += 1) {
        const own = folders();
        if (hadTree) {
          (await underShim(CI, own)).succeeded();
          own['/store'].clear();
        }
        const old = paths(own);
        let changes = 0;
        const rule = () => {
          changes += 1;
          return changes === nth ? ERRNO.IO : undefined;
        };
        const result = await underShim(CI, own, failing(rule));
        if (changes < nth) break;
        runs += 1;
        const label = `change ${nth}${hadTree ? ' over a tree' : ''}`;
        if (result.status === 0) {
          // Nothing depends on it, such as making way for what is old.
          assert.equal(await digest(own), prepared.digest, label);
          continue;
        }
        assert.match(failure(result).code, /^(DISK|STORE)_IO$/, label);
        await nothingHalfVisible(own, old, label);
      }
      assert.ok(runs > 20, `${runs} changes`);
    }
  });

  test('when from some change on all fail, the next command puts back what was there before it does anything', async () => {
    for (let nth = 1; ; nth += 1) {
      const own = folders();
      (await underShim(CI, own)).succeeded();
      const old = paths(own);
      let changes = 0;
      const rule = () => {
        changes += 1;
        return changes >= nth ? ERRNO.IO : undefined;
      };
      const result = await underShim(CI, own, failing(rule));
      if (changes < nth) break;
      const label = `from change ${nth} on`;
      if (result.status === 0) continue;
      assert.match(failure(result).code, /^(DISK|STORE)_IO$/, label);
      // Nothing new is to be had: this one only puts right what it finds.
      const nothing = { ...own, '/store': new Map(), '/tarballs': new Map() };
      assert.equal(failure(await underShim(CI, nothing)).code, 'REGISTRY_NOT_CACHED', label);
      assert.deepEqual(paths(own), old, label);
      await nextTryWorks(own, label);
    }
  });

  test('a file system that is full, wherever it fills up: a code, the tree as it was, and the next try works', async () => {
    const codes = new Set();
    for (let room = 0; ; room += 300) {
      const own = folders();
      const old = paths(own);
      let left = room;
      const full = (functions, memory) => {
        // From the first write that does not fit, nothing can be written any more.
        const rule = (name, words) => {
          if (name === 'fd_write') left -= lengthOfWrite(words, memory());
          const needsRoom = ['fd_write', 'path_open', 'path_create_directory'].includes(name);
          return left < 0 && needsRoom ? ERRNO.NOSPC : undefined;
        };
        return failing(rule)(functions);
      };
      const result = await underShim(CI, own, full);
      if (result.status === 0) break;
      codes.add(failure(result).code);
      await nothingHalfVisible(own, old, `${room} bytes of room`);
    }
    assert.deepEqual([...codes].sort(), ['DISK_FULL', 'STORE_FULL']);
  });

  test('a store that is damaged is noticed, loses what is damaged, and gets it again', async () => {
    for (const noticedBy of [['store', 'verify', '--json'], CI]) {
      const own = folders();
      (await underShim(CI, own)).succeeded();
      const old = paths(own);
      const pack = own['/store'].get('pack-0');
      pack.data = pack.data.with(pack.data.length - 3, pack.data.at(-3) ^ 1);
      const withoutTarballs = { ...own, '/tarballs': new Map() };
      const { code } = failure(await underShim(noticedBy, withoutTarballs));
      assert.equal(code, noticedBy === CI ? 'REGISTRY_NOT_CACHED' : 'STORE_CORRUPT');
      assert.deepEqual(paths(own), old);
      (await underShim(CI, own)).succeeded();
      (await underShim(['store', 'verify'], own)).succeeded();
      assert.equal(await digest(own), prepared.digest);
    }
  });

  test('verify tells what is missing, changed and unknown', async () => {
    const own = folders();
    (await underShim(CI, own)).succeeded();
    const right = own['/project'].get('node_modules').contents.get('right').contents;
    const names = [...right.keys()];
    assert.ok(names.includes('package.json'));
    right.get('package.json').data = new Uint8Array([1]);
    right.set('added.js', memoryFolder({ a: new Uint8Array() }).get('a'));
    own['/project'].get('node_modules').contents.get('@scope').contents.delete('middle');
    const result = await underShim(['verify', '--prefix', '/project', '--json'], own);
    assert.equal(failure(result).code, 'TREE_DIFFERS');
    const told = result.lines.slice(0, -1);
    assert.deepEqual(
      told.filter(({ type }) => type === 'changed'),
      [{ type: 'changed', path: 'node_modules/right/package.json' }],
    );
    assert.deepEqual(
      told.filter(({ type }) => type === 'unknown'),
      [{ type: 'unknown', path: 'node_modules/right/added.js' }],
    );
    assert.ok(told.some(({ type, path }) => type === 'missing' && path.startsWith('node_modules/@scope/middle/')));
    assert.equal(failure(await underShim(['verify', '--json', '--prefix', '/tarballs'], own)).code, 'TREE_MISSING');
  });

  test('ls, store and unpack tell what there is', async () => {
    const own = folders();
    (await underShim(CI, own)).succeeded();
    const { packages } = JSON.parse(prepared.lock);
    const listed = (await underShim(['ls', '--json', '--prefix', '/project'], own)).succeeded().lines;
    assert.deepEqual(
      listed.map(({ path }) => path),
      Object.keys(packages).filter((path) => path !== ''),
    );
    const status = (await underShim(['store', 'status', '--json'], own)).succeeded().lines.at(-1);
    const stored = (await underShim(['store', 'ls', '--json'], own)).succeeded().lines;
    assert.equal(status.packages, stored.length);
    assert.ok(
      stored.some(({ name, version }) => name === 'right' && version === packages['node_modules/right'].version),
    );
    const [, file] = tarball(own, 'right');
    const { integrity } = packages['node_modules/right'];
    const words = ['unpack', `/tarballs/${file}`, '/project/out', '--integrity', integrity, '--json'];
    const unpacked = (await underShim(words, own)).succeeded().lines.at(-1);
    assert.equal(unpacked.integrity, integrity);
    assert.equal(pathsIn(own['/project'].get('out').contents).length, unpacked.files);
    assert.equal(failure(await underShim(words, own)).code, 'FOLDER_EXISTS');
    (await underShim(['store', 'clear'], own)).succeeded();
    assert.equal((await underShim(['store', 'ls'], own)).stdout, '');
    assert.equal((await underShim(['frob'], own)).status, 2);
  });

  test('an install that the host ends leaves what the next one puts right', async () => {
    // The second rename of a publication never happens: the old tree has been set aside.
    const own = folders();
    (await underShim(CI, own)).succeeded();
    let renames = 0;
    const ends = (functions) => ({
      ...functions,
      path_rename: (...words) => {
        renames += 1;
        if (renames === 2) throw new Error('the host ends the command');
        return functions.path_rename(...words);
      },
    });
    const ended = await underShim(CI, own, ends);
    assert.equal(ended.status, 70);
    assert.ok(!own['/project'].has('node_modules'));
    own['/tarballs'].clear();
    own['/store'].clear();
    assert.equal(failure(await underShim(CI, own)).code, 'REGISTRY_NOT_CACHED');
    assert.ok(own['/project'].has('node_modules'), 'the old tree is back');
    (
      await underShim(CI, { ...own, ...(({ '/tarballs': tarballs }) => ({ '/tarballs': tarballs }))(folders()) })
    ).succeeded();
    assert.equal(await digest(own), prepared.digest);
  });
});

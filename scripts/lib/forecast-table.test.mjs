import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeTable } from './forecast-table.mjs';

const packuments = {
  app: {
    latest: '2.1.0',
    versions: {
      '1.4.0': { dependencies: { old: '^1.0.0' } },
      '2.0.0': { dependencies: { gone: '*' } },
      '2.1.0': {
        dependencies: {
          library: '^0.3.1',
          'git-only': 'user/repository',
          renamed: 'npm:library@0.2',
          host: '5.0.0-beta.2',
        },
        optionalDependencies: { 'app-linux': '2.1.0', watcher: '^1.0.0' },
        peerDependencies: { host: '>=1' },
      },
      '3.0.0-beta.1': { dependencies: { beta: '*' } },
    },
  },
  library: { latest: '0.3.2', versions: { '0.2.9': {}, '0.3.2': { dependencies: { app: '1.x' } } } },
  host: { latest: '4.0.0', versions: { '4.0.0': {}, '5.0.0-beta.2': { dependencies: { app: '^1.0.0' } } } },
};

/** What a table says, as the reader in crates/forecast does: names, and of each line the dependencies, the peers, and whether it has builds. */
function decode(bytes) {
  assert.equal(bytes.subarray(0, 8).toString('latin1'), 'gantryF\x02');
  let at = 8;
  const word = () => {
    at += 4;
    return bytes.readUInt32LE(at - 4);
  };
  const words = (count) => Array.from({ length: count }, word);
  const [nameCount, entryCount, nameBytes] = words(3);
  const nameEnds = words(nameCount);
  const firstEntries = words(nameCount + 1);
  const starts = words(entryCount);
  const text = bytes.subarray(at, at + nameBytes).toString();
  const records = bytes.subarray(at + nameBytes);
  const names = nameEnds.map((end, index) => text.slice(nameEnds[index - 1] ?? 0, end));
  const nameOf = (entry) => names[firstEntries.findLastIndex((first) => first <= entry)];
  const lines = {};
  starts.forEach((start, entry) => {
    let position = start;
    const number = () => {
      let value = 0;
      for (let shift = 0; ; shift += 7) {
        const byte = records[position++];
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80) return value;
      }
    };
    const version = [number(), number(), number()].join('.');
    const target = (value) => (value < entryCount ? nameOf(value) : `(${names[value - entryCount]})`);
    const list = (length) => Array.from({ length }, () => target(number()));
    const count = number();
    const [dependencies, hasBuilds] = [list(count >> 1), count % 2 === 1];
    lines[`${nameOf(entry)}@${version}`] = { dependencies, peers: list(number()), ...(hasBuilds && { hasBuilds }) };
  });
  return { names, lines };
}

test('a table has the newest lines of what it begins with, and whatever they depend on', async () => {
  const asked = [];
  const fetchPackument = async (name) => {
    asked.push(name);
    return packuments[name];
  };
  const fetchVersion = async (name, version) => {
    assert.deepEqual([name, version], ['app-linux', '2.1.0']);
    return { dependencies: { 'of-the-build': '*' } };
  };
  const table = await encodeTable(['app'], fetchPackument, fetchVersion);
  const { names, lines } = decode(table.bytes);

  assert.deepEqual(names, ['app', 'host', 'library', 'of-the-build', 'old', 'watcher']);
  assert.deepEqual(lines, {
    'app@2.1.0': {
      dependencies: ['library', 'library', 'host', '(watcher)', '(of-the-build)'],
      peers: ['host'],
      hasBuilds: true,
    },
    'app@1.4.0': { dependencies: ['(old)'], peers: [] },
    'host@4.0.0': { dependencies: [], peers: [] },
    'host@5.0.0': { dependencies: ['app'], peers: [] },
    'library@0.3.2': { dependencies: ['app'], peers: [] },
    'library@0.2.9': { dependencies: [], peers: [] },
  });
  assert.deepEqual([table.names, table.entries], [6, 6]);
  assert.equal(new Set(asked).size, asked.length, 'each is asked for once');
  assert.ok(!asked.includes('app-linux'), 'no packument of a build for one platform');
});

test('a table is the same however answers come in', async () => {
  const late = (name) => new Promise((resolve) => setTimeout(resolve, name.length * 3, packuments[name]));
  const none = async () => undefined;
  const names = ['library', 'host', 'app'];
  const [one, other] = [
    await encodeTable(names, late, none),
    await encodeTable(names, async (name) => packuments[name], none),
  ];
  assert.ok(one.bytes.equals(other.bytes));
});

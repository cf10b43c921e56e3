// Writes npm.json: projects, the locks npm makes of them, and what npm leaves of them on disk.
//
// Packages are built here and served on a loopback port; npm installs them for real, without scripts. In what is written the
// port is replaced by a name, so that it depends on nothing of the machine. Run it with the npm that is the judge:
// `node generate.mjs`.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { file, tgz } from '../../../archive/tests/cases/tar.mjs';

process.umask(0o022);
const NAME = 'https://registry.test/';

// --- packages -------------------------------------------------------------------------------------------------------

const tarballs = {};
const packuments = {};

/** Publishes a package. Files are text, or [text, mode]. */
function publish(name, version, files = {}, fields = {}) {
  const manifest = { name, version, ...fields };
  const parts = Object.entries({ 'package.json': JSON.stringify(manifest), ...files }).map(([path, contents]) => {
    const [text, mode] = Array.isArray(contents) ? contents : [contents, 0o644];
    return file(`package/${path}`, text, { mode });
  });
  const tarball = tgz(...parts);
  const path = `${name}/-/${name.split('/').pop()}-${version}.tgz`;
  tarballs[path] = tarball;
  packuments[name] ??= { name, 'dist-tags': {}, versions: {} };
  packuments[name]['dist-tags'].latest = version;
  packuments[name].versions[version] = {
    ...manifest,
    dist: { tarball: `${NAME}${path}`, integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}` },
  };
}

const script = '#!/usr/bin/env node\n';
publish('plain', '1.0.0', { 'index.js': 'plain', 'lib/a.js': 'a' });
publish('plain', '2.0.0', { 'index.js': 'plain 2' });
publish('tool', '1.0.0', { 'cli.js': script }, { bin: './cli.js' });
publish('tool', '2.0.0', { 'cli.js': [script, 0o755] }, { bin: { tool: 'cli.js', 'tool-2': 'cli.js' } });
publish('@scope/tool', '1.0.0', { 'bin/run.js': '#!/usr/bin/env node\r\nx\r\n' }, { bin: 'bin/run.js' });
publish('missing-bin', '1.0.0', {}, { bin: { gone: 'gone.js', tool: 'gone.js', folder: 'lib' } });
publish(
  'folder-bin',
  '1.0.0',
  { 'lib/x.js': 'x' },
  { bin: { folder: 'lib', deep: './lib/../lib/x.js', '../up': '../../lib/x.js' } },
);
publish('needs-old-tool', '1.0.0', { 'index.js': 'x' }, { dependencies: { tool: '^1.0.0', plain: '^1.0.0' } });
publish('a-claims', '1.0.0', { 'a.js': script }, { bin: { claimed: 'a.js' } });
publish('B-claims', '1.0.0', { 'b.js': script }, { bin: { claimed: 'b.js' } });
publish('@z/claims', '1.0.0', { 'z.js': script }, { bin: { claimed: 'z.js' } });
publish(
  'bundler',
  '1.0.0',
  {
    'index.js': 'x',
    'node_modules/inner/package.json': JSON.stringify({
      name: 'inner',
      version: '1.0.0',
      bin: { inner: 'i.js' },
      dependencies: { plain: '^1.0.0' },
    }),
    'node_modules/inner/i.js': script,
    'node_modules/plain/package.json': JSON.stringify({ name: 'plain', version: '1.0.0' }),
    'node_modules/plain/index.js': 'bundled',
    'node_modules/leftover/x.js': 'no package',
  },
  { bundleDependencies: ['inner'], dependencies: { inner: '^1.0.0', tool: '1' } },
);
publish('inner', '1.0.0', { 'i.js': script }, { bin: { inner: 'i.js' }, dependencies: { plain: '^1.0.0' } });
publish(
  'carries-node-modules',
  '1.0.0',
  { 'node_modules/plain/stale.js': 'stale', 'node_modules/extra/e.js': 'e' },
  { dependencies: { plain: '^1.0.0' } },
);
publish(
  'other-system',
  '1.0.0',
  { 'x.js': 'x' },
  { os: ['no-such-system'], dependencies: { 'only-there': '1' }, bin: { elsewhere: 'x.js' } },
);
publish('only-there', '1.0.0', { 'x.js': 'x' });
publish('maybe', '1.0.0', { 'm.js': script }, { bin: 'm.js', dependencies: { shared: '1' } });
publish('shared', '1.0.0', { 's.js': script }, { bin: 's.js' });
publish('develop', '1.0.0', { 'd.js': script }, { bin: 'd.js', dependencies: { shared: '1', 'develop-only': '1' } });
publish('develop-only', '1.0.0', { 'x.js': 'x' });
publish('wants-peer', '1.0.0', { 'x.js': 'x' }, { peerDependencies: { 'a-peer': '1' } });
publish('a-peer', '1.0.0', { 'p.js': script }, { bin: 'p.js' });
publish('ignores', '1.0.0', { '.gitignore': 'x', 'lib/.gitignore': 'y', '.npmignore': 'z' });

// --- projects -------------------------------------------------------------------------------------------------------

const everyKind = {
  dependencies: { 'wants-peer': '1', plain: '2' },
  devDependencies: { develop: '1', tool: '2' },
  optionalDependencies: { maybe: '1' },
};
const workspace = {
  'package.json': { name: 'root', workspaces: ['packages/*'], dependencies: { plain: '2', tool: '2' } },
  'packages/one/package.json': {
    name: '@w/one',
    version: '1.0.0',
    bin: { one: 'one.js', tool: 'one.js', absent: 'absent.js' },
    dependencies: { plain: '1', tool: '1' },
  },
  'packages/one/one.js': script,
  'packages/two/package.json': {
    name: 'two',
    version: '1.0.0',
    dependencies: { '@w/one': '1', shared: '1' },
    devDependencies: { develop: '1' },
  },
  'packages/two/index.js': 'x',
};

const projects = {
  'plain packages': {
    files: { 'package.json': { name: 'p', version: '1.0.0', dependencies: { plain: '1', ignores: '1' } } },
  },
  'commands of every kind': {
    files: {
      'package.json': {
        dependencies: {
          tool: '2',
          '@scope/tool': '1',
          'missing-bin': '1',
          'folder-bin': '1',
          'needs-old-tool': '1',
          plain: '2',
        },
      },
    },
  },
  'a command that several want': {
    files: { 'package.json': { dependencies: { 'a-claims': '1', 'B-claims': '1', '@z/claims': '1' } } },
  },
  aliases: {
    files: { 'package.json': { dependencies: { renamed: 'npm:tool@1', '@x/renamed': 'npm:@scope/tool@1' } } },
  },
  'bundled packages': { files: { 'package.json': { dependencies: { bundler: '1', plain: '2', tool: '2' } } } },
  'packages that the project bundles': {
    files: { 'package.json': { dependencies: { inner: '1', plain: '2' }, bundleDependencies: ['inner'] } },
  },
  'a package that carries a node_modules': {
    files: { 'package.json': { dependencies: { 'carries-node-modules': '1', plain: '2' } } },
  },
  'an optional package for another system': {
    files: { 'package.json': { dependencies: { plain: '1' }, optionalDependencies: { 'other-system': '1' } } },
    inert: ['node_modules/other-system', 'node_modules/only-there'],
  },
  'every kind of dependency': { files: { 'package.json': everyKind } },
  'without development': { files: { 'package.json': everyKind }, omit: ['dev'] },
  'without optional': { files: { 'package.json': everyKind }, omit: ['optional'] },
  'without peers': { files: { 'package.json': everyKind }, omit: ['peer'] },
  'without development and optional': { files: { 'package.json': everyKind }, omit: ['dev', 'optional'] },
  'without any of them': { files: { 'package.json': everyKind }, omit: ['dev', 'optional', 'peer'] },
  workspaces: { files: workspace },
  'workspaces without development': { files: workspace, omit: ['dev'] },
  'linked folders': {
    files: {
      'package.json': { dependencies: { local: 'file:./some/local', plain: '2' } },
      'some/local/package.json': {
        name: 'local',
        version: '1.0.0',
        bin: 'l.js',
        dependencies: { plain: '1' },
        devDependencies: { shared: '1' },
      },
      'some/local/l.js': script,
    },
  },
  'linked folders without development': {
    files: {
      'package.json': {
        devDependencies: { local: 'file:./some/local' },
        dependencies: { far: 'file:./far', tool: '2' },
      },
      'some/local/package.json': { name: 'local', version: '1.0.0', bin: 'l.js', dependencies: { plain: '1' } },
      'some/local/l.js': script,
      'far/package.json': {
        name: 'far',
        version: '1.0.0',
        dependencies: { tool: '1' },
        devDependencies: { shared: '1', tool: '1' },
      },
    },
    omit: ['dev'],
  },
  'a link to the project itself': {
    files: { 'package.json': { name: 'me', dependencies: { me: 'file:.', plain: '1' } } },
  },
};

// --- asking npm -----------------------------------------------------------------------------------------------------

const scratch = mkdtempSync(join(tmpdir(), 'layout-cases-'));
let origin;
const server = createServer((request, response) => {
  const path = decodeURIComponent(request.url.slice(1));
  const packument = packuments[path];
  if (tarballs[path]) response.end(tarballs[path]);
  else if (packument) response.end(JSON.stringify(packument).replaceAll(NAME, origin));
  else response.writeHead(404).end('{}');
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
origin = `http://127.0.0.1:${server.address().port}/`;
writeFileSync(join(scratch, 'npmrc'), '');

async function npm(cwd, ...args) {
  const env = { PATH: process.env.PATH, HOME: scratch };
  const options = [
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    `--registry=${origin}`,
    `--cache=${scratch}/cache`,
    `--userconfig=${scratch}/npmrc`,
  ];
  await promisify(execFile)('npm', [...args, ...options], { cwd, env });
}

/** All files and links of every `node_modules` below `root`. */
function tree(root, prefix = '', inside = false) {
  const found = [];
  for (const name of readdirSync(join(root, prefix))) {
    const path = prefix ? `${prefix}/${name}` : name;
    const status = lstatSync(join(root, path));
    if (status.isDirectory()) found.push(...tree(root, path, inside || name === 'node_modules'));
    else if (!inside) continue;
    else if (status.isSymbolicLink()) found.push({ path, link: readlinkSync(join(root, path)) });
    else {
      const sum = createHash('sha256')
        .update(anonymous(readFileSync(join(root, path), 'latin1')), 'latin1')
        .digest('hex')
        .slice(0, 16);
      found.push({ path, executable: (status.mode & 0o111) !== 0, sum });
    }
  }
  return found;
}

const anonymous = (text) => text.replaceAll(origin, NAME);
const byBytes = (left, right) => Buffer.compare(Buffer.from(left.path), Buffer.from(right.path));

const cases = [];
for (const [name, { files, omit = [], inert = [] }] of Object.entries(projects)) {
  const root = join(scratch, String(cases.length), 'project');
  for (const [path, contents] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), typeof contents === 'string' ? contents : JSON.stringify(contents));
  }
  await npm(root, 'install', '--package-lock-only');
  await npm(root, 'ci', ...omit.map((kind) => `--omit=${kind}`));
  const local = Object.keys(files).filter((path) => !path.endsWith('package.json'));
  cases.push({
    name,
    omit,
    inert,
    local,
    lock: anonymous(readFileSync(join(root, 'package-lock.json'), 'utf8')),
    hidden: anonymous(readFileSync(join(root, 'node_modules/.package-lock.json'), 'utf8')),
    tree: tree(root).sort(byBytes),
  });
}
server.close();
rmSync(scratch, { recursive: true });
const packed = Object.fromEntries(
  Object.entries(tarballs).map(([path, tarball]) => [NAME + path, tarball.toString('base64')]),
);
const lines = (list) => list.map((item) => JSON.stringify(item)).join(',\n');
writeFileSync(
  new URL('npm.json', import.meta.url),
  `{"tarballs":\n${JSON.stringify(packed)},\n"cases":[\n${lines(cases)}\n]}\n`,
);

// `gantry/wasi`: an installed tree as a folder of the shim. Programs that know nothing of Gantry read it: QuickJS, compiled
// to WASI, loads modules out of `node_modules`, and gantry.wasm itself writes over it.
import assert from 'node:assert/strict';
import * as nodeFs from 'node:fs';
import { join, relative } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as shim from '@bjorn3/browser_wasi_shim';
import { wasiFolder } from '../../web/dist/wasi.js';
import { fixturesForSuite, projectsFolder, registryForSuite } from '../cli/lib/programs.mjs';
import { BROWSERS, byPackageIn, openPages, renderIn } from './lib/browsers.mjs';
import { module, underNode } from './lib/hosts.mjs';
import { CI, folderInMemory, Prepared } from './lib/projects.mjs';
import { runQuickJs } from './lib/quickjs.mjs';
import { fileIn, runInMemory } from './lib/shim-host.mjs';

/** A folder on disk with the functions that a tree is read with; counts what is asked for. */
function treeOf(folder) {
  const at = (path) => join(folder, path);
  const asked = { listed: [], opened: [] };
  const tree = {
    readdirSync: (path, options) => {
      asked.listed.push(path);
      return nodeFs.readdirSync(at(path), options);
    },
    statSync: (path) => nodeFs.statSync(at(path)),
    realpathSync: (path) => `/${relative(folder, nodeFs.realpathSync(at(path)))}`,
    openSync: (path) => {
      asked.opened.push(path);
      return nodeFs.openSync(at(path), 'r');
    },
    readSync: nodeFs.readSync,
    closeSync: nodeFs.closeSync,
  };
  return { tree, asked };
}

const RENDER = fileURLToPath(new URL('pages/render.js', import.meta.url));
const FILES = {
  'package.json': { name: 'project', version: '1.0.0', dependencies: { '@scope/middle': '^1.0.0', right: '1' } },
  'main.js': `import * as std from 'qjs:std';
    import * as os from 'qjs:os';
    const [names] = os.readdir('/project/node_modules');
    console.log(JSON.stringify(names.filter((name) => !name.startsWith('.')).sort()));
    console.log(JSON.parse(std.loadFile('/project/node_modules/right/package.json')).version);
    std.open('/project/node_modules/right/written.txt', 'w').puts('over the tree');
    const again = std.open('/project/node_modules/right/package.json', 'w');
    again.puts('changed');
    again.close();
    console.log(std.loadFile('/project/node_modules/right/package.json'));`,
};

describe('an installed tree for WASI programs', { concurrency: 1 }, () => {
  const suite = fixturesForSuite();

  test('QuickJS lists, reads and writes; what it writes stays over the tree', async (context) => {
    const prepared = new Prepared(context, suite.registry, FILES);
    const { tree, asked } = treeOf(prepared.native);
    const project = wasiFolder(shim, '/project', tree);
    const { version } = JSON.parse(prepared.lock).packages['node_modules/right'];
    const result = await runQuickJs(['/project/main.js'], [project]);
    assert.deepEqual(result.lines, ['["@scope","left","right"]', version, 'changed'], result.stderr);
    assert.deepEqual(
      asked.listed.sort(),
      ['/', '/node_modules', '/node_modules/right'],
      'only what was entered is listed',
    );
    assert.ok(asked.opened.every((path) => ['/main.js', '/node_modules/right/package.json'].includes(path)));
    assert.equal(
      Buffer.from(fileIn(project.dir.contents, 'node_modules/right/written.txt')).toString(),
      'over the tree',
    );
    assert.equal(prepared.digestOf(prepared.native), prepared.digest, 'the tree itself is as it was');
  });

  test('gantry.wasm installs over it, and the tree below stays as it was', async (context) => {
    const prepared = new Prepared(context, suite.registry, FILES);
    await prepared.feed(underNode, prepared.fresh());
    nodeFs.writeFileSync(join(prepared.native, 'node_modules', 'right', 'package.json'), '{}');
    const before = prepared.digestOf(prepared.native);
    const { tree } = treeOf(prepared.native);
    const opened = [wasiFolder(shim, '/project', tree)];
    const folders = { '/store': new Map(), '/tarballs': folderInMemory(join(prepared.folder, 'tarballs')) };
    const compiled = await WebAssembly.compile(nodeFs.readFileSync(module));
    const run = (words) => runInMemory(compiled, words, folders, undefined, opened);
    const installed = run(CI);
    assert.equal(installed.status, 0, installed.stdout + installed.stderr);
    assert.equal(run(['digest', '--prefix', '/project']).stdout.trim(), prepared.digest);
    assert.equal(prepared.digestOf(prepared.native), before);
  });
});

describe('a recorded project for WASI programs', { concurrency: 1 }, () => {
  let registry;
  registryForSuite((address) => {
    registry = address;
  });

  /** What the program prints of a tree. */
  const printed = (folder) => {
    const paths = nodeFs.readdirSync(folder, { recursive: true }).map((path) => nodeFs.statSync(join(folder, path)));
    const files = paths.filter((status) => status.isFile());
    const sum = { files: files.length, bytes: files.reduce((bytes, { size }) => bytes + size, 0) };
    return [JSON.stringify(sum), '<p id="a">from <b>QuickJS</b></p>'];
  };

  test('QuickJS walks it, loads react out of it and renders', async (context) => {
    const prepared = new Prepared(context, registry, 'react');
    const { tree, asked } = treeOf(prepared.native);
    const project = wasiFolder(shim, '/project', tree);
    project.dir.contents.set('render.js', new shim.File(nodeFs.readFileSync(RENDER)));
    const result = await runQuickJs(['/project/render.js'], [project]);
    assert.deepEqual(result.lines, printed(join(prepared.native, 'node_modules')), result.stderr);
    assert.ok(asked.opened.length < 12, `${asked.opened.length} files are opened of a whole tree`);
  });

  test('in a worker of a page it does so out of the packs in OPFS, with no copy of the tree', async (context) => {
    const expected = printed(join(new Prepared(context, registry, 'react').native, 'node_modules'));
    const packageJson = nodeFs.readFileSync(join(projectsFolder, 'react', 'package.json'), 'utf8');
    const { pages, close } = await openPages();
    try {
      for (const browser of BROWSERS) {
        await byPackageIn(pages[browser], packageJson, registry, 'rendered');
        const { lines, stderr, method } = await renderIn(pages[browser], 'rendered');
        assert.deepEqual(lines, expected, `${browser} (${method}): ${stderr}`);
      }
    } finally {
      await close();
    }
  });
});

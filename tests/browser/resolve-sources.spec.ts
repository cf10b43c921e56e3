/** `gantry/resolve` beside a tree: workspaces and the project's own files, names with signs, what asks, and what is refused. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Page } from '@playwright/test';
import type { Volume } from 'memfs';
import type * as resolving from '../../web/src/resolve.js';
import { bundle } from './support/consumers.js';
import { expect, test } from './support/fixtures.js';
import { inPage } from './support/in-page.js';
import { packageFolder } from './support/paths.js';

test.beforeAll(async () => {
  await bundle('resolve', `export * from ${JSON.stringify(join(packageFolder, 'dist', 'resolve.js'))};`);
  await bundle('memfs', "export { Volume } from 'memfs';");
});

/** A package packed by npm, of files by their paths. */
function packed(files: Record<string, string>): number[] {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-packed-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const [{ filename }] = JSON.parse(execFileSync('npm', ['pack', '--json'], { cwd: folder, encoding: 'utf8' }));
    return [...readFileSync(join(folder, filename))];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface Asked {
  registry: string;
  packageJson: object;
  /** Of the install. */
  files: Record<string, string | number[]>;
  /** Files of the project; without any there is no such option. */
  sources?: Record<string, string>;
  /** Specifier, importer, kind. */
  questions: [specifier: string, importer: string, kind?: resolving.RequestKind][];
}

/** What the page answers, and a worker synchronously: paths, `false`, or codes with messages. */
function ask(page: Page, asked: Asked): Promise<{ inThePage: unknown[]; inWorker: unknown[] }> {
  return inPage(
    page,
    async ({ Gantry }, argument) => {
      const { registry, packageJson, files, sources, questions }: Asked = JSON.parse(argument);
      const gantry = await Gantry.open({ registry });
      const given = Object.entries(files).map(([path, file]) => [
        path,
        typeof file === 'string' ? file : new Uint8Array(file),
      ]);
      const project = await gantry.install({ packageJson, files: Object.fromEntries(given) });
      const { createResolver } = (await import(`${location.origin}/consumers/resolve.js`)) as typeof resolving;
      const { Volume: memfs } = (await import(`${location.origin}/consumers/memfs.js`)) as { Volume: typeof Volume };
      // In the page by promises, in the worker synchronously.
      const { promises } = memfs.fromJSON(sources ?? {});
      const resolver = createResolver(
        project,
        sources ? { sources: promises as unknown as resolving.ReadableFiles } : {},
      );
      const inThePage = [];
      for (const [specifier, importer, kind] of questions) {
        const answer = resolver.resolve(specifier, importer, kind && { kind });
        inThePage.push(await answer.catch(({ code, message }) => `${code} ${message}`));
      }
      const script = `
        import { openProject } from '${location.origin}/package/dist/sync.js';
        import { createSyncResolver } from '${location.origin}/consumers/resolve.js';
        import { Volume } from '${location.origin}/consumers/memfs.js';
        onmessage = async ({ data: { questions, sources } }) => {
          const options = sources ? { sources: Volume.fromJSON(sources) } : {};
          const resolver = createSyncResolver(await openProject(), options);
          postMessage(questions.map(([specifier, importer, kind]) => {
            try {
              return resolver.resolve(specifier, importer, kind && { kind });
            } catch ({ code, message }) {
              return code + ' ' + message;
            }
          }));
        };`;
      const address = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
      const worker = new Worker(address, { type: 'module' });
      const inWorker = await new Promise<unknown[]>((resolve, reject) => {
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = ({ message }) => reject(new Error(message));
        worker.postMessage({ questions, sources });
      });
      worker.terminate();
      await gantry.close();
      return { inThePage, inWorker };
    },
    JSON.stringify(asked),
  );
}

test('a folder may be called #, importers may be addresses, and queries stay', async ({ blank, fixtures }) => {
  const tarball = packed({
    'package.json': JSON.stringify({ name: 'hashed', version: '1.0.0', main: 'string/#/index.js' }),
    'plain.js': '',
    'string/#/index.js': '',
    'string/#/at.js': '',
    'string/#/contains/index.js': '',
    'c#.js': '',
  });
  const folder = '/node_modules/hashed';
  const found: [specifier: string, importer: string, found: string | RegExp][] = [
    ['hashed', '/main.js', `${folder}/string/#/index.js`],
    ['hashed/string/#/contains', '/main.js', `${folder}/string/#/contains/index.js`],
    ['../at', `${folder}/string/#/contains/index.js`, `${folder}/string/#/at.js`],
    ['./contains', `${folder}/string/#/index.js`, `${folder}/string/#/contains/index.js`],
    ['../../plain.js', `${folder}/string/#/at.js`, `${folder}/plain.js`],
    ['./c#.js', `${folder}/plain.js`, `${folder}/c#.js`],
    ['./string/#/at.js?raw', `${folder}/plain.js`, `${folder}/string/#/at.js?raw`],
    ['./plain.js?a=/b#c', `${folder}/plain.js`, `${folder}/plain.js?a=/b#c`],
    ['./plain.js#part', `${folder}/plain.js`, `${folder}/plain.js#part`],
    ['hashed?raw', '/main.js', `${folder}/string/#/index.js?raw`],
    ['left?url', '/main.js', '/node_modules/left/index.js?url'],
    ['./plain.js', `${folder}/plain.js?from=/else/where.js`, `${folder}/plain.js`],
    ['./at.js', `file://${folder}/string/%23/index.js`, `${folder}/string/#/at.js`],
    ['./at.js', `file://${folder}/string/%23/index.js?x#y`, `${folder}/string/#/at.js`],
    [`file://${folder}/string/%23/at.js?raw`, '/main.js', `${folder}/string/#/at.js?raw`],
    ['./none', `${folder}/string/#/at.js`, /^MODULE_NOT_FOUND [^\0]*\/string\/#[^\0]*$/],
    ['hashed', 'https://cdn.test/main.js', `${folder}/string/#/index.js`],
    ['hashed', 'file://elsewhere.test/main.js', /^ERR_INVALID_FILE_URL_HOST /],
  ];
  const answers = await ask(blank, {
    registry: fixtures.url,
    packageJson: { dependencies: { hashed: 'file:hashed.tgz', left: '1.1.0' } },
    files: { 'hashed.tgz': tarball },
    questions: found.map(([specifier, importer]) => [specifier, importer]),
  });
  for (const given of [answers.inThePage, answers.inWorker]) {
    const expected = found.map(([specifier, importer, path]) => [
      specifier,
      importer,
      typeof path === 'string' ? path : expect.stringMatching(path),
    ]);
    expect(found.map(([specifier, importer], index) => [specifier, importer, given[index]])).toEqual(expected);
  }
});

test('workspaces, imports with #, names of the project itself and the field browser lead to its sources', async ({
  blank,
  fixtures,
}) => {
  const manifests = {
    '/package.json': {
      name: 'root',
      exports: './src/main.js',
      workspaces: ['packages/*'],
      dependencies: { left: '1.1.0' },
      imports: { '#tools/*': './src/tools/*.js', '#left': 'left' },
      browser: { './src/node.js': './src/page.js', left: false },
    },
    '/packages/a/package.json': {
      name: '@team/a',
      version: '1.0.0',
      exports: { '.': './lib/index.js', './part': './lib/part.js' },
      imports: { '#own': './lib/own.js' },
      dependencies: { b: '1.0.0', left: '1.0.0' },
    },
    '/packages/b/package.json': { name: 'b', version: '1.0.0', main: 'b' },
  };
  const texts = Object.entries(manifests).map(([path, manifest]) => [path, JSON.stringify(manifest)]);
  const modules = ['src/main', 'src/page', 'src/node', 'src/tools/hammer'].map((name) => `/${name}.js`);
  const inWorkspaces = ['a/lib/index', 'a/lib/part', 'a/lib/own', 'b/b'].map((name) => `/packages/${name}.js`);
  const sources = Object.fromEntries([...texts, ...[...modules, ...inWorkspaces].map((path) => [path, '//'])]);
  const found: [specifier: string, importer: string, found: string | false][] = [
    ['@team/a', '/src/main.js', '/packages/a/lib/index.js'],
    ['@team/a/part', '/src/main.js', '/packages/a/lib/part.js'],
    ['@team/a/part?raw', '/src/main.js', '/packages/a/lib/part.js?raw'],
    ['b', '/packages/a/lib/index.js', '/packages/b/b.js'],
    ['b', '/node_modules/@team/a/lib/index.js', '/packages/b/b.js'],
    ['./part', '/packages/a/lib/index.js', '/packages/a/lib/part.js'],
    ['#own', '/packages/a/lib/index.js', '/packages/a/lib/own.js'],
    ['@team/a', '/packages/a/lib/own.js', '/packages/a/lib/index.js'],
    ['left', '/packages/a/lib/index.js', '/packages/a/node_modules/left/index.js'],
    ['left', '/node_modules/@team/a/lib/index.js', '/packages/a/node_modules/left/index.js'],
    ['left', '/packages/b/b.js', '/node_modules/left/index.js'],
    ['root', '/src/main.js', '/src/main.js'],
    ['#tools/hammer', '/src/main.js', '/src/tools/hammer.js'],
    ['#left', '/src/tools/hammer.js', false],
    ['./node.js', '/src/main.js', '/src/page.js'],
  ];
  const { '/package.json': packageJson, ...others } = manifests;
  const files = Object.entries(others).map(([path, manifest]) => [path.slice(1), JSON.stringify(manifest)]);
  const questions = found.map(([specifier, importer]): [string, string] => [specifier, importer]);
  const asked = { registry: fixtures.url, packageJson, files: Object.fromEntries(files), questions };
  const answers = await ask(blank, { ...asked, sources });
  const named = (paths: unknown[]) => questions.map((question, index) => [...question, paths[index]]);
  const expected = named(found.map(([, , path]) => path));
  expect(named(answers.inThePage)).toEqual(expected);
  expect(named(answers.inWorker)).toEqual(expected);
});

test('what require and import mean where they differ, and any file system over a tree', async ({ blank, fixtures }) => {
  const exported = packed({
    'package.json': JSON.stringify({
      name: 'both',
      version: '1.0.0',
      exports: { '.': { import: './i.mjs', require: './r.cjs' }, './old': { require: './r.cjs' } },
    }),
    'i.mjs': '',
    'r.cjs': '',
  });
  const answers = await ask(blank, {
    registry: fixtures.url,
    packageJson: { dependencies: { both: 'file:both.tgz', left: '1.1.0' } },
    files: { 'both.tgz': exported },
    questions: [
      ['both', '/main.js'],
      ['both', '/main.js', 'import'],
      ['both', '/main.js', 'require'],
      ['both/old', '/main.js', 'require'],
      ['left', '/main.js', 'require'],
    ],
  });
  const [esm, common] = ['/node_modules/both/i.mjs', '/node_modules/both/r.cjs'];
  const expected = [esm, esm, common, common, '/node_modules/left/index.js'];
  expect(answers).toEqual({ inThePage: expected, inWorker: expected });

  const overlaid = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const { createResolver } = (await import(`${location.origin}/consumers/resolve.js`)) as typeof resolving;
      const gantry = await Gantry.open({ registry });
      const { fs } = (await gantry.project()) ?? (await gantry.install({ packageJson: {} }));
      const own = new Map([
        ['/package.json', '{ "imports": { "#left": "left" } }'],
        ['/src/patched.js', '//'],
      ]);
      const file = { isFile: () => true, isDirectory: () => false };
      const overlay: resolving.ReadableFiles = {
        stat: async (path) => (own.has(path) ? file : fs.stat(path)),
        readFile: async (path) => own.get(path) ?? fs.readFile(path),
        readlink: fs.readlink,
      };
      const resolver = createResolver({ fs: overlay });
      const found = [
        await resolver.resolve('#left', '/src/main.js'),
        await resolver.resolve('./patched', '/src/main.js'),
      ];
      await gantry.close();
      return found;
    },
    fixtures.url,
  );
  expect(overlaid).toEqual(['/node_modules/left/index.js', '/src/patched.js']);
});

test('what a resolver cannot use is refused before anything is read', async ({ blank, fixtures }) => {
  const problems = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const { createResolver, createSyncResolver } = (await import(
        `${location.origin}/consumers/resolve.js`
      )) as typeof resolving;
      const gantry = await Gantry.open({ registry });
      const project = await gantry.install({ packageJson: { dependencies: { left: '1.1.0' } } });
      const messages: string[] = [];
      const refuse = async (begin: () => unknown) => {
        try {
          await begin();
          messages.push('taken');
        } catch (error) {
          const { code, message } = error as { code: string; message: string };
          messages.push(`${code} ${message}`);
        }
      };
      const any = (value: unknown) => value as never;
      const resolver = createResolver(project);
      const files = { statSync: project.fs.stat, readFileSync: project.fs.readFile };
      const synchronous = createSyncResolver({ fs: any(files) });
      await refuse(() => createResolver(project, any({ conditionName: ['x'] })));
      await refuse(() => createResolver(project, any({ conditionNames: 'import' })));
      await refuse(() => createResolver(project, any({ fileSystem: {} })));
      await refuse(() => createResolver(any(project.fs)));
      await refuse(() => createResolver(project, { sources: any({ stat: () => {} }) }));
      await refuse(() => createSyncResolver(any(project)));
      await refuse(() => createSyncResolver({ fs: any(files) }, any(null)));
      await refuse(() => resolver.resolve('left', any(undefined)));
      await refuse(() => resolver.resolve(any(7), '/main.js'));
      await refuse(() => resolver.resolve('left', '/main.js', any({ kind: 'esm' })));
      await refuse(() => synchronous.resolve('left', any(undefined)));
      await refuse(() => resolver.resolve('left', new URL('https://cdn.test/main.js')));
      messages.push(String(await resolver.resolve('left', new URL('file:///main.js'))));
      await gantry.close();
      return messages;
    },
    fixtures.url,
  );
  expect(problems).toEqual([
    'INVALID_OPTION createResolver has no option "conditionName"',
    'INVALID_OPTION conditionNames: "import" is no list',
    'INVALID_OPTION createResolver has no option "fileSystem"',
    'INVALID_OPTION createResolver takes a project: [object Object] has no fs with stat and readFile',
    'INVALID_OPTION sources: [object Object] has no stat and readFile',
    'INVALID_OPTION createSyncResolver takes a project: [object Object] has no fs with statSync and readFileSync',
    'INVALID_OPTION createSyncResolver takes its options as an object: null is none',
    'INVALID_OPTION importer: undefined is neither a path nor an address',
    'INVALID_OPTION specifier: 7 is neither a text nor an address',
    "INVALID_OPTION kind: \"esm\" is neither 'import' nor 'require'",
    'INVALID_OPTION importer: undefined is neither a path nor an address',
    'ERR_INVALID_URL_SCHEME The URL must be of scheme file',
    '/node_modules/left/index.js',
  ]);
});

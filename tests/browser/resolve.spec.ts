/** `gantry/resolve`: imports in real packages lead where Node, and where webpack's resolver on a disk, say they lead. */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { join } from 'node:path';
import type * as resolving from '../../web/src/resolve.js';
import { bundle } from './support/consumers.js';
import { expect, test } from './support/fixtures.js';
import { inPage } from './support/in-page.js';
import { inNativeInstall } from './support/native.js';
import { inRoot, packageFolder } from './support/paths.js';

test.beforeAll(async () => {
  await bundle('resolve', `export * from ${JSON.stringify(join(packageFolder, 'dist', 'resolve.js'))};`);
});

interface Question {
  specifier: string;
  importer: string;
}

/** Every dependency of every package of a tree, as asked for from the package's manifest. */
function dependenciesIn(folder: string): Question[] {
  const questions: Question[] = [];
  const visit = (modules: string) => {
    for (const entry of readdirSync(join(folder, modules), { withFileTypes: true })) {
      const path = `${modules}/${entry.name}`;
      if (entry.name.startsWith('@')) visit(path);
      else if (entry.isDirectory() && entry.name !== '.bin') {
        const importer = `${path}/package.json`;
        const { name, dependencies = {}, exports } = JSON.parse(readFileSync(join(folder, importer), 'utf8'));
        for (const specifier of Object.keys(dependencies)) questions.push({ specifier, importer });
        // Its own exports, too: by its own name, as Node allows it.
        if (exports) questions.push({ specifier: name, importer });
      }
    }
  };
  visit('node_modules');
  return questions;
}

/** Where Node finds it; its code where it does not. */
function byNode(folder: string, { specifier, importer }: Question): string {
  try {
    const found = createRequire(join(folder, importer)).resolve(specifier);
    return isBuiltin(found) ? 'builtin' : found.slice(folder.length);
  } catch {
    return 'MODULE_NOT_FOUND';
  }
}

for (const project of ['express', 'svelte', 'react']) {
  test(`${project}: what require finds on a disk is found in the page, and in a worker synchronously`, async ({
    blank,
    recording,
  }) => {
    const packageJson = readFileSync(inRoot('tests', 'projects', project, 'package.json'), 'utf8');
    const { questions, expected } = inNativeInstall(packageJson, recording.url, {}, (folder) => {
      const all = dependenciesIn(folder).map((question) => ({ ...question, found: byNode(folder, question) }));
      const asked = all.filter(({ found }) => found !== 'builtin');
      return { questions: asked, expected: asked.map(({ found }) => found) };
    });
    expect(questions.length).toBeGreaterThan(20);
    const found = await inPage(
      blank,
      async ({ Gantry }, argument) => {
        const { registry, packageJson, questions } = JSON.parse(argument);
        const gantry = await Gantry.open({ registry });
        const project = await gantry.install({ packageJson });
        // As `require` of Node 20 does.
        const options = {
          conditionNames: ['node', 'require', 'node-addons', 'module-sync'],
          mainFields: ['main'],
          aliasFields: [],
          extensions: ['.js', '.json', '.node'],
        };
        const { createResolver } = (await import(`${location.origin}/consumers/resolve.js`)) as typeof resolving;
        const resolver = createResolver(project, options);
        const inThePage = [];
        for (const { specifier, importer } of questions as Question[]) {
          inThePage.push(await resolver.resolve(specifier, importer).catch(({ code }) => code));
        }
        const script = `
          import { openProject } from '${location.origin}/package/dist/sync.js';
          import { createSyncResolver } from '${location.origin}/consumers/resolve.js';
          onmessage = async ({ data: { questions, options } }) => {
            const resolver = createSyncResolver(await openProject(), options);
            postMessage(questions.map(({ specifier, importer }) => {
              try {
                return resolver.resolve(specifier, importer);
              } catch (error) {
                return error.code;
              }
            }));
          };`;
        const worker = new Worker(URL.createObjectURL(new Blob([script], { type: 'text/javascript' })), {
          type: 'module',
        });
        const inWorker = await new Promise((resolve, reject) => {
          worker.onmessage = ({ data }) => resolve(data);
          worker.onerror = ({ message }) => reject(new Error(message));
          worker.postMessage({ questions, options });
        });
        worker.terminate();
        await gantry.close();
        return { inThePage, inWorker };
      },
      JSON.stringify({ registry: recording.url, packageJson, questions }),
    );
    const named = (paths: unknown) =>
      questions.map(({ specifier, importer }, index) => [importer, specifier, (paths as string[])[index]]);
    expect(named(found.inThePage)).toEqual(named(expected));
    expect(named(found.inWorker)).toEqual(named(expected));
  });
}

test('exports, imports, conditions and the field browser lead where a bundler for pages expects', async ({
  blank,
  recording,
}) => {
  const ask = (project: string, questions: [string, string][]) =>
    inPage(
      blank,
      async ({ Gantry }, argument) => {
        const { registry, packageJson, project, questions } = JSON.parse(argument);
        const gantry = await Gantry.open({ registry });
        const installed = await gantry.install({ packageJson, project });
        const { createResolver } = (await import(`${location.origin}/consumers/resolve.js`)) as typeof resolving;
        const resolver = createResolver(installed);
        const found = [];
        for (const [specifier, importer] of questions) {
          found.push(await resolver.resolve(specifier, importer).catch(({ code }: { code: string }) => code));
        }
        await gantry.close();
        return found;
      },
      JSON.stringify({
        registry: recording.url,
        packageJson: readFileSync(inRoot('tests', 'projects', project, 'package.json'), 'utf8'),
        project,
        questions,
      }),
    );
  expect(
    await ask('svelte', [
      // A file of the project, which the tree does not have.
      ['svelte', '/src/main.js'],
      ['svelte/store', 'src/main.js'],
      ['esm-env', '/node_modules/svelte/src/index-client.js'],
      ['#compiler/builders', '/node_modules/svelte/src/compiler/index.js'],
      ['#module-sync-enabled', '/node_modules/vite/dist/node/index.js'],
      ['./not-there.js', '/node_modules/svelte/src/index-client.js'],
      ['svelte/not-exported', '/src/main.js'],
      ['no-such-package', '/src/main.js'],
    ]),
  ).toEqual([
    '/node_modules/svelte/src/index-client.js',
    '/node_modules/svelte/src/store/index-client.js',
    '/node_modules/esm-env/index.js',
    '/node_modules/svelte/src/compiler/utils/builders.js',
    '/node_modules/vite/misc/false.js',
    'MODULE_NOT_FOUND',
    'MODULE_NOT_FOUND',
    'MODULE_NOT_FOUND',
  ]);
  expect(
    await ask('express', [
      ['debug', '/node_modules/express/lib/application.js'],
      ['./util.inspect', '/node_modules/object-inspect/index.js'],
      ['inherits', '/node_modules/http-errors/index.js'],
    ]),
  ).toEqual(['/node_modules/debug/src/browser.js', false, '/node_modules/inherits/inherits_browser.js']);
});

test('where the tree cannot be read that is what a resolution fails with, and nothing of it is remembered', async ({
  blank,
  fixtures,
}) => {
  const result = await inPage(
    blank,
    async ({ Gantry, GantryError }, registry) => {
      const gantry = await Gantry.open({ registry });
      const { fs } = await gantry.install({ packageJson: { dependencies: { left: '1.1.0', right: '1.0.0' } } });
      const { createResolver } = (await import(`${location.origin}/consumers/resolve.js`)) as typeof resolving;
      // As where storage fails for a while.
      let fault: Error | undefined;
      // And what is asked of one package has no answer yet.
      let answer = () => {};
      const answered = new Promise<void>((resolve) => {
        answer = resolve;
      });
      const failing = (read: (path: string) => Promise<unknown>) => async (path: string) => {
        if (path.includes('slow')) await answered;
        if (fault) throw fault;
        return read(path);
      };
      const { lstat, readFile, readdir, readlink, realpath, stat } = fs;
      const functions = { lstat, readdir, readlink, realpath, stat };
      const unsteady = Object.fromEntries(
        Object.entries(functions).map(([name, read]) => [name, failing(read as (path: string) => Promise<unknown>)]),
      );
      const resolver = createResolver({
        fs: { ...unsteady, readFile: (path: string, options: 'utf8') => failing(() => readFile(path, options))(path) },
      } as never);
      const resolve = (specifier: string, importer = '/main.js') =>
        resolver.resolve(specifier, importer).catch(({ code }) => code);
      fault = new GantryError({ code: 'STORE_IO', message: 'for a while' });
      const answers = [
        await resolve('left'),
        ...(await Promise.all(['left', 'right', './none.js'].map((name) => resolve(name)))),
      ];
      fault = undefined;
      answers.push(await resolve('left'), await resolve('./none.js'), await resolve('right'));
      // While another one is under way, as in a bundler one always is.
      const slow = resolve('slow');
      fault = new GantryError({ code: 'STORE_IO', message: 'once more' });
      resolver.purge();
      const beside = [await resolve('left')];
      fault = undefined;
      beside.push(await resolve('left'));
      answer();
      await slow;
      beside.push(await resolve('slow'));
      const last = createResolver({ fs });
      await gantry.close();
      answers.push(await last.resolve('left', '/main.js').catch(({ code }) => code));
      const script = `
        import { openProject } from '${location.origin}/package/dist/sync.js';
        import { createSyncResolver } from '${location.origin}/consumers/resolve.js';
        const project = await openProject();
        const resolver = createSyncResolver(project);
        const resolve = () => {
          try {
            return resolver.resolve('left', '/main.js');
          } catch ({ code }) {
            return code;
          }
        };
        const before = resolve();
        project.close();
        resolver.purge();
        postMessage([before, resolve()]);`;
      const worker = new Worker(URL.createObjectURL(new Blob([script], { type: 'text/javascript' })), {
        type: 'module',
      });
      const synchronously = await new Promise((resolve, reject) => {
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = ({ message }) => reject(new Error(message));
      });
      worker.terminate();
      return { answers, beside, synchronously };
    },
    fixtures.url,
  );
  const left = '/node_modules/left/index.js';
  expect(result.answers.slice(0, 6)).toEqual([
    ...Array.from({ length: 4 }, () => 'STORE_IO'),
    left,
    'MODULE_NOT_FOUND',
  ]);
  expect(result.answers[6]).toMatch(/^\/node_modules\/right\//);
  expect(result.answers[7]).toBe('CLOSED');
  expect(result.beside).toEqual(['STORE_IO', left, 'MODULE_NOT_FOUND']);
  expect(result.synchronously).toEqual([left, 'CLOSED']);
});

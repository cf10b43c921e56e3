/** What the readme shows of reading and exporting does what it says. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from './support/consumers.js';
import { expect, test } from './support/fixtures.js';
import { inPage } from './support/in-page.js';
import { untilControlled } from './support/page-scripts.js';
import { inRoot, packageFolder } from './support/paths.js';

/** The samples, with a package of the fixtures in place of theirs, their imports as addresses. */
function samples(): string[] {
  const readme = readFileSync(inRoot('README.md'), 'utf8');
  const [section = ''] = /^### Reading and exporting\n.*?(?=^## )/ms.exec(readme) ?? [];
  const addresses: Record<string, string> = {
    'gantry/read': '/package/dist/read.js',
    'gantry/sync': '/package/dist/sync.js',
    'gantry/export': '/package/dist/export.js',
    'gantry/resolve': '/consumers/resolve.js',
    memfs: '/consumers/memfs.js',
  };
  return [...section.matchAll(/```js\n(.*?)```/gs)].map(([, sample = '']) =>
    sample
      .replaceAll('is-number', 'left')
      .replace(/from '(.*?)'/g, (_, name: string) => `from '${addresses[name] ?? name}'`),
  );
}

test('the readme’s samples of reading and exporting run', async ({ blank, fixtures, site }) => {
  await bundle('memfs', "export { Volume } from 'memfs';");
  await bundle('resolve', `export * from ${JSON.stringify(join(packageFolder, 'dist', 'resolve.js'))};`);
  const [sync = '', serving = '', exporting = '', resolving = '', withSources = '', ...more] = samples();
  expect(more).toEqual([]);
  await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry });
      const project = await gantry.install({ packageJson: { dependencies: { left: '1.1.0', right: '^1.0.0' } } });
      Object.assign(globalThis, { project, gantry });
    },
    fixtures.url,
  );
  const imported = (path: string, script: string) => {
    site.pages.set(path, script);
    return blank.evaluate((address) => import(address), path);
  };
  site.pages.set('/sample-sync.js', `console.log = (text) => postMessage(text);\n${sync}`);
  const text = await blank.evaluate(
    () =>
      new Promise((resolve, reject) => {
        const worker = new Worker('/sample-sync.js', { type: 'module' });
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = ({ message }) => reject(new Error(message));
      }),
  );
  expect(JSON.parse(text as string).name).toBe('left');
  site.pages.set(
    '/sample-service.js',
    `${serving}\naddEventListener('activate', (event) => event.waitUntil(clients.claim()));`,
  );
  const served = await blank.evaluate(async (controlled) => {
    const registration = await navigator.serviceWorker.register('/sample-service.js', { type: 'module' });
    await new Function(`return (${controlled})()`)();
    const answers = await Promise.all(
      ['left/index.js', 'none.js'].map(async (path) => {
        const answer = await fetch(`/node_modules/${path}`);
        return [answer.status, await answer.text()];
      }),
    );
    await registration.unregister();
    return answers;
  }, untilControlled.toString());
  expect(served).toEqual([
    [200, 'module.exports = "left 1.1.0"\n'],
    [404, ''],
  ]);
  const shown = await imported(
    '/sample-export.js',
    `${exporting}\nexport const shown = {
      mounted: Object.keys(mounted.node_modules.directory),
      volume: volume.readdirSync('/app/node_modules'),
      files,
      skipped,
      archive: archive.size > 500,
      tar: typeof toTar,
    };`,
  );
  expect(shown.shown).toEqual({
    mounted: ['.bin', '.package-lock.json', 'left', 'right'],
    volume: ['.bin', '.package-lock.json', 'left', 'right'],
    files: expect.any(Number),
    skipped: [{ path: 'node_modules/.bin/right', target: '../right/cli.js' }],
    archive: true,
    tar: 'function',
  });
  const said = async (path: string, sample: string) => {
    const log = 'const said = [];\nconst console = { log: (value) => said.push(value) };';
    return (await imported(path, `${log}\n${sample}\nexport { said };`)).said;
  };
  expect(await said('/sample-resolve.js', resolving)).toEqual(['/node_modules/left/index.js']);
  const sources = ['/packages/a/lib/a.js', '/src/tools.js'];
  expect(await said('/sample-sources.js', withSources)).toEqual(sources);
});

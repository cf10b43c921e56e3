/** The npm package as its users meet it: packed, unbundled, from a CDN, as the readme shows it. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import webpack from 'webpack';
import { expect, test } from './support/fixtures.js';
import { bundledFolder, inRoot, packageFolder } from './support/paths.js';

/** Each script of a folder comes with its declarations. */
const scripts = (folder: string, names: string[]) =>
  names.flatMap((name) => ['js', 'd.ts'].map((extension) => `${folder}/${name}.${extension}`));

test('the packed files are complete, and nothing else', () => {
  const files = readdirSync(packageFolder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.tgz'))
    .map(({ parentPath, name }) => join(parentPath, name).slice(packageFolder.length + 1));
  const sources = (folder: string) =>
    readdirSync(inRoot(folder), { withFileTypes: true })
      .filter(({ name }) => name.endsWith('.ts'))
      .map(({ name }) => name.slice(0, -'.ts'.length));
  const expected = [
    'LICENSE',
    'README.md',
    'package.json',
    ...scripts('dist', sources('web/src')),
    ...scripts('dist/export', sources('web/src/export')),
    ...scripts('dist/worker', sources('worker')),
    ...scripts('wasm', ['gantry']),
    'wasm/gantry_bg.wasm',
    'wasm/gantry_bg.wasm.d.ts',
  ];
  expect(files.sort()).toEqual(expected.sort());
  const { dependencies } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8'));
  expect(dependencies).toBeUndefined();
});

test('no script declares what the wrappers of bundlers have, as Parcel’s development server does', () => {
  const declared =
    /^(?:export )?(?:(?:const|let|var|class|function|async function) )(?:module|exports|require|global)\b/m;
  const packed = readdirSync(packageFolder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.js'),
  );
  expect(packed.filter((name) => declared.test(readFileSync(join(packageFolder, name), 'utf8')))).toEqual([]);
});

test('options of workers are constant, or Vite 5 is told to leave them', () => {
  const packed = readdirSync(packageFolder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.js'),
  );
  const starting = /new Worker\(new URL\([^)]*import\.meta\.url\), (\{.*?\})\)/g;
  const options = packed.flatMap((name) =>
    [...readFileSync(join(packageFolder, name), 'utf8').matchAll(starting)].map(([, found = '']) => found),
  );
  expect(options.length).toBe(3);
  expect(options.filter((found) => !/@vite-ignore|^\{ type: 'module', name: '[^']*' \}$/.test(found))).toEqual([]);
});

/** A page whose title ends as what the script says. */
function pageWith(script: string, imports = '/package/dist/index.js'): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>waiting</title><link rel="icon" href="data:,">
<script type="importmap">{ "imports": { "gantry": ${JSON.stringify(imports)} } }</script></head>
<body><script type="module">
const said = [];
console.log = (...values) => said.push(values.join(' '));
addEventListener('unhandledrejection', (event) => { document.title = 'failed: ' + (event.reason?.code ?? '') + ' ' + event.reason; });
addEventListener('error', (event) => { document.title = 'failed: ' + event.message; });
${script}
document.title = 'said: ' + said.join('\\n');
</script></body></html>`;
}

test('a plain page uses it as a module script, without a bundler', async ({ page, site, fixtures }) => {
  site.pages.set(
    '/plain',
    pageWith(`
import { Gantry } from 'gantry';
const gantry = await Gantry.open({ registry: '${fixtures.url}' });
const phases = [];
const project = await gantry.install({
  packageJson: { dependencies: { right: '^1.0.0' } },
  onEvent: (event) => event.type === 'phase' && phases.push(event.phase),
});
console.log(project.packages, phases.join());
console.log(await project.fs.readFile('node_modules/left/index.js', 'utf8'));
await gantry.close();
`),
  );
  await page.goto(`${site.url}/plain`);
  await expect(page).toHaveTitle(/^(said|failed): /);
  await expect(page).toHaveTitle(/^said: 2 resolve,.*module\.exports = "left 1\.1\.0"/s);
});

test('it works from another origin, as from a CDN', async ({ page, site, cdn, fixtures }) => {
  site.pages.set(
    '/from-cdn',
    pageWith(
      `
import { Gantry } from 'gantry';
const gantry = await Gantry.open({ registry: '${fixtures.url}' });
const project = await gantry.install({ packageJson: { dependencies: { left: '1.1.0' } } });
console.log((await project.fs.readdir('/node_modules/left')).join());
await gantry.close();
`,
      `${cdn.url}/package/dist/index.js`,
    ),
  );
  await page.goto(`${site.url}/from-cdn`);
  await expect(page).toHaveTitle(/^(said|failed): /);
  await expect(page).toHaveTitle('said: index.js,lib,package.json');
});

/** Makes `bundled/main.js` of what a page does with the package. */
async function bundleWithWebpack(registry: string, options: webpack.Configuration): Promise<void> {
  rmSync(bundledFolder, { recursive: true, force: true });
  mkdirSync(join(bundledFolder, 'node_modules'), { recursive: true });
  symlinkSync(packageFolder, join(bundledFolder, 'node_modules', 'gantry'));
  const entry = join(bundledFolder, 'entry.js');
  writeFileSync(
    entry,
    `
import { Gantry } from 'gantry';
addEventListener('unhandledrejection', ({ reason }) => { document.title = 'failed: ' + reason; });
const gantry = await Gantry.open({ registry: '${registry}', timeout: 20_000 });
const project = await gantry.install({ packageJson: { dependencies: { left: '1.1.0' } } });
document.title = 'said: ' + await project.fs.readFile('node_modules/left/index.js', 'utf8');
await gantry.close();
`,
  );
  const output = { path: bundledFolder, filename: 'main.js', ...options.output };
  const compiler = webpack({ mode: 'production', entry, ...options, output });
  const stats = await new Promise<webpack.Stats | undefined>((settle, fail) =>
    compiler.run((error, result) => compiler.close(() => (error ? fail(error) : settle(result)))),
  );
  expect(stats?.toJson({ all: false, errors: true }).errors).toEqual([]);
}

test('bundled with webpack it works', async ({ page, site, fixtures }) => {
  await bundleWithWebpack(fixtures.url, {});
  site.pages.set('/with-webpack', '<!doctype html><title>waiting</title><script src="/bundled/main.js"></script>');
  await page.goto(`${site.url}/with-webpack`);
  await expect(page).toHaveTitle(/^(said|failed): /);
  await expect(page).toHaveTitle(/^said: module\.exports = "left 1\.1\.0"/);
});

for (const isModule of [false, true]) {
  for (const isAuto of [false, true]) {
    const kind = isModule ? 'modules' : 'classic scripts';
    const where = isAuto
      ? 'find by themselves where they are, as those of Module Federation'
      : 'are told where they are';
    test(`what a bundler made works from another origin than its page’s, workers that are ${kind} and ${where}, too`, async ({
      page,
      site,
      cdn,
      fixtures,
    }) => {
      const output: webpack.Configuration['output'] = { publicPath: isAuto ? 'auto' : `${cdn.url}/bundled/` };
      const modules = { experiments: { outputModule: true }, output: { ...output, module: true } };
      await bundleWithWebpack(fixtures.url, isModule ? modules : { output });
      const script = `<script ${isModule ? 'type="module"' : ''} src="${cdn.url}/bundled/main.js"></script>`;
      site.pages.set('/bundled-elsewhere', `<!doctype html><title>waiting</title>${script}`);
      await page.goto(`${site.url}/bundled-elsewhere`);
      await expect(page).toHaveTitle(/^(said|failed): /);
      await expect(page).toHaveTitle(/^said: module\.exports = "left 1\.1\.0"/);
      expect(await page.evaluate(() => Worker.name), 'what is a worker again').toBe('Worker');
    });
  }
}

test('a worker from another origin finds itself there, as Turbopack of Next.js 16 wants it', async ({ blank, cdn }) => {
  cdn.pages.set('/where.js', 'postMessage([String(location), location.origin, location.hash]);');
  const address = `${cdn.url}/where.js#params=1`;
  const found = await blank.evaluate(async (script) => {
    const { startWorker } = await import(`${location.origin}/package/dist/start-worker.js`);
    const worker: Worker = startWorker(() => new Worker(script));
    return new Promise((settle) => {
      worker.onmessage = ({ data }) => settle(data);
      worker.onerror = ({ message }) => settle(message);
    });
  }, address);
  expect(found).toEqual([address, cdn.url, '#params=1']);
});

test('it works where a bundler starts workers from blobs and writes addresses without an origin, as Turbopack of Next.js 15 does', async ({
  page,
  site,
  fixtures,
}) => {
  await bundleWithWebpack(fixtures.url, {
    output: { publicPath: '/bundled/' },
    module: { parser: { javascript: { url: 'relative' } } },
  });
  site.pages.set(
    '/from-blobs',
    `<!doctype html><title>waiting</title><script>
globalThis.Worker = class extends Worker {
  constructor(url, options) {
    // As its runtime, too, knows where the other parts of a worker are.
    const script = 'const load = importScripts; importScripts = (part) => load(new URL(part, ' + JSON.stringify(location.origin) + '));';
    const start = 'importScripts(' + JSON.stringify(String(url)) + ')';
    super(URL.createObjectURL(new Blob([script, start], { type: 'text/javascript' })), options);
  }
};
</script><script src="/bundled/main.js"></script>`,
  );
  await page.goto(`${site.url}/from-blobs`);
  await expect(page).toHaveTitle(/^(said|failed): /);
  await expect(page).toHaveTitle(/^said: module\.exports = "left 1\.1\.0"/);
});

test('addresses of one’s own are taken from the origin in a worker from a blob', async ({ blank, fixtures }) => {
  const said = await blank.evaluate(async (registry) => {
    const script = `
      const { Gantry } = await import('${location.origin}/package/dist/index.js');
      const { openProject } = await import('${location.origin}/package/dist/sync.js');
      const wasmUrl = '/package/wasm/gantry_bg.wasm';
      try {
        const gantry = await Gantry.open({ registry: '${registry}', wasmUrl });
        await gantry.install({ packageJson: { dependencies: { left: '1.1.0' } } });
        const { fs } = await openProject({ wasmUrl });
        const text = fs.readFileSync('node_modules/left/index.js', 'utf8');
        await gantry.close();
        const other = await Gantry.open({ registry: '/-/registry/', store: 'other' });
        await other.close();
        postMessage(text);
      } catch (error) {
        postMessage('failed: ' + error);
      }`;
    const worker = new Worker(URL.createObjectURL(new Blob([script], { type: 'text/javascript' })), { type: 'module' });
    return new Promise<string>((settle) => {
      worker.onmessage = ({ data }) => settle(data);
      worker.onerror = ({ message }) => settle(`failed: ${message}`);
    });
  }, fixtures.url);
  expect(said).toBe('module.exports = "left 1.1.0"\n');
});

test('the readme’s sample does what the readme says', async ({ page, site, fixtures }) => {
  const readme = readFileSync(inRoot('README.md'), 'utf8');
  const [, sample = ''] = /^## In a page\n.*?```js\n(.*?)```/ms.exec(readme) ?? [];
  expect(sample).toContain('Gantry.open');
  // The sample's package, which is in no recorded project, stands for any package: here it is one of the fixtures.
  const [imported = '', ...rest] = sample.split('\n');
  const body = rest.join('\n').replaceAll('is-number', 'left').replace('^7.0.0', '^1.0.0');
  site.pages.set('/readme', pageWith(`${imported}\nconst registry = '${fixtures.url}';\n${body}`));
  await page.goto(`${site.url}/readme`);
  await expect(page).toHaveTitle(/^(said|failed): /);
  await expect(page).toHaveTitle(/^said: .*"name": ?"left"/s);
});

test('its types are right by themselves, without the packages that may be installed beside it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-types-'));
  try {
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(packageFolder, join(folder, 'node_modules', 'gantry'));
    const source = `
import { Gantry } from 'gantry';
import { toTar } from 'gantry/export';
import { openProject } from 'gantry/sync';

export async function use(isLong: boolean): Promise<number> {
  const gantry = await Gantry.open({ registry: '/', signal: new AbortController().signal });
  const { fs } = await gantry.install({ packageJson: { name: 'typed' }, add: 'left' });
  const { fs: sync } = await openProject();
  const options = { withFileTypes: isLong };
  const many: number = (await fs.readdir('/', options)).length + sync.readdirSync('/', options).length;
  const big: bigint = (await fs.stat('/', { bigint: true })).ino + sync.lstatSync('/', { bigint: true }).size;
  const text: string = await fs.readFile('/a', { encoding: 'utf8', signal: new AbortController().signal });
  const opened = await fs.open('/a');
  for await (const line of opened.readLines()) console.log(line.length, text, big);
  await opened[Symbol.asyncDispose]();
  // @ts-expect-error it would be an empty one
  await gantry.install({ packageJson: fs.readFile('package.json') });
  const parts: Blob[] = [await fs.readFile('/a'), sync.readFileSync('/a'), await opened.readFile()].map((bytes) => new Blob([bytes]));
  const [first] = await fs.readMany(['/a']);
  if (first) parts.push(new Blob([first, await fs.readRange('/a', 0, 1)]));
  console.log(toTar, parts);
  return many;
}
`;
    writeFileSync(join(folder, 'use.ts'), source);
    const options =
      '--noEmit --strict --module esnext --moduleResolution bundler --target es2022 --lib es2023,dom,dom.iterable';
    // Else what is beside the package in this tree would be found.
    const alone = ['--preserveSymlinks', '--skipLibCheck', 'false', '--types', '', 'use.ts'];
    const { status, stdout } = spawnSync(inRoot('node_modules', '.bin', 'tsc'), [...options.split(' '), ...alone], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('reading a tree answers as Node’s fs does', async ({ blank, fixtures }) => {
  const result = await blank.evaluate(async (registry) => {
    const { Gantry, GantryError } = (await import(
      `${location.origin}/package/dist/index.js`
    )) as typeof import('../../web/src/index.js');
    const gantry = await Gantry.open({ registry });
    const { fs } = await gantry.install({
      packageJson: { dependencies: { right: '^1.0.0', executable: '1.0.0' } },
    });
    const codeOf = (promise: Promise<unknown>) =>
      promise.then(
        () => 'none',
        (error) => (error instanceof GantryError ? error.code : String(error)),
      );
    const root = await fs.readdir('/', { withFileTypes: true });
    const [script, empty, bin, folder] = await Promise.all([
      fs.stat('node_modules/executable/run.sh'),
      fs.stat('node_modules/executable/empty.txt'),
      fs.lstat('node_modules/.bin/right'),
      fs.stat('node_modules'),
    ]);
    const many = await fs.readMany(['node_modules/left/index.js', 'node_modules/none', 'node_modules']);
    const answers = {
      root: root.map((entry) => [entry.name, entry.isDirectory()]),
      names: await fs.readdir('./node_modules/../node_modules/'),
      script: [script.isFile(), script.mode & 0o777],
      empty: [empty.size, (await fs.readFile('node_modules/executable/empty.txt')).length],
      bin: [bin.isSymbolicLink(), await fs.realpath('node_modules/.bin/right')],
      folder: folder.isDirectory(),
      many: many.map((bytes) => bytes && new TextDecoder().decode(bytes)),
      exists: [
        await fs.exists('node_modules/left'),
        await fs.exists('node_modules/left/index.js/x'),
        await fs.exists('x'),
      ],
      codes: await Promise.all([
        codeOf(fs.readFile('node_modules/none/index.js')),
        codeOf(fs.readFile('node_modules/left')),
        codeOf(fs.readdir('node_modules/left/index.js')),
        codeOf(fs.stat('node_modules/left/index.js/x')),
      ]),
    };
    await gantry.close();
    return answers;
  }, fixtures.url);
  expect(result).toEqual({
    root: [['node_modules', true]],
    names: ['.bin', '.package-lock.json', 'executable', 'left', 'right'],
    script: [true, 0o755],
    empty: [0, 0],
    bin: [true, '/node_modules/right/cli.js'],
    folder: true,
    many: ['module.exports = "left 1.1.0"\n', undefined, undefined],
    exists: [true, false, false],
    codes: ['ENOENT', 'EISDIR', 'ENOTDIR', 'ENOTDIR'],
  });
});

test('options that cannot be used are refused with their code', async ({ blank, fixtures }) => {
  const codes = await blank.evaluate(async (registry) => {
    const { Gantry } = await import(`${location.origin}/package/dist/index.js`);
    const codeOf = (promise: Promise<unknown>) =>
      promise.then(
        () => 'none',
        (error) => error.code,
      );
    const gantry = await Gantry.open({ registry });
    const answers = await Promise.all([
      codeOf(Gantry.open({})),
      codeOf(Gantry.open({ registry: 'ftp://registry.test/' })),
      codeOf(Gantry.open({ registry, store: '../elsewhere' })),
      codeOf(Gantry.open({ registry, store: 'another', fetchTimeout: 0 })),
      codeOf(Gantry.open({ registry, store: 'another', fetchRetries: -1 })),
      codeOf(Gantry.open({ registry, store: 'another', fetchRetryFactor: Number.NaN })),
      codeOf(gantry.install({ packageJson: {}, lockfileVersion: 7 })),
      codeOf(gantry.install({ packageJson: {}, files: { 'a/package.json': 5 } })),
      codeOf(gantry.install({ packageJson: { dependencies: { left: '1' } }, before: 'yesterday' })),
      codeOf(Gantry.open({ registry, store: 'another', wasmUrl: '/pages/blank.html' })),
      codeOf(Gantry.open({ registry, store: 'another', wasmUrl: '/nothing.wasm' })),
    ]);
    await gantry.close();
    return answers;
  }, fixtures.url);
  expect(codes).toEqual([
    'INVALID_OPTION',
    'INVALID_OPTION',
    'INVALID_OPTION',
    'INVALID_OPTION',
    'INVALID_OPTION',
    'INVALID_OPTION',
    'INVALID_OPTION',
    'INVALID_OPTION',
    'RESOLVE_INVALID_DATE',
    'WASM_UNAVAILABLE',
    'WASM_UNAVAILABLE',
  ]);
});

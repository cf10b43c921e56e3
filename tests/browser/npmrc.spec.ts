/** What the text of a project's `.npmrc` does in a page: what the same file does beside the command. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import type { InstallOptions } from '../../web/src/index.js';
import { expect, test } from './support/fixtures.js';
import { inPage } from './support/in-page.js';
import { inNativeProject, PAGE_TARGET } from './support/native.js';
import { Registry } from './support/registry.js';

type Options = Omit<InstallOptions, 'packageJson' | 'files' | 'onEvent' | 'signal'>;

interface Case {
  npmrc: string;
  manifest: object;
  options?: Options;
  /** After these words the command does what the options do. */
  words?: string[];
}

const json = (fields: object) => `${JSON.stringify({ name: 'project', version: '1.0.0', ...fields }, null, 2)}\n`;

/** The command's own lock of an older version, for installs that have one. */
const OLD_LOCK = json({
  lockfileVersion: 3,
  requires: true,
  packages: {
    '': { name: 'project', version: '1.0.0', dependencies: { left: '^1.0.0' } },
    'node_modules/left': { version: '1.0.0', license: 'MIT' },
  },
});

const CASES: Record<string, Case> = {
  'peers are not installed and may be missing': {
    npmrc: 'legacy-peer-deps=true\n',
    manifest: { dependencies: { 'peer-guest': '*', 'peer-host': '2' } },
  },
  'a lock of version 2': { npmrc: 'lockfile-version = 2', manifest: { dependencies: { '@scope/middle': '*' } } },
  'nothing is shared': {
    npmrc: '; a comment\ninstall-strategy=nested',
    manifest: { dependencies: { '@scope/middle': '*', left: '1.0.0' } },
  },
  'what is added is saved exactly, for development': {
    npmrc: 'save-exact=true\nsave-dev=true',
    manifest: { dependencies: { right: '*' } },
    options: { add: ['left@1'] },
    words: ['left@1'],
  },
  'an option goes before the file': {
    npmrc: 'save-prefix=~\nsave-dev=true',
    manifest: {},
    options: { add: ['left'], savePrefix: '>=', saveAs: 'prod' },
    words: ['left', '--save-prefix', '>=', '--save-prod'],
  },
  'a file that has versions saved exactly goes before a prefix': {
    npmrc: 'save-exact=true',
    manifest: {},
    options: { add: ['left'], savePrefix: '~' },
    words: ['left', '--save-prefix', '~'],
  },
  'nothing is saved': {
    npmrc: 'save=false',
    manifest: { dependencies: { right: '*' } },
    options: { add: ['left@1.0.0'] },
    words: ['left@1.0.0'],
  },
  'nothing is saved of a project with a lock': {
    npmrc: 'save=false',
    manifest: { dependencies: { left: '^1.0.0' } },
    options: { add: ['right'], lockfile: OLD_LOCK },
    words: ['right'],
  },
  'another tag than latest': { npmrc: 'tag=next', manifest: {}, options: { add: ['left'] }, words: ['left'] },
  'development is left out': {
    npmrc: 'omit[]=dev\nomit[]=optional',
    manifest: { devDependencies: { left: '*' }, dependencies: { 'with-optional': '*' } },
  },
  'an older word for the same': {
    npmrc: 'production=true',
    manifest: { devDependencies: { left: '*' }, dependencies: { 'old-shasum': '*' } },
  },
  'packages for other machines are taken': {
    npmrc: 'force=true',
    manifest: { dependencies: { 'only-elsewhere': '1.0.0' } },
  },
  'for another machine': {
    npmrc: 'os=plan9\ncpu=pdp11',
    manifest: { dependencies: { 'only-elsewhere': '1.0.0' } },
  },
  'for another version of Node': {
    npmrc: 'node-version=1000.0.0',
    manifest: { optionalDependencies: { 'needs-newer-node': '*', left: '*' } },
  },
  'no addresses in the lock': {
    npmrc: 'omit-lockfile-registry-resolved=true',
    manifest: { dependencies: { right: '*' } },
  },
  'the lock is not read': {
    npmrc: 'package-lock=false',
    manifest: { dependencies: { left: '^1.0.0' } },
    options: { lockfile: OLD_LOCK },
  },
};

interface State {
  packageJson: string;
  lockfile: string;
  digest: string;
}

/** Installs, and looks at what it was once the store has been opened anew. */
function inAPage(page: Page, registry: string, { npmrc, manifest, options }: Case): Promise<State> {
  return inPage(
    page,
    async ({ Gantry }, argument) => {
      const { registry, npmrc, packageJson, options } = JSON.parse(argument);
      let gantry = await Gantry.open({ registry });
      const installed = await gantry.install({ project: 'project', packageJson, npmrc, ...options });
      const before = await installed.treeDigest();
      await gantry.close();
      gantry = await Gantry.open({ registry });
      const reopened = await gantry.project('project');
      const digest = await reopened?.treeDigest();
      if (!reopened || digest !== before) throw new Error(`it is recorded as ${digest} and was ${before}`);
      if (reopened.lockfile !== installed.lockfile) throw new Error('it is recorded with another lock');
      await gantry.close();
      return { packageJson: installed.packageJson ?? packageJson, lockfile: installed.lockfile, digest };
    },
    JSON.stringify({ registry, npmrc, packageJson: json(manifest), options }),
  );
}

/** The command writes no lock where a setting forbids it. */
function byTheCommand(
  registry: string,
  { npmrc, manifest, options = {}, words = [] }: Case,
): Omit<State, 'lockfile'> & Partial<State> {
  const lock = options.lockfile ? { 'package-lock.json': options.lockfile } : {};
  const target = `os=${PAGE_TARGET.os}\ncpu=${PAGE_TARGET.cpu}\n`;
  return inNativeProject(json(manifest), registry, { ...lock, '.npmrc': `${target}${npmrc}` }, (project, gantry) => {
    gantry('install', '--ignore-scripts', ...words);
    const path = join(project, 'package-lock.json');
    return {
      packageJson: readFileSync(join(project, 'package.json'), 'utf8'),
      ...(existsSync(path) && { lockfile: readFileSync(path, 'utf8') }),
      digest: gantry('digest').trim(),
    };
  });
}

for (const [what, one] of Object.entries(CASES)) {
  test(`as the command: ${what}`, async ({ blank, fixtures }) => {
    const expected = byTheCommand(fixtures.url, one);
    expect(await inAPage(blank, fixtures.url, one)).toMatchObject(expected);
  });
}

/** Installs one package; gives the number of packages, or the error's code. */
function outcome(page: Page, open: object, install: object): Promise<number | string> {
  return inPage(
    page,
    async ({ Gantry }, argument) => {
      const [open, install] = JSON.parse(argument);
      const gantry = await Gantry.open(open);
      try {
        return (await gantry.install({ packageJson: { dependencies: { '@scope/middle': '*' } }, ...install })).packages;
      } catch (error) {
        return (error as { code: string }).code;
      } finally {
        await gantry.clear();
        await gantry.close();
      }
    },
    JSON.stringify([open, install]),
  );
}

test('a lock that is not written is none: the next install keeps to the tree, and tells what it has', async ({
  blank,
  fixtures,
}) => {
  const steps = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry });
      const steps: unknown[] = [];
      for (const [npmrc, dependencies, options] of [
        ['package-lock=true', { left: '1.0.0' }, { lockfile: null }],
        ['package-lock=false', { left: '^1.0.0' }, { lockfile: null }],
        ['package-lock=false', { left: '^1.0.0' }, {}],
        ['save=false', { left: '^1.0.0' }, { add: ['old-shasum'] }],
        ['save=false', { left: '^1.0.0' }, { add: ['executable'] }],
      ] as const) {
        const asked: InstallOptions = { packageJson: { dependencies }, npmrc };
        const project = await gantry.install(Object.assign(asked, options));
        const { packages } = JSON.parse(project.lockfile);
        const why = await Promise.all(['left', 'old-shasum', 'executable'].map((name) => project.why(name)));
        steps.push([
          Object.keys(packages).slice(1),
          packages['node_modules/left']?.version,
          why.map(({ length }) => length),
        ]);
      }
      await gantry.close();
      return steps;
    },
    fixtures.url,
  );
  expect(steps).toEqual([
    [['node_modules/left'], '1.0.0', [1, 0, 0]],
    [['node_modules/left'], '1.1.0', [1, 0, 0]],
    [['node_modules/left'], '1.1.0', [1, 0, 0]],
    [['node_modules/left', 'node_modules/old-shasum'], '1.1.0', [1, 1, 0]],
    // What was not saved goes with the next install, as with npm.
    [['node_modules/executable', 'node_modules/left'], '1.1.0', [1, 0, 1]],
  ]);
});

test('registries of scopes and their credentials are those of the file, with what the page says of variables', async ({
  blank,
  fixtures,
}) => {
  const scoped = await Registry.start('--fixtures', 'basic', '--require-token', 'secret');
  try {
    const open = { registry: fixtures.url };
    const place = scoped.url.replace(/^http:/, '');
    const npmrc = `registry=http://127.0.0.1:9/\n@scope:registry=${scoped.url}\n${place}:_authToken=\${TOKEN}\n`;
    expect(await outcome(blank, open, { npmrc, environment: { TOKEN: 'secret' } })).toBe(3);
    const packages = async (registry: Registry) => {
      const asked = (await registry.requestsFor('/')).filter(({ method }) => method !== 'OPTIONS');
      return [...new Set(asked.map(({ path, authorized }) => `${path.split('/-/')[0]} ${authorized}`))].sort();
    };
    expect(await packages(scoped)).toEqual(['/@scope/middle true']);
    expect(await packages(fixtures)).toEqual(['/left false', '/right false']);
    expect(await outcome(blank, open, { npmrc, environment: { TOKEN: 'other' } })).toBe('REGISTRY_UNAUTHORIZED');
    // Whoever opened the store goes before the project.
    const scopes = { '@scope': fixtures.url };
    expect(await outcome(blank, { ...open, scopes }, { npmrc })).toBe(3);
    // The next install knows nothing of it.
    expect(await outcome(blank, open, {})).toBe(3);
  } finally {
    scoped.stop();
  }
});

test('options of an install go before the file', async ({ blank, fixtures }) => {
  const open = { registry: fixtures.url };
  const packageJson = { devDependencies: { left: '*' }, dependencies: { 'old-shasum': '*' } };
  const npmrc = 'omit=dev\noffline=true';
  expect(await outcome(blank, open, { packageJson, npmrc })).toBe('REGISTRY_NOT_CACHED');
  expect(await outcome(blank, open, { packageJson, npmrc, offline: false })).toBe(1);
  // Of those that go together all, and no other registry for packages without a scope.
  const elsewhere = 'scope=@other\n@other:registry=http://127.0.0.1:9/';
  expect(await outcome(blank, open, { packageJson, npmrc: `offline=true\n${elsewhere}`, preferOnline: true })).toBe(2);
  const everything = { packageJson, offline: false, omit: [] };
  expect(await outcome(blank, open, { ...everything, npmrc })).toBe(2);
  expect(await outcome(blank, open, { ...everything, npmrc: `${npmrc}\nproduction=true\nonly=prod` })).toBe(2);
});

test('the file says how patient to be and where tarballs are, and what makes no sense is told', async ({
  blank,
  fixtures,
}) => {
  const told = await inPage(
    blank,
    async ({ Gantry }, argument) => {
      const { npmrc, registry } = JSON.parse(argument);
      const gantry = await Gantry.open({ registry });
      const warnings: string[] = [];
      const began = performance.now();
      const install = gantry.install({
        packageJson: { dependencies: { 'hang-tarball': '*' } },
        npmrc,
        onEvent: (event) => {
          if (event.type === 'warning') warnings.push(`${event.code}: ${event.message}`);
        },
      });
      const code = await install.then(
        () => 'installed',
        ({ code }) => code,
      );
      await gantry.close();
      return { code, warnings, milliseconds: performance.now() - began };
    },
    JSON.stringify({
      registry: fixtures.url,
      npmrc: 'fetch-timeout=500\nfetch-retries=0\nfetch-retry-factor=often',
    }),
  );
  expect(told.warnings).toEqual(['CONFIG_INVALID: fetch-retry-factor=often is not a number: its default is used']);
  expect(told.code).toBe('REGISTRY_TIMEOUT');
  expect(told.milliseconds).toBeLessThan(10_000);
});

test('what the file asks for and cannot be had is an error', async ({ blank, fixtures }) => {
  const open = { registry: fixtures.url };
  expect(await outcome(blank, open, { npmrc: 'install-links=true' })).toBe('CONFIG_UNSUPPORTED');
  expect(await outcome(blank, open, { npmrc: 'package-lock-only=true' })).toBe('CONFIG_UNSUPPORTED');
  expect(await outcome(blank, open, { npmrc: 'install-strategy=other' })).toBe('CONFIG_INVALID');
  expect(await outcome(blank, open, { npmrc: '_authToken=secret' })).toBe('CONFIG_INVALID');
  expect(await outcome(blank, open, { npmrc: 'lockfile-version=9' })).toBe('CONFIG_INVALID');
});

/** A page installs single workspaces: step by step lock, manifests and tree are those of the command with the same options. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { InstallEvent, InstallOptions } from '../../web/src/index.js';
import { expect, test } from './support/fixtures.js';
import { inPage } from './support/in-page.js';
import { inNativeProject, PAGE_TARGET } from './support/native.js';

type Options = Omit<InstallOptions, 'packageJson' | 'files' | 'onEvent' | 'signal'>;
type Files = Record<string, string>;

interface Step {
  /** Files of the user that change before. */
  edits?: Files;
  options: Options;
  /** After these words the command does the same. */
  words: string[];
  /** Close the store afterwards, and look at the project as it was recorded. */
  reopens?: true;
}

const json = (fields: object) => `${JSON.stringify(fields, null, 2)}\n`;
const member = (name: string, fields: object) => json({ name, version: '1.0.0', ...fields });
const root = (fields: object = { dependencies: { left: '1.1.0' } }) =>
  member('root', { workspaces: ['p/*', 'q/*'], ...fields });
/** `a` is like any other, `b` needs another version of what the project has, `c` needs `a`, `d` has everything. */
const files: Files = {
  'package.json': root(),
  'p/a/package.json': member('a', { dependencies: { right: '1' } }),
  'p/b/package.json': member('b', { dependencies: { left: '1.0.0', executable: '1' } }),
  'q/c/package.json': member('@team/c', { dependencies: { a: '^1.0.0', '@scope/middle': '1' } }),
  'q/d/package.json': member('d', {
    dependencies: { left: '1', 'with-optional': '*' },
    devDependencies: { 'peer-host': '1.0.0', 'with-script': '*' },
    optionalDependencies: { executable: '*' },
  }),
};

const HIDDEN_LOCK = 'node_modules/.package-lock.json';

/** What a step comes to. */
interface State {
  lockfile: string;
  manifests: Files;
  hiddenLock: string | undefined;
  digest: string;
}

/** What the steps come to in a page. */
async function inPages(page: Parameters<typeof inPage>[0], registry: string, steps: readonly Step[]): Promise<State[]> {
  return inPage(
    page,
    async ({ Gantry }, argument) => {
      const { registry, start, steps, hidden } = JSON.parse(argument) as {
        registry: string;
        start: Files;
        steps: Step[];
        hidden: string;
      };
      let gantry = await Gantry.open({ registry });
      const all = { ...start };
      const states: State[] = [];
      for (const { edits, options, reopens } of steps) {
        Object.assign(all, edits);
        const { 'package.json': packageJson = '', ...files } = all;
        let project = await gantry.install({ project: 'root', packageJson, files, ...options });
        Object.assign(all, project.workspaceManifests);
        if (project.packageJson !== undefined) all['package.json'] = project.packageJson;
        if (reopens) {
          await gantry.close();
          gantry = await Gantry.open({ registry });
          const opened = await gantry.project('root');
          if (!opened || Object.keys(opened.workspaceManifests).length > 0) throw new Error('it is not as recorded');
          project = opened;
        }
        const hiddenLock = await project.fs.readFile(hidden, 'utf8').catch(() => undefined);
        const digest = await project.treeDigest();
        states.push({ lockfile: project.lockfile, manifests: { ...all }, hiddenLock, digest });
      }
      await gantry.close();
      return states;
    },
    JSON.stringify({ registry, start: files, steps, hidden: HIDDEN_LOCK }),
  );
}

/** Runs the steps with the command; what each comes to must be the `states` of a page. */
function expectAsCommand(registry: string, steps: readonly Step[], states: readonly State[]): void {
  const { 'package.json': packageJson = '', ...others } = files;
  inNativeProject(packageJson, registry, others, (project, gantry) => {
    const text = (path: string) => readFileSync(join(project, path), 'utf8');
    for (const [index, { edits = {}, options, words }] of steps.entries()) {
      for (const [path, content] of Object.entries(edits)) {
        mkdirSync(dirname(join(project, path)), { recursive: true });
        writeFileSync(join(project, path), content);
      }
      const [command = '', ...rest] = words;
      const { os, cpu } = options.target ?? PAGE_TARGET;
      gantry(command, ...rest, '--ignore-scripts', '--json', '--os', os, '--cpu', cpu);
      const made = states[index];
      const expected: State = {
        lockfile: text('package-lock.json'),
        manifests: Object.fromEntries(Object.keys(made?.manifests ?? {}).map((path) => [path, text(path)])),
        hiddenLock: existsSync(join(project, HIDDEN_LOCK)) ? text(HIDDEN_LOCK) : undefined,
        digest: gantry('digest').trim(),
      };
      expect(made, `step ${index}: ${words.join(' ')}`).toEqual(expected);
    }
  });
}

test('what a whole project has stays, but for the workspaces that are chosen', async ({ blank, fixtures }) => {
  const steps: Step[] = [
    { options: {}, words: ['install'] },
    {
      edits: {
        'p/a/package.json': member('a', { dependencies: { '@scope/middle': '1' } }),
        'p/b/package.json': member('b', { dependencies: { left: '1.1.0' } }),
      },
      options: { workspace: 'a' },
      words: ['install', '-w', 'a'],
      reopens: true,
    },
    { options: { workspace: ['./p/b', '@team/c'] }, words: ['install', '-w', './p/b', '-w', '@team/c'] },
    { options: { add: ['with-script'], workspace: 'a' }, words: ['install', 'with-script', '-w', 'a'] },
    {
      options: { add: ['left@1.0.0'], saveAs: 'dev', workspace: 'q' },
      words: ['install', '-D', 'left@1.0.0', '-w', 'q'],
      reopens: true,
    },
    { options: { remove: ['with-script'], workspace: ['a'] }, words: ['uninstall', 'with-script', '-w', 'a'] },
    { options: { update: ['left'], workspace: 'd' }, words: ['update', 'left', '-w', 'd'] },
    { options: { update: true, workspace: 'b' }, words: ['update', '-w', 'b'] },
    {
      options: { add: ['executable'], workspace: 'a', includeWorkspaceRoot: true },
      words: ['install', 'executable', '-w', 'a', '--include-workspace-root'],
    },
    {
      edits: { 'package.json': root({ dependencies: { deprecated: '*' } }) },
      options: { workspace: 'b' },
      words: ['install', '-w', 'b'],
    },
    { options: { workspaces: false }, words: ['install', '--no-workspaces'] },
    { options: { workspaces: true }, words: ['install', '--workspaces'] },
    { options: { omit: ['dev'], workspace: 'd' }, words: ['install', '--omit=dev', '-w', 'd'], reopens: true },
    { options: { workspace: 'a', frozen: true }, words: ['ci', '-w', 'a'], reopens: true },
    { options: { workspace: 'b' }, words: ['install', '-w', 'b'] },
    { options: {}, words: ['install'] },
  ];
  expectAsCommand(fixtures.url, steps, await inPages(blank, fixtures.url, steps));
});

test('a part is installed where there was nothing, and the rest comes to it', async ({ blank, fixtures }) => {
  const steps: Step[] = [
    { options: { workspace: '@team/c' }, words: ['install', '-w', '@team/c'], reopens: true },
    { options: { workspaces: false, frozen: true }, words: ['ci', '--no-workspaces'] },
    { options: { workspaces: true, frozen: true }, words: ['ci', '--workspaces'] },
    {
      edits: { 'q/new/package.json': member('new', { dependencies: { left: '1.0.0' } }) },
      options: { add: ['with-script'], workspace: 'new' },
      words: ['install', 'with-script', '-w', 'new'],
    },
    { options: { add: ['with-script'], workspace: 'new' }, words: ['install', 'with-script', '-w', 'new'] },
    { options: { includeWorkspaceRoot: true }, words: ['install', '--include-workspace-root'] },
    { options: { add: ['a', './p/b'], workspace: 'd' }, words: ['install', 'a', './p/b', '-w', 'd'] },
    {
      options: { lockfileVersion: 1, workspace: 'b' },
      words: ['install', '--lockfile-version', '1', '-w', 'b'],
      reopens: true,
    },
    { options: { workspaces: true, includeWorkspaceRoot: true }, words: ['install', '--workspaces', '--iwr'] },
  ];
  expectAsCommand(fixtures.url, steps, await inPages(blank, fixtures.url, steps));
});

test('what stays is what was there, also for another machine', async ({ blank, fixtures }) => {
  const elsewhere = { os: 'plan9', cpu: 'pdp11' };
  const steps: Step[] = [
    { options: { target: elsewhere }, words: ['install'] },
    { options: { workspace: 'a' }, words: ['install', '-w', 'a'], reopens: true },
    { options: { workspace: 'b' }, words: ['install', '-w', 'b'] },
    { options: { workspace: 'd' }, words: ['install', '-w', 'd'], reopens: true },
  ];
  const states = await inPages(blank, fixtures.url, steps);
  expectAsCommand(fixtures.url, steps, states);
  const has = states.map(({ hiddenLock }) => hiddenLock?.includes('node_modules/only-elsewhere'));
  expect(has).toEqual([true, true, true, false]);
});

test('what cannot be chosen is refused, and nothing changes', async ({ blank, fixtures }) => {
  const result = await inPage(
    blank,
    async ({ Gantry }, argument) => {
      const { registry, files } = JSON.parse(argument) as { registry: string; files: Files };
      const { 'package.json': packageJson = '', ...others } = files;
      const gantry = await Gantry.open({ registry });
      const before = await gantry.install({ packageJson, files: others });
      const told: InstallEvent[] = [];
      const attempt = (options: object, alone = false) =>
        gantry
          .install({
            packageJson: alone ? '{"name":"alone"}' : packageJson,
            files: others,
            onEvent: (event) => told.push(event),
            ...options,
          })
          .then(
            () => ['none'],
            ({ code, message, hint }: { code: string; message: string; hint?: string }) => [code, message, hint],
          );
      const refusals = [
        await attempt({ workspace: 'absent' }),
        await attempt({ workspace: 'a', workspaces: false }),
        await attempt({ workspaces: true }, true),
        await attempt({ workspace: 5 }),
        await attempt({ workspace: ['a', ''] }),
        await attempt({ workspace: [undefined] }),
        await attempt({ workspaces: 'all' }),
        await attempt({ includeWorkspaceRoot: 1 }),
        await attempt({ workspace: 'a', frozen: true, add: ['left'] }),
      ];
      const digest = await (await gantry.project())?.treeDigest();
      const same = digest === (await before.treeDigest());
      const warnings = () => told.flatMap((event) => (event.type === 'warning' ? [event.code] : []));
      const quiet = warnings();
      const found = await attempt({ workspace: ['absent', 'a'] });
      // What the page has of an installed tree is no tree of another tool.
      await gantry.removeProject();
      const handed = { 'node_modules/x/package.json': '{"name":"x","version":"1.0.0"}', ...others };
      const fresh = await attempt({ files: handed, workspace: 'b' });
      return { refusals, same, quiet, found, warnings: warnings(), fresh };
    },
    JSON.stringify({ registry: fixtures.url, files }),
  );
  const codes = result.refusals.map(([code]) => code);
  expect(codes).toEqual([
    'WORKSPACE_UNKNOWN',
    'CONFIG_INVALID',
    'WORKSPACE_UNKNOWN',
    ...Array.from({ length: 6 }, () => 'INVALID_OPTION'),
  ]);
  expect(result.refusals[0]?.[2]).toContain('a, b, @team/c, d');
  expect(result.refusals[1]?.[1]).toBe('workspaces=false, and a is chosen');
  expect(result.refusals[4]?.[1]).toContain('""');
  expect(result.refusals[6]?.[1]).toBe('workspaces: "all" is neither true nor false');
  const { same, quiet, found, warnings, fresh } = result;
  expect({ same, quiet, found, fresh }).toEqual({ same: true, quiet: [], found: ['none'], fresh: ['none'] });
  expect(warnings).toContain('WORKSPACE_UNKNOWN');
});

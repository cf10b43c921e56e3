/** A page adds, removes and updates dependencies by name: package.json, lock and tree are those of the command. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DependencyChanges } from '../../web/src/index.js';
import { expect, test } from './support/fixtures.js';
import { inPage } from './support/in-page.js';
import { inNativeProject, PAGE_TARGET } from './support/native.js';

/** Steps of a page, and the words after which the command does the same. */
const steps: [DependencyChanges, string[]][] = [
  [{ add: ['right', 'left@1.0.0'] }, ['install', 'right', 'left@1.0.0']],
  [{ add: ['executable'], saveAs: 'dev', savePrefix: '' }, ['install', '-D', '-E', 'executable']],
  [{ add: ['old@npm:left@next'] }, ['install', 'old@npm:left@next']],
  [{ update: ['left'] }, ['update', 'left']],
  [{ remove: ['right', 'executable'] }, ['uninstall', 'right', 'executable']],
  [{ add: ['peer-guest'], saveAs: 'optional' }, ['install', '-O', 'peer-guest']],
  [{ update: true }, ['update']],
];
const start = '{\n\t"name": "project",\n\t"version": "1.0.0"\n}\n';

test('every step comes to what the command comes to', async ({ blank, fixtures }) => {
  const made = await blank.evaluate(
    async ({ registry, start, steps }) => {
      const { Gantry } = await import('/package/dist/index.js' as string);
      const gantry = await Gantry.open({ registry });
      let packageJson = start;
      const made = [];
      for (const changes of steps) {
        const project = await gantry.install({ project: 'project', packageJson, ...changes });
        packageJson = project.packageJson ?? packageJson;
        made.push({ packageJson, lockfile: project.lockfile as string, digest: await project.treeDigest() });
      }
      return made;
    },
    { registry: fixtures.url, start, steps: steps.map(([changes]) => changes) },
  );
  inNativeProject(start, fixtures.url, {}, (project, gantry) => {
    const target = ['--os', PAGE_TARGET.os, '--cpu', PAGE_TARGET.cpu];
    for (const [index, [, [command = '', ...words]]] of steps.entries()) {
      gantry(command, ...words, ...target, '--json');
      const text = (file: string) => readFileSync(join(project, file), 'utf8');
      const digest = gantry('digest').trim();
      const expected = { packageJson: text('package.json'), lockfile: text('package-lock.json'), digest };
      expect(made[index], `${command} ${words.join(' ')}`).toEqual(expected);
    }
  });
});

test('a folder of the page gets its name from its package.json, and nothing else changes what was given', async ({
  blank,
  fixtures,
}) => {
  const result = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry });
      const files = { 'libs/own/package.json': '{"name":"its-own","version":"1.0.0"}', 'libs/bare/package.json': '{}' };
      const packageJson = '{"dependencies":{"left":"^1.0.0"}}';
      const code = (options: object) =>
        gantry.install({ packageJson, files, ...options }).then(
          () => 'none',
          (error: { code: string }) => error.code,
        );
      const added = await gantry.install({ packageJson, files, add: ['./libs/own'] });
      const updated = await gantry.install({ packageJson, files, update: true });
      return {
        added: added.packageJson,
        updated: updated.packageJson,
        opened: (await gantry.project())?.packageJson,
        codes: [
          await code({ add: ['./libs/bare'] }),
          await code({ add: ['left'], frozen: true }),
          await code({ add: ['left'], saveAs: 'elsewhere' }),
          await code({ add: ['never-published'] }),
          await code({ add: ['workspace:*'] }),
          await code({ update: ['left@1'] }),
        ],
      };
    },
    fixtures.url,
  );
  expect(result).toEqual({
    added: '{"dependencies":{"its-own":"file:libs/own","left":"^1.0.0"}}',
    updated: undefined,
    opened: undefined,
    codes: [
      'DEPENDENCY_NAMELESS',
      'INVALID_OPTION',
      'INVALID_OPTION',
      'RESOLVE_PACKAGE_NOT_FOUND',
      'SPEC_UNSUPPORTED_PROTOCOL',
      'INVALID_OPTION',
    ],
  });
});

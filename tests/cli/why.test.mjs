// `gantry why` says what `npm explain` says.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { projectsFolder, registryForSuite, Workspace } from './lib/programs.mjs';

/** Dependants come in the order in which npm's tree was put together; what is said of each is compared, not the order. */
function unordered(explanation) {
  if (Array.isArray(explanation)) {
    return explanation.map(unordered).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  if (typeof explanation !== 'object' || explanation === null) return explanation;
  const { overridden, location, ...rest } = explanation;
  // Of the project itself npm gives the absolute folder.
  const place = rest.name === undefined && !rest.from ? {} : { location };
  return Object.fromEntries(
    Object.entries({ ...rest, ...place })
      .map(([key, value]) => [key, unordered(value)])
      .sort(),
  );
}

describe('why', { concurrency: 1 }, () => {
  let registry;
  registryForSuite((url) => {
    registry = url;
  });

  test('real packages, each explained as npm explains it', (context) => {
    const workspace = new Workspace(context, registry);
    const manifest = readFileSync(join(projectsFolder, 'vue', 'package.json'));
    const project = workspace.project('project', { 'package.json': manifest });
    workspace.gantry('install', '--prefix', project, '--ignore-scripts').succeeded();
    const { packages } = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'));
    const places = Object.keys(packages).filter((path) => path.startsWith('node_modules/') && !packages[path].optional);
    // npm takes half a second for each.
    const chosen = places.filter((_, index) => index % Math.ceil(places.length / 20) === 0);
    for (const place of chosen) {
      const ours = JSON.parse(workspace.gantry('why', place, '--prefix', project, '--json').succeeded().stdout);
      const theirs = JSON.parse(workspace.npm(project, 'explain', place, '--json').succeeded().stdout);
      assert.deepEqual(unordered(ours), unordered(theirs), place);
    }
    const text = workspace.gantry('why', '@vue/shared', '--prefix', project).succeeded().stdout.trim().split('\n');
    const npmText = workspace.npm(project, 'explain', '@vue/shared').succeeded().stdout.trim().split('\n');
    assert.deepEqual(text.slice(0, 2), npmText.slice(0, 2));
    assert.deepEqual(text.toSorted(), npmText.toSorted(), 'the same lines');
  });

  test('workspaces, aliases and overrides; what is not there is said', (context) => {
    const workspace = new Workspace(context, registry);
    const project = workspace.project('project', {
      'package.json': { name: 'root', workspaces: ['member'], overrides: { '@vue/shared': '3.5.13' } },
    });
    workspace.project('project/member', {
      'package.json': { name: 'member', version: '1.0.0', dependencies: { '@vue/reactivity': '*' } },
    });
    const locked = JSON.stringify({
      name: 'root',
      lockfileVersion: 3,
      packages: {
        '': { name: 'root', workspaces: ['member'] },
        member: { version: '1.0.0', dependencies: { '@vue/reactivity': '*' } },
        'node_modules/@vue/reactivity': { version: '3.5.12', dependencies: { '@vue/shared': '3.5.12' }, dev: true },
        'node_modules/@vue/shared': { version: '3.5.13' },
        'node_modules/member': { resolved: 'member', link: true },
        'node_modules/other': { version: '1.0.0', extraneous: true },
      },
    });
    workspace.project('project', { 'package-lock.json': locked });
    const why = (query) => workspace.gantry('why', query, '--prefix', project);
    assert.equal(
      why('@vue/shared').succeeded().stdout,
      `@vue/shared@3.5.13
node_modules/@vue/shared
  overridden @vue/shared@"3.5.13" (was "3.5.12") from @vue/reactivity@3.5.12
  node_modules/@vue/reactivity
    @vue/reactivity@"*" from member@1.0.0
    member
      member@1.0.0
      node_modules/member
        workspace member from the root project
`,
    );
    assert.equal(why('other@1').succeeded().stdout, 'other@1.0.0 extraneous\nnode_modules/other\n');
    for (const nothing of ['nobody', 'other@2', 'node_modules/x', '@', 'other@github:a/b']) {
      const run = workspace.gantry('why', nothing, '--prefix', project, '--json');
      assert.deepEqual([run.status, run.lines[0].code], [1, 'PACKAGE_UNKNOWN'], nothing);
    }
  });
});

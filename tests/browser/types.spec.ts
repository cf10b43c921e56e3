/** The package's declarations in projects of other settings than its own. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from './support/fixtures.js';
import { inRoot, packageFolder } from './support/paths.js';

const SOURCE = `
import { Gantry, GantryError } from 'gantry';
import { toTar } from 'gantry/export';
import { openProject } from 'gantry/read';
import { openProject as openSync } from 'gantry/sync';

export async function use(): Promise<string> {
  const gantry = await Gantry.open({ registry: '/' });
  const project = await gantry.install({ packageJson: {} });
  console.log(toTar(project), GantryError, openProject, openSync);
  return project.fs.readFile('/a', 'utf8');
}
`;

const BUNDLER = { module: 'esnext', moduleResolution: 'bundler' };
const settings = [
  ['a page that is bundled', 'use.ts', { ...BUNDLER, lib: ['es2023', 'dom'] }],
  ['a page with the library of an older language', 'use.ts', { ...BUNDLER, lib: ['es2020', 'dom'] }],
  ['a worker', 'use.ts', { ...BUNDLER, lib: ['es2023', 'webworker'] }],
  ['node16', 'use.mts', { module: 'node16', lib: ['es2023', 'dom'] }],
  ['nodenext', 'use.mts', { module: 'nodenext', lib: ['es2023', 'dom'] }],
  [
    'everything that can be strict',
    'use.ts',
    {
      ...BUNDLER,
      lib: ['es2023', 'dom'],
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noPropertyAccessFromIndexSignature: true,
      verbatimModuleSyntax: true,
      isolatedModules: true,
    },
  ],
] as const;

test('its types are right in projects of many settings', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-settings-'));
  try {
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(packageFolder, join(folder, 'node_modules', 'gantry'));
    const found = settings.map(([name, file, options]) => {
      const common = {
        noEmit: true,
        strict: true,
        skipLibCheck: false,
        preserveSymlinks: true,
        target: 'es2022',
        types: [],
      };
      writeFileSync(join(folder, file), SOURCE);
      const configuration = { compilerOptions: { ...common, ...options }, files: [file] };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(configuration));
      const { stdout } = spawnSync(inRoot('node_modules', '.bin', 'tsc'), ['-p', '.'], {
        cwd: folder,
        encoding: 'utf8',
      });
      return [name, stdout];
    });
    expect(found).toEqual(settings.map(([name]) => [name, '']));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('projects that do not look at `exports` find the same declarations', () => {
  const { exports, typesVersions } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8'));
  const parts = Object.entries<{ types?: string }>(exports).filter(([path, { types }]) => path !== '.' && types);
  expect(parts.length).toBeGreaterThan(4);
  const expected = parts.map(([path, { types }]) => [path.slice('./'.length), [types]]);
  expect(typesVersions).toEqual({ '*': Object.fromEntries(expected) });
});

/** What a page is told of newer versions is what the command tells. */
import { expect, test } from './support/fixtures.js';
import { inPage } from './support/in-page.js';
import { inNativeProject } from './support/native.js';

const MANIFEST = {
  name: 'root',
  workspaces: ['packages/*'],
  dependencies: { left: '1.0.0', right: '^1.0.0', other: 'npm:left@1.0.0' },
  devDependencies: { 'peer-host': '1', executable: '1' },
  optionalDependencies: { 'never-published': '1' },
};
const FILES = {
  'packages/a/package.json': JSON.stringify({ name: 'a', version: '1.0.0', dependencies: { left: '1.0.0' } }),
};

/** What the command prints, as the page has it but for the project's name. */
function listed(printed: string): object[] {
  return Object.entries<unknown>(JSON.parse(printed)).flatMap(([name, found]) =>
    ([found].flat() as Record<string, string>[]).map(({ location, dependedByLocation, dependent, ...rest }) => ({
      ...rest,
      ...(location && { location: location.slice(location.indexOf('node_modules')) }),
      ...(dependedByLocation !== '' && { dependent }),
      name,
      dependentLocation: dependedByLocation,
    })),
  );
}

test('of which packages there are newer versions, asked of the registry each time', async ({ blank, fixtures }) => {
  const inThePage = await inPage(
    blank,
    async ({ Gantry }, argument) => {
      const { registry, packageJson, files } = JSON.parse(argument);
      const gantry = await Gantry.open({ registry });
      const options = { packageJson, files };
      const nothing = await gantry.outdated(options);
      await gantry.install(options);
      const listed = [
        nothing,
        await gantry.outdated(options),
        await gantry.outdated({ ...options, all: true }),
        await gantry.outdated({ ...options, packages: 'left' }),
        await gantry.outdated({ ...options, workspace: 'a' }),
        await gantry.outdated({ ...options, omit: 'dev' }),
      ];
      const projects = await gantry.projects();
      await gantry.close();
      return { listed, projects };
    },
    JSON.stringify({ registry: fixtures.url, packageJson: MANIFEST, files: FILES }),
  );
  const natively = inNativeProject(JSON.stringify(MANIFEST), fixtures.url, FILES, (_, gantry) => {
    const outdated = (...words: string[]) => {
      try {
        return listed(gantry('outdated', '--json', '--long', ...words));
      } catch (error) {
        // As npm: there is something.
        const { status, stdout } = error as { status: number; stdout: string };
        expect(status).toBe(1);
        return listed(stdout);
      }
    };
    const nothing = outdated();
    gantry('install');
    return [nothing, outdated(), outdated('--all'), outdated('left'), outdated('-w', 'a'), outdated('--omit=dev')];
  });
  const unnamed = inThePage.listed.map((list) =>
    list.map(({ dependent, workspace, ...rest }) => ({ ...rest, ...(rest.dependentLocation && { dependent }) })),
  );
  expect(unnamed).toEqual(natively);
  expect(inThePage.listed[1]?.map(({ name, current, latest }) => [name, current, latest])).toEqual([
    ['left', '1.0.0', '1.1.0'],
    ['left', '1.0.0', '1.1.0'],
    ['other:left@1.0.0', '1.0.0', '1.1.0'],
    ['peer-host', '1.0.0', '2.0.0'],
  ]);
  expect(inThePage.listed[1]?.map(({ dependent, workspace }) => workspace ?? dependent)).toEqual([
    'a@1.0.0',
    'default',
    'default',
    'default',
  ]);
  expect(inThePage.projects).toEqual(['default']);
});

test('a registry that cannot be asked is an error; what is kept will do where that is wanted', async ({
  blank,
  fixtures,
}) => {
  const packageJson = { dependencies: { left: '1.0.0' } };
  const open = (registry: string) =>
    inPage(
      blank,
      async ({ Gantry }, argument) => {
        const { registry, packageJson } = JSON.parse(argument);
        const gantry = await Gantry.open({ registry, fetchRetries: 0 });
        await gantry.install({ packageJson });
        Object.assign(globalThis, { gantry });
      },
      JSON.stringify({ registry, packageJson }),
    );
  await open(fixtures.url);
  await fixtures.fault({ path: '/left', kind: 'status', status: 500 });
  const outcomes = await inPage(
    blank,
    async (_, argument) => {
      const { gantry } = globalThis as unknown as { gantry: import('../../web/src/index.js').Gantry };
      const packageJson = JSON.parse(argument);
      const code = (call: Promise<unknown>) => call.catch(({ code }) => code);
      const outcomes = [
        await code(gantry.outdated({ packageJson })),
        await code(gantry.outdated({ packageJson, signal: AbortSignal.abort() })),
        await code(gantry.outdated({ packageJson, add: 'right' } as never)),
        await code(gantry.outdated({ packageJson, offline: true }).then(([first]) => first?.latest)),
        await code(gantry.install({ packageJson }).then(({ packages }) => packages)),
      ];
      await gantry.close();
      return outcomes;
    },
    JSON.stringify(packageJson),
  );
  expect(outcomes).toEqual(['REGISTRY_STATUS', 'ABORTED', 'INVALID_OPTION', '1.1.0', 1]);
});

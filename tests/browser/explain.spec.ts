/** What a page is told of packages and of conflicts is what the command tells. */
import { expect, test } from './support/fixtures.js';
import { inPage } from './support/in-page.js';
import { inNativeProject } from './support/native.js';

test('why a package is in the tree', async ({ blank, fixtures }) => {
  const manifest = { name: 'root', dependencies: { right: '1', '@scope/middle': '1' } };
  const inThePage = await inPage(
    blank,
    async ({ Gantry }, argument) => {
      const { registry, manifest } = JSON.parse(argument);
      const gantry = await Gantry.open({ registry });
      const project = await gantry.install({ packageJson: manifest });
      const explained = [
        await project.why('left'),
        await project.why('node_modules/right'),
        await project.why('nobody'),
      ];
      await gantry.close();
      return explained;
    },
    JSON.stringify({ registry: fixtures.url, manifest }),
  );
  const [left, right, nobody] = inThePage;
  const natively = inNativeProject(JSON.stringify(manifest), fixtures.url, {}, (_, gantry) => {
    gantry('install');
    return ['left', 'node_modules/right'].map((query) => JSON.parse(gantry('why', query, '--json')));
  });
  expect([left, right]).toEqual(natively);
  expect(nobody).toEqual([]);
  expect(left?.[0]?.name).toBe('left');
});

test('which peer dependencies contradict each other, with nothing installed', async ({ blank, fixtures }) => {
  const manifest = { name: 'root', dependencies: { 'peer-guest': '1.0.0', 'peer-host': '2.0.0' } };
  const { conflicts, failure, none, projects, usable } = await inPage(
    blank,
    async ({ Gantry }, argument) => {
      const { registry, manifest } = JSON.parse(argument);
      const gantry = await Gantry.open({ registry });
      const conflicts = await gantry.explain({ packageJson: manifest });
      const failure = await gantry.install({ packageJson: manifest }).catch(({ code, message }) => ({ code, message }));
      const agreed = { ...manifest, dependencies: { ...manifest.dependencies, 'peer-host': '1.0.0' } };
      const none = await gantry.explain({ packageJson: agreed });
      const projects = await gantry.projects();
      const { packages } = await gantry.install({ packageJson: agreed });
      await gantry.close();
      return { conflicts, failure, none, projects, usable: packages };
    },
    JSON.stringify({ registry: fixtures.url, manifest }),
  );
  const natively = inNativeProject(JSON.stringify(manifest), fixtures.url, {}, (_, gantry) =>
    JSON.parse(gantry('explain', '--json')),
  );
  expect(conflicts).toEqual(natively);
  expect(conflicts.map(({ stops, wanted }) => [stops, wanted.name, wanted.from.package])).toEqual([
    [true, 'peer-host', 'peer-guest@1.0.0'],
  ]);
  expect(conflicts[0]?.remedies).not.toHaveLength(0);
  expect(failure).toEqual({ code: 'RESOLVE_PEER_CONFLICT', message: conflicts[0]?.message });
  expect(none).toEqual([]);
  expect(projects).toEqual([]);
  expect(usable).toBe(2);
});

test('to explain a project with bundled dependencies its package is looked into, and an install goes on from there', async ({
  blank,
  fixtures,
}) => {
  const { conflicts, aborted, reused } = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry });
      const options = { packageJson: { dependencies: { 'with-bundle': '*' } } };
      const aborted = await gantry.explain({ ...options, signal: AbortSignal.abort() }).catch(({ code }) => code);
      const conflicts = await gantry.explain(options);
      const { reused } = await gantry.install(options);
      await gantry.close();
      return { conflicts, aborted, reused };
    },
    fixtures.url,
  );
  expect(conflicts).toEqual([]);
  expect(aborted).toBe('ABORTED');
  expect(reused).toBe(1);
});

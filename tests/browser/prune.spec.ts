/** Giving space back: what no project needs leaves the store, and nothing else does. */
import { expect, test } from './support/fixtures.js';
import { inPage } from './support/in-page.js';

test('what only a forgotten project needed goes, and everything else stays as it was', async ({ blank, fixtures }) => {
  const found = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry });
      const install = (project: string, dependencies: Record<string, string>) =>
        gantry.install({ project, packageJson: { name: project, version: '1.0.0', dependencies } });
      const kept = await install('kept', { left: '1.1.0' });
      const digest = await kept.treeDigest();
      await install('gone', { left: '1.0.0', executable: '1.0.0' });
      const before = await gantry.usage();
      const nothing = await gantry.prune();
      const heard: unknown[] = [];
      const { watchProject } = await import('/package/dist/index.js' as string);
      watchProject((change: unknown) => heard.push(change), { project: 'gone' });
      const removed = [await gantry.removeProject('gone'), await gantry.removeProject('gone')];
      const pruned = await gantry.prune();
      const after = await gantry.usage();
      const reading = await kept.fs.readFile('node_modules/left/package.json', 'utf8');
      const verified = await gantry.verify();
      const projects = await gantry.projects();
      const told = [...heard];
      const origin = await navigator.storage.getDirectory();
      const folder = await (await origin.getDirectoryHandle('gantry')).getDirectoryHandle(gantry.store);
      const names: string[] = [];
      for await (const name of folder.keys()) names.push(name);
      const guards = names.filter((name) => name.endsWith('.writer') && !names.includes(name.slice(0, -7)));
      await gantry.close();

      const again = await Gantry.open({ registry });
      const project = await again.project('kept');
      const result = {
        before: before.packages,
        after: after.packages,
        nothing: nothing.packages,
        removed,
        pruned: pruned.packages,
        gaveBack: pruned.bytes > 0,
        guards,
        version: JSON.parse(reading).version,
        damaged: verified.damaged,
        projects,
        same: (await project?.treeDigest()) === digest,
        unknown: (await again.project('gone')) === undefined,
        reinstalled: (await again.install({ project: 'gone', packageJson: { dependencies: { executable: '1.0.0' } } }))
          .packages,
        told,
      };
      await again.close();
      return result;
    },
    fixtures.url,
  );
  expect(found).toEqual({
    before: found.after + found.pruned,
    after: found.after,
    nothing: 0,
    removed: [true, false],
    pruned: 2,
    gaveBack: true,
    guards: [],
    version: '1.1.0',
    damaged: [],
    projects: ['kept'],
    same: true,
    unknown: true,
    reinstalled: 1,
    told: [{ project: 'gone', added: [], removed: ['node_modules/executable', 'node_modules/left'], replaced: [] }],
  });
});

test('versions that an install replaced go; reads and installs wait for their turn', async ({ blank, fixtures }) => {
  const found = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry });
      const install = (left: string) =>
        gantry.install({ packageJson: { name: 'project', version: '1.0.0', dependencies: { left } }, lockfile: null });
      await install('1.0.0');
      const project = await install('1.1.0');
      const read = () => project.fs.readFile('node_modules/left/package.json', 'utf8');
      const [pruned, ...texts] = await Promise.all([gantry.prune(), ...Array.from({ length: 20 }, read)]);
      const [second, installed, last] = await Promise.all([gantry.prune(), install('1.0.0'), gantry.prune()]);
      const result = {
        pruned: [pruned.packages, second.packages, last.packages],
        versions: [...new Set(texts.map((text) => JSON.parse(text as string).version))],
        installed: JSON.parse(await installed.fs.readFile('node_modules/left/package.json', 'utf8')).version,
        damaged: (await gantry.verify()).damaged,
      };
      await gantry.close();
      return result;
    },
    fixtures.url,
  );
  expect(found).toEqual({ pruned: [1, 0, 1], versions: ['1.1.0'], installed: '1.0.0', damaged: [] });
});

test('while a worker reads a project by itself nothing is moved', async ({ blank, fixtures }) => {
  const found = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry });
      await gantry.install({ packageJson: { name: 'project', version: '1.0.0', dependencies: { left: '1.1.0' } } });
      const script = `
        const { openProject } = await import('${location.origin}/package/dist/sync.js');
        const project = await openProject();
        postMessage('open');
        onmessage = () => postMessage(project.fs.readFileSync('node_modules/left/package.json', 'utf8'));`;
      const worker = new Worker(URL.createObjectURL(new Blob([script], { type: 'text/javascript' })), {
        type: 'module',
      });
      const answer = () =>
        new Promise<string>((resolve) =>
          worker.addEventListener('message', ({ data }) => resolve(data), { once: true }),
        );
      await answer();
      const refused = await gantry.prune().catch((error) => error.code);
      const text = answer();
      worker.postMessage('read');
      const version = JSON.parse(await text).version;
      worker.terminate();
      let pruned: unknown;
      for (let attempt = 0; attempt < 50 && pruned === undefined; attempt++) {
        pruned = await gantry.prune().catch(() => new Promise((resolve) => setTimeout(resolve, 20)));
      }
      await gantry.close();
      return { refused, version, pruned };
    },
    fixtures.url,
  );
  expect(found).toEqual({ refused: 'STORE_LOCKED', version: '1.1.0', pruned: { packages: 0, bytes: 0, damaged: 0 } });
});

/** Everything that a page does with a store, wherever that is. */
import type * as exporters from '../../../web/src/export.js';
import type { GantryError, StorageKind } from '../../../web/src/index.js';
import type { PackageModule } from './in-page.js';

/** For `page.evaluate`, in any browser; what comes of it is the same wherever the store is, but for `storage`. */
export async function useForEverything([storage, registry]: readonly [StorageKind, string]) {
  const { Gantry } = (await import(`${location.origin}/package/dist/index.js`)) as PackageModule;
  const out = (await import(`${location.origin}/package/dist/export.js`)) as typeof exporters;
  const sha256 = async (bytes: BufferSource) =>
    [...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))].map((byte) => byte.toString(16)).join(',');
  const archive = async (stream: ReadableStream) => sha256(await new Response(stream).arrayBuffer());
  const one = { name: 'one', version: '1.0.0', dependencies: { express: '^5.3.0', zod: '^4.6.0' } };
  const other = { name: 'other', version: '1.0.0', dependencies: { react: '^19.3.0', lodash: '^4.18.0' } };

  const gantry = await Gantry.open({ registry, storage });
  const first = await gantry.install({ project: 'one', packageJson: one });
  const { fs } = first;
  const result = {
    packages: first.packages,
    lockfile: first.lockfile,
    digest: await first.treeDigest(),
    names: await fs.readdir('node_modules', { recursive: true }),
    text: await fs.readFile('node_modules/express/package.json', 'utf8'),
    size: (await fs.stat('node_modules/zod/package.json')).size,
    real: await fs.realpath('node_modules/./express/lib'),
    missing: await fs.readFile('node_modules/absent').catch((error: GantryError) => error.code),
    why: (await first.why('qs')).map(({ location }) => location),
    tar: await archive(out.toTar(first)),
    zip: await archive(out.toZip(first)),
    tree: Object.keys(await out.toFileSystemTree(first)),
    written: 0,
  };
  const volume = { mkdirSync() {}, symlinkSync() {}, writeFileSync: () => void result.written++ };
  await out.fillVolume(first, volume);

  const again = await gantry.install({ project: 'one', packageJson: one });
  const frozen = await gantry.install({ project: 'ci', packageJson: one, lockfile: first.lockfile, frozen: true });
  const heard: string[][] = [];
  const second = await gantry.install({ project: 'other', packageJson: other });
  second.onDidChange(({ added }) => heard.push([...added]));
  const added = await gantry.install({ project: 'other', packageJson: other, add: ['zod@^4.6.0'] });
  const updated = await gantry.install({ project: 'other', packageJson: added.packageJson ?? {}, update: ['zod'] });
  const conflicts = await gantry.explain({ project: 'other', packageJson: other });
  const outdated = await gantry.outdated({ project: 'other', packageJson: other, all: true });
  const later = {
    requests: [again.requests, frozen.requests, updated.requests],
    digests: [frozen, second, added].map(({ packages, reused }) => [packages, reused]),
    other: [second.lockfile, await added.treeDigest(), added.packageJson, updated.lockfile === added.lockfile],
    conflicts: conflicts.length,
    outdated,
    verified: await gantry.verify(),
    removed: [await gantry.removeProject('one'), await gantry.removeProject('ci')],
    pruned: (await gantry.prune()).packages,
    kept: [await gantry.projects(), await archive(out.toTar(added)), (await gantry.verify()).damaged],
    // Of what has been pruned nothing is left.
    anew: (await gantry.install({ project: 'one', packageJson: one })).reused,
    heard: heard.slice(0, 1),
  };
  const { packages, files, quota, usage, persisted } = await gantry.usage();
  const persists = storage === 'memory' && (await gantry.persist());
  await gantry.clear();
  const cleared = await gantry.projects();
  await gantry.close();
  const closed = await gantry.projects().catch((error: GantryError) => error.code);
  return {
    same: { ...result, ...later, packages, files, cleared, closed },
    storage: { kind: gantry.storage, quota: String(quota), usage, persisted, persists },
  };
}

/** What a page has in OPFS; where it gets no storage, that it gets none. */
export async function lookIntoStorage(): Promise<string[] | 'refused'> {
  const root = await navigator.storage.getDirectory().catch(() => undefined);
  if (!root) return 'refused';
  const names: string[] = [];
  for await (const name of root.keys()) names.push(name);
  return names;
}

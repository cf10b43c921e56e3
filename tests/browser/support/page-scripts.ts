/** What pages of every browser run, for `evaluate` of whoever drives it: each imports the package from the site by itself. */
import type * as exporters from '../../../web/src/export.js';
import type * as reading from '../../../web/src/read.js';
import type { PackageModule } from './in-page.js';

/** Installs one small package into a store that stays open: its workers end with the page. Gives how many packages there are. */
export async function installAndLeaveOpen(registry: string): Promise<number> {
  const { Gantry } = (await import(`${location.origin}/package/dist/index.js`)) as PackageModule;
  const gantry = await Gantry.open({ registry, store: 'reloaded' });
  return (await gantry.install({ packageJson: { dependencies: { left: '1.1.0' } } })).packages;
}

/** Installs the small packages that are read afterwards (`reading.ts`). */
export async function installForReading(registry: string): Promise<void> {
  const { Gantry } = (await import(`${location.origin}/package/dist/index.js`)) as PackageModule;
  const gantry = await Gantry.open({ registry });
  await gantry.install({ packageJson: { dependencies: { right: '^1.0.0', executable: '1.0.0' } } });
  await gantry.close();
}

/** Runs a function of the test, as its source, which gets the package and an address. */
export async function runWithPackage([source, registry]: readonly [string, string]): Promise<unknown> {
  const module = await import(`${location.origin}/package/dist/index.js`);
  return new Function(`return (${source})`)()(module, registry);
}

/** Installs a project and gives the SHA-256 of its tree as a tar archive, in hexadecimal. */
export async function archiveDigest([text, registry]: readonly [string, string]): Promise<string> {
  const { Gantry } = (await import(`${location.origin}/package/dist/index.js`)) as PackageModule;
  const { toTar } = (await import(`${location.origin}/package/dist/export.js`)) as typeof exporters;
  const gantry = await Gantry.open({ registry });
  const project = await gantry.install({ packageJson: text });
  const bytes = await new Response(toTar(project) as BodyInit).arrayBuffer();
  await gantry.close();
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Installs a project, and reads all of it in this page with `gantry/read`, when nobody has the store open any more and the browser
 * refuses the first read of a file, as it may of one that has changed. Gives both digests, and which files were read otherwise by
 * themselves than all at once.
 */
export async function readWholeTree([text, registry]: readonly [string, string]) {
  const { Gantry } = (await import(`${location.origin}/package/dist/index.js`)) as PackageModule;
  const { openProject } = (await import(`${location.origin}/package/dist/read.js`)) as typeof reading;
  const { toFileSystemTree } = (await import(`${location.origin}/package/dist/export.js`)) as typeof exporters;
  const gantry = await Gantry.open({ registry });
  const installed = await (await gantry.install({ packageJson: text })).treeDigest();
  await gantry.close();
  const { arrayBuffer } = Blob.prototype;
  let refused = 0;
  Blob.prototype.arrayBuffer = () => {
    Blob.prototype.arrayBuffer = arrayBuffer;
    refused++;
    return Promise.reject(new DOMException('The file has changed', 'NotReadableError'));
  };
  const project = await openProject();
  const digest = await project.treeDigest();
  const entries = await project.fs.readdir('/', { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => `${parentPath}/${name}`);
  const many = await project.fs.readMany(paths);
  const [exported] = Object.values(await toFileSystemTree(project));
  const different: string[] = [];
  for (const [index, path] of paths.entries()) {
    const one = await project.fs.readFile(path);
    if (String(one) !== String(many[index])) different.push(path);
  }
  project.close();
  return { installed, digest, refused, different, isWhole: paths.length > 100 && exported !== undefined };
}

/** Resolves when a service worker answers the page's requests. */
export async function untilControlled(): Promise<void> {
  const { serviceWorker } = navigator;
  if (serviceWorker.controller) return;
  await new Promise((resolve) => serviceWorker.addEventListener('controllerchange', resolve, { once: true }));
}

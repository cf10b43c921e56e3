/** What pages of every browser run, for `evaluate` of whoever drives it: each imports the package from the site by itself. */
import type * as exporters from '../../../web/src/export.js';
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

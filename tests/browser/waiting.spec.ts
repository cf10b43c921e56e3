/** Over HTTP/1.1 a browser asks an origin for six things at a time: what waits for its turn does not hang. */
import type { ServerResponse } from 'node:http';
import { expect, test } from './support/fixtures.js';
import { inPage, type PackageModule } from './support/in-page.js';
import { lockOfNoise, NoiseHost, packNoise } from './support/noise.js';

/** A body takes three times as long as a request may make no progress. */
const PATIENCE = 1500;
const PIECES = 15;
const PAUSE = (3 * PATIENCE) / PIECES;

async function drip(body: Buffer, response: ServerResponse): Promise<void> {
  response.setHeader('content-length', body.length);
  const size = Math.ceil(body.length / PIECES);
  for (let at = 0; at < body.length; at += size) {
    response.write(body.subarray(at, at + size));
    await new Promise((resume) => setTimeout(resume, PAUSE));
  }
  response.end();
}

const install = async ({ Gantry }: PackageModule, argument: string): Promise<string> => {
  const { url, lockfile, fetchTimeout } = JSON.parse(argument);
  const gantry = await Gantry.open({ registry: `${url}/`, workers: 2, fetchTimeout, fetchRetries: 0 });
  const packageJson = JSON.parse(lockfile).packages[''];
  const outcome = await gantry.install({ packageJson, lockfile, frozen: true }).then(
    ({ packages }) => `${packages} packages`,
    ({ code }) => code,
  );
  await gantry.close();
  return outcome;
};

const names = Array.from({ length: 16 }, (_, index) => `package-${index}`);

test('while all come slowly nothing that waits is given up, and each is asked for once', async ({ blank }) => {
  const packages = packNoise(Object.fromEntries(names.map((name) => [name, 5000])));
  const host = await new NoiseHost((name, response) => drip(packages.get(name)?.tarball as Buffer, response)).start();
  try {
    const lockfile = lockOfNoise(packages, host.url, names);
    const argument = JSON.stringify({ url: host.url, lockfile, fetchTimeout: PATIENCE });
    expect(await inPage(blank, install, argument)).toBe(`${names.length} packages`);
    expect([...host.asked.values()]).toEqual(names.map(() => 1));
  } finally {
    await host.stop();
  }
});

test('workers hear of what others get, also of those of another store', async ({ blank }) => {
  const slow = names.slice(0, 6);
  const packages = packNoise(Object.fromEntries(names.map((name) => [name, 5000])));
  const host = await new NoiseHost((name, response) => {
    const tarball = packages.get(name)?.tarball as Buffer;
    if (slow.includes(name)) return drip(tarball, response);
    response.end(tarball);
    return undefined;
  }).start();
  try {
    const outcomes = await inPage(
      blank,
      async ({ Gantry }, argument) => {
        const { url, locks, fetchTimeout } = JSON.parse(argument);
        const registry = `${url}/`;
        const options = { registry, workers: 2, fetchTimeout, fetchRetries: 0 };
        const stores = await Promise.all(['one', 'other'].map((store) => Gantry.open({ ...options, store })));
        const installs: Promise<string>[] = [];
        for (const [index, gantry] of stores.entries()) {
          const lockfile = locks[index];
          const installed = gantry.install({ packageJson: JSON.parse(lockfile).packages[''], lockfile, frozen: true });
          installs.push(
            installed.then(
              ({ packages }) => `${packages} packages`,
              ({ code }) => code,
            ),
          );
          // By then the first one has all connections.
          await new Promise((resume) => setTimeout(resume, 500));
        }
        const outcomes = await Promise.all(installs);
        for (const gantry of stores) await gantry.close();
        return outcomes;
      },
      JSON.stringify({
        url: host.url,
        locks: [slow, ['package-7']].map((some) => lockOfNoise(packages, host.url, some)),
        fetchTimeout: PATIENCE,
      }),
    );
    expect(outcomes).toEqual(['6 packages', '1 packages']);
    expect([...host.asked.values()]).toEqual([1, 1, 1, 1, 1, 1, 1]);
  } finally {
    await host.stop();
  }
});

test('a server that stops answering is given up after its time, whatever came before', async ({ blank }) => {
  const packages = packNoise(Object.fromEntries(names.map((name) => [name, 5000])));
  const host = await new NoiseHost((name, response) => {
    const { tarball } = packages.get(name) as { tarball: Buffer };
    if (host.asked.size < 4) response.end(tarball);
  }).start();
  try {
    const lockfile = lockOfNoise(packages, host.url, names);
    const argument = JSON.stringify({ url: host.url, lockfile, fetchTimeout: PATIENCE });
    const began = Date.now();
    expect(await inPage(blank, install, argument)).toBe('REGISTRY_TIMEOUT');
    expect(Date.now() - began).toBeLessThan(10 * PATIENCE);
  } finally {
    await host.stop();
  }
});

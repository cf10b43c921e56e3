/** Of large tarballs a page holds a few at a time, however many it needs, and what is small does not wait for them. */
import { expect, test } from './support/fixtures.js';
import { inPage, type PackageModule } from './support/in-page.js';
import { lockOfNoise, NoiseHost, type Packed, packNoise } from './support/noise.js';

const WORKERS = 2;
/** Two of these fill the room of a worker. */
const LARGE_BYTES = 28 << 20;
/** What comes of a large body before it stops: more than enters a module's memory. */
const BEGINNING = 1 << 20;
const large = ['large-1', 'large-2', 'large-3', 'large-4', 'large-5', 'large-6'];
const small = ['small-1', 'small-2', 'small-3'];

let packages = new Map<string, Packed>();
test.beforeAll(() => {
  const sizes = [...large.map((name) => [name, LARGE_BYTES]), ...small.map((name) => [name, 1000])];
  packages = packNoise(Object.fromEntries(sizes));
});

function tarballOf(name: string): Buffer {
  const { tarball } = packages.get(name) ?? {};
  if (!tarball) throw new Error(`no package ${name}`);
  return tarball;
}

/** Sends the beginnings of large tarballs, and the rest when all small ones have been asked for. */
function startHost(isAnnounced: boolean): Promise<NoiseHost> {
  let serveSmall = () => {};
  const smallServed = new Promise<void>((resolve) => {
    serveSmall = resolve;
  });
  const host = new NoiseHost(async (name, response) => {
    const tarball = tarballOf(name);
    if (isAnnounced) response.setHeader('content-length', tarball.length);
    if (small.includes(name)) {
      response.end(tarball);
      if (small.every((one) => host.asked.has(one))) serveSmall();
      return;
    }
    response.write(tarball.subarray(0, BEGINNING));
    await smallServed;
    response.end(tarball.subarray(BEGINNING));
  });
  return host.start();
}

const lockOf = (host: NoiseHost, names: string[]) => lockOfNoise(packages, host.url, names);

for (const isAnnounced of [true, false]) {
  test(`large tarballs ${isAnnounced ? 'of known' : 'of unknown'} length hold up no others`, async ({ blank }) => {
    const host = await startHost(isAnnounced);
    try {
      const script = async ({ Gantry }: PackageModule, argument: string): Promise<string[]> => {
        const { registry, workers, lockfile, names } = JSON.parse(argument);
        // Nothing is to go on by being given up and asked for again.
        const gantry = await Gantry.open({ registry, workers, fetchTimeout: 600_000 });
        const packageJson = JSON.parse(lockfile).packages[''];
        const project = await gantry.install({ packageJson, lockfile, frozen: true });
        const digests: string[] = [];
        for (const name of names) {
          const bytes = await project.fs.readFile(`node_modules/${name}/data`);
          const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array(bytes)));
          digests.push(Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join(''));
        }
        await gantry.close();
        return digests;
      };
      const names = [...packages.keys()];
      const argument = { registry: `${host.url}/`, workers: WORKERS, lockfile: lockOf(host, names), names };
      const digests = await inPage(blank, script, JSON.stringify(argument));
      expect(digests).toEqual([...packages.values()].map(({ digest }) => digest));
      // A browser has six connections for HTTP/1.1: some of the large ones were given up for the small ones to be asked for.
      const timesAsked = large.map((name) => host.asked.get(name) ?? 0);
      expect(timesAsked.reduce((sum, times) => sum + times, 0)).toBeGreaterThan(large.length);
      expect(small.map((name) => host.asked.get(name))).toEqual(small.map(() => 1));
    } finally {
      await host.stop();
    }
  });
}

test('an install is given up while large tarballs wait', async ({ blank }) => {
  const host = await startHost(true);
  try {
    const script = async ({ Gantry }: PackageModule, argument: string): Promise<[string, number]> => {
      const { registry, workers, stuck, works } = JSON.parse(argument);
      const gantry = await Gantry.open({ registry, workers });
      const install = (lockfile: string, signal?: AbortSignal) =>
        gantry.install({
          packageJson: JSON.parse(lockfile).packages[''],
          lockfile,
          frozen: true,
          ...(signal && { signal }),
        });
      const giveUp = new AbortController();
      // By then those that found no room wait for it.
      setTimeout(() => giveUp.abort(), 1000);
      const code = await install(stuck, giveUp.signal).then(
        () => 'none',
        (error: { code: string }) => error.code,
      );
      const project = await install(works);
      const { length } = await project.fs.readFile('node_modules/large-1/data');
      await gantry.close();
      return [code, length];
    };
    const stuck = lockOf(host, large);
    const works = lockOf(host, ['large-1', ...small]);
    const argument = { registry: `${host.url}/`, workers: WORKERS, stuck, works };
    expect(await inPage(blank, script, JSON.stringify(argument))).toEqual(['ABORTED', LARGE_BYTES]);
  } finally {
    await host.stop();
  }
});

/** Of large tarballs a page holds a few at a time, however many it needs, and what is small does not wait for them. */
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from './support/fixtures.js';
import { inPage, type PackageModule } from './support/in-page.js';

const WORKERS = 2;
/** Two of these fill the room of a worker. */
const LARGE_BYTES = 28 << 20;
/** What comes of a large body before it stops: more than enters a module's memory. */
const BEGINNING = 1 << 20;
const large = ['large-1', 'large-2', 'large-3', 'large-4', 'large-5', 'large-6'];
const small = ['small-1', 'small-2', 'small-3'];

interface Packed {
  tarball: Buffer;
  /** Of its file `data`. */
  digest: string;
}

const packages = new Map<string, Packed>();

/** A package with one file of noise. */
function pack(name: string, bytes: number, folder: string): Packed {
  const data = randomBytes(bytes);
  mkdirSync(join(folder, name, 'package'), { recursive: true });
  writeFileSync(join(folder, name, 'package', 'package.json'), JSON.stringify({ name, version: '1.0.0' }));
  writeFileSync(join(folder, name, 'package', 'data'), data);
  const words = ['-c', '--use-compress-program=gzip -1', '-C', join(folder, name), 'package'];
  const tarball = execFileSync('tar', words, { maxBuffer: 2 * LARGE_BYTES });
  return { tarball, digest: createHash('sha256').update(data).digest('hex') };
}

test.beforeAll(() => {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-large-'));
  try {
    for (const name of large) packages.set(name, pack(name, LARGE_BYTES, folder));
    for (const name of small) packages.set(name, pack(name, 1000, folder));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

function tarballOf(name: string): Buffer {
  const { tarball } = packages.get(name) ?? {};
  if (!tarball) throw new Error(`no package ${name}`);
  return tarball;
}

/** Sends the beginnings of large tarballs, and the rest when all small ones have been asked for. */
class Host {
  url = '';
  /** How often each was asked for. */
  readonly asked = new Map<string, number>();
  readonly #isAnnounced: boolean;
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  readonly #smallServed: Promise<void>;
  #serveSmall = () => {};

  constructor(isAnnounced: boolean) {
    this.#isAnnounced = isAnnounced;
    this.#smallServed = new Promise((resolve) => {
      this.#serveSmall = resolve;
    });
  }

  async start(): Promise<this> {
    await new Promise((listening) => this.#server.listen(0, '127.0.0.1', () => listening(undefined)));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const name = (request.url ?? '').slice(1, -'.tgz'.length);
    const tarball = tarballOf(name);
    this.asked.set(name, (this.asked.get(name) ?? 0) + 1);
    const length = this.#isAnnounced && { 'content-length': tarball.length };
    response.writeHead(200, { ...length, 'access-control-allow-origin': '*' });
    if (small.includes(name)) {
      response.end(tarball);
      if (small.every((one) => this.asked.has(one))) this.#serveSmall();
      return;
    }
    response.write(tarball.subarray(0, BEGINNING));
    await this.#smallServed;
    response.end(tarball.subarray(BEGINNING));
  }
}

/** Npm's lock of a project that depends on these. */
function lockOf(host: Host, names: string[]): string {
  const dependencies = Object.fromEntries(names.map((name) => [name, '1.0.0']));
  const entries = names.map((name) => {
    const integrity = `sha512-${createHash('sha512').update(tarballOf(name)).digest('base64')}`;
    return [`node_modules/${name}`, { version: '1.0.0', resolved: `${host.url}/${name}.tgz`, integrity }];
  });
  const all = { '': { dependencies }, ...Object.fromEntries(entries) };
  return JSON.stringify({ lockfileVersion: 3, requires: true, packages: all });
}

for (const isAnnounced of [true, false]) {
  test(`large tarballs ${isAnnounced ? 'of known' : 'of unknown'} length hold up no others`, async ({ blank }) => {
    const host = await new Host(isAnnounced).start();
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
  const host = await new Host(true).start();
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

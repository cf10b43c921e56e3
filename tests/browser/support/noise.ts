/** Packages of noise, which cannot be compressed, and npm's locks that name where they are. */
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Packed {
  tarball: Buffer;
  /** Of its file `data`. */
  digest: string;
}

/** Packages with one file of noise each, of so many bytes. */
export function packNoise(sizes: Readonly<Record<string, number>>): Map<string, Packed> {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-noise-'));
  try {
    return new Map(Object.entries(sizes).map(([name, bytes]) => [name, pack(name, bytes, folder)]));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function pack(name: string, bytes: number, folder: string): Packed {
  const data = randomBytes(bytes);
  mkdirSync(join(folder, name, 'package'), { recursive: true });
  writeFileSync(join(folder, name, 'package', 'package.json'), JSON.stringify({ name, version: '1.0.0' }));
  writeFileSync(join(folder, name, 'package', 'data'), data);
  const words = ['-c', '--use-compress-program=gzip -1', '-C', join(folder, name), 'package'];
  const tarball = execFileSync('tar', words, { maxBuffer: 2 * bytes + (1 << 20) });
  return { tarball, digest: createHash('sha256').update(data).digest('hex') };
}

/** A lock of a project that depends on these, at `<url>/<name>.tgz`. */
export function lockOfNoise(packages: ReadonlyMap<string, Packed>, url: string, names: Iterable<string>): string {
  const all = [...names];
  const dependencies = Object.fromEntries(all.map((name) => [name, '1.0.0']));
  const entries = all.map((name) => {
    const { tarball } = packages.get(name) as Packed;
    const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
    return [`node_modules/${name}`, { version: '1.0.0', resolved: `${url}/${name}.tgz`, integrity }];
  });
  return JSON.stringify({
    lockfileVersion: 3,
    requires: true,
    packages: { '': { dependencies }, ...Object.fromEntries(entries) },
  });
}

/** A server on the loopback interface that pages of any origin may ask. */
export class NoiseHost {
  url = '';
  /** How often each was asked for. */
  readonly asked = new Map<string, number>();
  readonly #server;

  /** `serve` ends the answer; its head, but for what it adds to that, is there. */
  constructor(serve: (name: string, response: ServerResponse) => void | Promise<void>) {
    const listener: RequestListener = (request: IncomingMessage, response: ServerResponse) => {
      const name = (request.url ?? '').slice(1, -'.tgz'.length);
      this.asked.set(name, (this.asked.get(name) ?? 0) + 1);
      response.setHeader('access-control-allow-origin', '*');
      void serve(name, response);
    };
    this.#server = createServer(listener);
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
}

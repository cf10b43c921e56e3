/** How a page asks again for documents that it keeps, of registries that do not all answer alike. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from '@playwright/test';
import { test as base, expect } from './support/fixtures.js';

/** A registry of another origin than the page's, which sees no tags then: the fixtures', but for what a test changes of it. */
class Altered {
  url = '';
  /** The date of all documents; `undefined`: they have none. */
  modified: string | undefined = 'Wed, 01 Jan 2025 00:00:00 GMT';
  /** The only version of `left`, as long as it is there. */
  onlyVersion: string | undefined;
  /** Answers in the place of the fixtures; false where it does not. */
  instead: ((method: string, response: ServerResponse) => boolean) | undefined;
  /** Milliseconds from the first half of a document to the second. */
  drip = 0;
  /** `METHOD name`, with `if-none-match` behind it where that came along. */
  asked: string[] = [];
  readonly #registry: string;
  readonly #server: Server;

  constructor(registry: string) {
    this.#registry = registry;
    this.#server = createServer((...asked) => void this.#answer(...asked));
  }

  async start(): Promise<this> {
    await new Promise<void>((listening) => this.#server.listen(0, '127.0.0.1', listening));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
    return this;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }

  /** Documents alone: tarballs are where the fixtures say. */
  async #answer({ method = 'GET', url = '/', headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    const name = url.slice(1);
    const { accept = '*/*', 'if-none-match': condition } = headers;
    this.asked.push([method, name, ...(condition ? ['if-none-match'] : [])].join(' '));
    if (this.instead?.(method, response)) return;
    const upstream = await fetch(this.#registry + name, { headers: { accept } });
    let body = Buffer.from(await upstream.arrayBuffer());
    if (name === 'left' && this.onlyVersion) body = withOnly(this.onlyVersion, body);
    const etag = `"${createHash('sha256').update(body).digest('hex')}"`;
    const answered = {
      etag,
      'access-control-allow-origin': '*',
      'cache-control': 'public, max-age=300',
      'content-type': upstream.headers.get('content-type') ?? 'application/json',
      ...(this.modified && { 'last-modified': this.modified }),
    };
    if (condition === etag) response.writeHead(304, answered).end();
    else if (method === 'HEAD') response.writeHead(upstream.status, answered).end();
    else {
      response.writeHead(upstream.status, answered).write(body.subarray(0, body.length / 2));
      if (this.drip > 0) await new Promise((over) => setTimeout(over, this.drip));
      response.end(body.subarray(body.length / 2));
    }
  }
}

function withOnly(version: string, document: Buffer): Buffer<ArrayBuffer> {
  const packument = JSON.parse(document.toString());
  packument.versions = { [version]: packument.versions[version] };
  packument['dist-tags'] = { latest: version };
  return Buffer.from(JSON.stringify(packument));
}

const test = base.extend<{ altered: Altered }>({
  altered: async ({ fixtures }, use) => {
    const altered = await new Altered(fixtures.url).start();
    await use(altered);
    await altered.stop();
  },
});

interface Use {
  storage?: 'memory';
  /** Forgets everything that is stored after each install. */
  clear?: boolean;
}

/** Installs without a lock as often as there are choices; gives the versions of `left`. */
function installs(
  page: Page,
  { url }: Altered,
  choices: { preferOnline?: boolean }[],
  use: Use = {},
): Promise<(string | undefined)[]> {
  return page.evaluate(
    async ([registry, list, { storage, clear }]) => {
      const { Gantry } = await import(`${location.origin}/package/dist/index.js`);
      const gantry = await Gantry.open({ registry, fetchRetries: 0, fetchTimeout: 3_000, ...(storage && { storage }) });
      const versions: (string | undefined)[] = [];
      try {
        for (const choice of list) {
          const packageJson = { dependencies: { right: '*' } };
          const { lockfile } = await gantry.install({ packageJson, lockfile: null, ...choice });
          versions.push(JSON.parse(lockfile).packages['node_modules/left']?.version);
          if (clear) await gantry.clear();
        }
      } finally {
        await gantry.close();
      }
      return versions;
    },
    [url, choices, use] as const,
  );
}

const AGAIN = { preferOnline: true };

test('a document with another date than the one that is kept is asked for, others are not', async ({
  blank,
  altered,
}) => {
  altered.onlyVersion = '1.0.0';
  expect(await installs(blank, altered, [{}])).toEqual(['1.0.0']);
  altered.asked = [];
  expect(await installs(blank, altered, [AGAIN])).toEqual(['1.0.0']);
  expect(altered.asked.sort()).toEqual(['HEAD left', 'HEAD right']);

  altered.onlyVersion = '1.1.0';
  altered.modified = 'Thu, 02 Jan 2025 00:00:00 GMT';
  altered.asked = [];
  expect(await installs(blank, altered, [AGAIN, AGAIN])).toEqual(['1.1.0', '1.1.0']);
  const once = ['GET left', 'GET right', 'HEAD left', 'HEAD right'];
  expect(altered.asked.sort()).toEqual([...once, 'HEAD left', 'HEAD right'].sort());
});

test('the browser keeps no second copy: who has cleared the store is told what there is now', async ({
  blank,
  altered,
}) => {
  altered.onlyVersion = '1.0.0';
  expect(await installs(blank, altered, [{}], { clear: true })).toEqual(['1.0.0']);
  altered.onlyVersion = '1.1.0';
  expect(await installs(blank, altered, [{}])).toEqual(['1.1.0']);
});

for (const [what, refuse] of [
  [
    'refuses to give headers alone',
    (response) => response.writeHead(405, { 'access-control-allow-origin': '*' }).end(),
  ],
  ['lets pages see documents only', (response) => response.writeHead(200).end()],
  ['never answers when it is asked for headers alone', () => {}],
] as [string, (response: ServerResponse) => void][]) {
  test(`a registry that ${what} is asked for documents`, async ({ blank, altered }) => {
    altered.onlyVersion = '1.0.0';
    expect(await installs(blank, altered, [{}])).toEqual(['1.0.0']);
    altered.instead = (method, response) => {
      if (method === 'HEAD') refuse(response);
      return method === 'HEAD';
    };
    altered.onlyVersion = '1.1.0';
    altered.modified = 'Thu, 02 Jan 2025 00:00:00 GMT';
    altered.asked = [];
    expect(await installs(blank, altered, [AGAIN, AGAIN, AGAIN])).toEqual(['1.1.0', '1.1.0', '1.1.0']);
    // Each at most once: the second may be asked for before the first is refused.
    const heads = altered.asked.filter((asked) => asked.startsWith('HEAD'));
    expect(heads).toContain('HEAD right');
    expect(heads.length).toBe(new Set(heads).size);
    // From then on the browser asks on condition of what it has itself.
    const got = altered.asked.filter((asked) => asked.startsWith('GET left'));
    expect(got).toHaveLength(3);
    expect(got.at(-1)).toBe('GET left if-none-match');
  });
}

test('a registry whose headers alone tell another date each time is asked for documents', async ({
  blank,
  altered,
}) => {
  expect(await installs(blank, altered, [{}])).toEqual(['1.1.0']);
  altered.instead = (method, response) => {
    const headers = { 'access-control-allow-origin': '*', 'last-modified': new Date().toUTCString() };
    if (method === 'HEAD') response.writeHead(200, headers).end();
    return method === 'HEAD';
  };
  altered.asked = [];
  expect(await installs(blank, altered, [AGAIN, AGAIN, AGAIN])).toEqual(['1.1.0', '1.1.0', '1.1.0']);
  const left = altered.asked.filter((asked) => asked.endsWith('left') || asked.includes('left '));
  expect(left.filter((asked) => asked.startsWith('HEAD')).length).toBeLessThanOrEqual(1);
  expect(left.at(-1)).toBe('GET left if-none-match');
});

test('documents that have changed wait for their turn, however long the others take', async ({ blank, altered }) => {
  // More than a browser has connections, each for longer than one is waited for.
  const names = [
    'left',
    'right',
    'old-shasum',
    'deprecated',
    'executable',
    'with-bundle',
    '@scope/middle',
    'peer-host',
  ];
  const install = (preferOnline: boolean) =>
    blank.evaluate(
      async ([registry, names, preferOnline]) => {
        const { Gantry } = await import(`${location.origin}/package/dist/index.js`);
        const gantry = await Gantry.open({ registry, fetchRetries: 0, fetchTimeout: 1_000 });
        const warnings: string[] = [];
        const dependencies = Object.fromEntries(names.map((name) => [name, '*']));
        const onEvent = ({ type, message }: { type: string; message: string }) => {
          if (type === 'warning') warnings.push(message);
        };
        await gantry.install({ packageJson: { dependencies }, lockfile: null, preferOnline, onEvent });
        await gantry.close();
        return warnings;
      },
      [altered.url, names, preferOnline] as const,
    );
  // A deprecated package is told of where it is new.
  expect(await install(false)).toEqual([expect.stringContaining('deprecated@1.0.0')]);
  altered.modified = 'Thu, 02 Jan 2025 00:00:00 GMT';
  altered.drip = 700;
  expect(await install(true)).toEqual([]);
});

test('a registry that throttles is not asked for the document on top', async ({ blank, altered }) => {
  expect(await installs(blank, altered, [{}])).toEqual(['1.1.0']);
  altered.instead = (_, response) => {
    response.writeHead(429, { 'access-control-allow-origin': '*' }).end();
    return true;
  };
  altered.asked = [];
  await expect(installs(blank, altered, [AGAIN])).rejects.toThrow('answered 429');
  expect(altered.asked).toContain('HEAD right');
  expect(altered.asked.filter((asked) => !asked.startsWith('HEAD'))).toEqual([]);
});

test('where documents have no date, the browser asks on condition of what it has itself', async ({
  blank,
  altered,
}) => {
  altered.modified = undefined;
  altered.onlyVersion = '1.0.0';
  expect(await installs(blank, altered, [{}, AGAIN])).toEqual(['1.0.0', '1.0.0']);
  altered.asked = [];
  expect(await installs(blank, altered, [AGAIN])).toEqual(['1.0.0']);
  expect(altered.asked.sort()).toEqual(['GET left if-none-match', 'GET right if-none-match']);
  altered.onlyVersion = '1.1.0';
  altered.asked = [];
  expect(await installs(blank, altered, [AGAIN])).toEqual(['1.1.0']);
});

test('a store in memory leaves documents to the browser, which has them after a reload', async ({ blank, altered }) => {
  expect(await installs(blank, altered, [{}], { storage: 'memory' })).toEqual(['1.1.0']);
  expect(altered.asked.sort()).toEqual(['GET left', 'GET right']);
  altered.asked = [];
  await blank.reload();
  expect(await installs(blank, altered, [{}], { storage: 'memory' })).toEqual(['1.1.0']);
  expect(altered.asked).toEqual([]);
});

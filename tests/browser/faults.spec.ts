/**
 * A registry that hangs, lies, breaks off, throttles or sends elsewhere, from a page: each ends in the documented way and
 * within its time, and what else is under way goes on. The table is that of the command's tests.
 */
import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import type { GantryErrorCode } from '../../web/src/index.js';
import { expect, test } from './support/fixtures.js';
import { inPage, type PackageModule } from './support/in-page.js';
import { inRoot } from './support/paths.js';
import { Registry } from './support/registry.js';

/** A row, and what is besides its columns; the table says what they mean. */
interface Expected {
  what: string;
  of: 'document' | 'tarball';
  fault: object;
  code: GantryErrorCode | null;
  asked: number;
  once?: boolean;
  optional?: boolean;
  alone?: boolean;
  atLeast?: number;
}

interface Table {
  patience: { timeout: number; retries: number; minWait: number; maxWait: number };
  columns: string[];
  rows: unknown[][];
}

const table: Table = JSON.parse(readFileSync(inRoot('tests', 'support', 'registry-faults.json'), 'utf8'));
const { patience, columns } = table;

/** What is expected of a page. */
const rows: Expected[] = table.rows.map((row) => {
  const { besides = {}, ...own } = Object.fromEntries(row.map((value, index) => [columns[index], value]));
  const { page, ...others } = besides;
  return { ...own, ...others, ...page };
});

/** What became of an install. */
interface Came {
  installed: string[];
  code?: string;
  package?: string;
  elapsed: number;
}

/** Installs projects with these dependencies, one after the other, in one opened store. */
async function installs(page: Page, registry: string, projects: object[], token?: string): Promise<Came[]> {
  const { timeout: fetchTimeout, retries: fetchRetries, minWait, maxWait } = patience;
  const waits = { fetchRetryMintimeout: minWait, fetchRetryMaxtimeout: maxWait };
  const options = { registry, fetchTimeout, fetchRetries, ...waits, ...(token && { token }) };
  const script = async ({ Gantry }: PackageModule, argument: string): Promise<Came[]> => {
    const [options, projects] = JSON.parse(argument);
    const gantry = await Gantry.open(options);
    const results: Came[] = [];
    for (const [index, packageJson] of projects.entries()) {
      const begun = performance.now();
      const elapsed = () => performance.now() - begun;
      try {
        const project = await gantry.install({ packageJson, project: `project-${index}` });
        results.push({ installed: await project.fs.readdir('node_modules'), elapsed: elapsed() });
      } catch (error) {
        const { code, package: name } = error as { code: string; package: string };
        results.push({ installed: [], code, package: name, elapsed: elapsed() });
      }
    }
    await gantry.close();
    return results;
  };
  return inPage(page, script, JSON.stringify([options, projects]));
}

let registry: Registry;
test.beforeAll(async () => {
  registry = await Registry.start('--fixtures', 'basic');
});
test.afterAll(() => registry.stop());
test.beforeEach(async () => {
  await registry.healthy();
  await registry.reset();
});

for (const { what, of, fault, code, asked, once = true, optional = true, alone = false, atLeast = 0 } of rows) {
  test(`a registry that ${what}`, async ({ blank }) => {
    const path = (name: string) => (of === 'document' ? `/${name}$` : `/${name}/-/*`);
    // Each package is asked for in one install only: the second time the HTTP cache would answer.
    for (const name of ['executable', 'old-shasum']) await registry.fault({ path: path(name), ...fault });
    await registry.fault({ path: path('peer-host'), ...fault, count: 1 });
    const [beside, failing, again] = await installs(blank, registry.url, [
      { dependencies: { right: '1' }, optionalDependencies: alone ? {} : { executable: '1' } },
      { dependencies: { 'old-shasum': '1', right: '1' } },
      ...(once && !alone ? [{ dependencies: { 'peer-host': '1' } }] : []),
    ]);

    // What may be missing holds nothing up; but nobody passes over a tarball that is not what was promised.
    if (optional || alone) {
      expect(beside).toMatchObject({ installed: expect.arrayContaining(['left', 'right']) });
      expect(beside?.installed.includes('executable')).toBe(code === null && !alone);
    } else expect(beside?.code).toBe(code);
    if (code === null) expect(failing).toMatchObject({ installed: expect.arrayContaining(['old-shasum', 'right']) });
    else expect(failing).toMatchObject({ code, package: expect.stringMatching(/^old-shasum(@1\.0\.0)?$/) });
    expect(failing?.elapsed).toBeGreaterThanOrEqual(atLeast);
    expect(failing?.elapsed).toBeLessThan(asked * patience.timeout + 10_000);
    expect(await registry.requestsFor(path('old-shasum'))).toHaveLength(asked);
    if (once && !alone) expect(again?.installed).toContain('peer-host');
  });
}

test('a registry that is slow, down or given up on is in the trace, with the waits in between', async ({ blank }) => {
  for (const path of ['/old-shasum/-/*', '/executable$']) await registry.fault({ path, kind: 'hang-before-headers' });
  const { timeout: fetchTimeout } = patience;
  const impatient = { registry: registry.url, fetchTimeout, fetchRetries: 1, fetchRetryMintimeout: 1 };
  const script = async ({ Gantry }: PackageModule, argument: string): Promise<string[]> => {
    const traces: string[] = [];
    const onEvent = (event: { type: string; trace?: string }) => event.trace && traces.push(event.trace);
    for (const { options, names } of JSON.parse(argument)) {
      const gantry = await Gantry.open(options);
      const packageJson = { dependencies: Object.fromEntries(names.map((name: string) => [name, '1'])) };
      await gantry.install({ packageJson, timing: true, onEvent }).catch(() => undefined);
      await gantry.close();
    }
    return traces;
  };
  const installs = [
    { options: impatient, names: ['old-shasum'] },
    { options: impatient, names: ['executable'] },
    // A damaged tarball ends the install whatever else is under way.
    { options: { registry: registry.url }, names: ['bad-integrity', 'old-shasum'] },
  ];
  const traces = await inPage(blank, script, JSON.stringify(installs));
  const told = traces.map((trace) => {
    const events: { cat?: string; name: string; args: { ending?: string } }[] = JSON.parse(trace).traceEvents;
    const kinds = ['packument', 'tarball', 'backoff'];
    const ends = events.filter(({ cat, args }) => kinds.includes(cat ?? '') && args.ending !== 'done');
    return ends.map(({ cat, name, args }) => [cat, name.replace(/@[^@]*$/, ''), args.ending]);
  });
  expect(told).toEqual([
    [
      ['tarball', 'old-shasum', 'timeout'],
      ['tarball', 'old-shasum', 'timeout'],
      ['backoff', 'old-shasum', undefined],
    ],
    [
      ['packument', 'executable', 'timeout'],
      ['packument', 'executable', 'timeout'],
      ['backoff', 'executable', undefined],
    ],
    [['tarball', 'old-shasum', 'abandoned']],
  ]);
});

for (const of of ['document', 'tarball'] as const) {
  test(`a registry that sends elsewhere for a ${of} is followed, and credentials stay behind`, async ({ blank }) => {
    const elsewhere = await Registry.start('--fixtures', 'basic');
    try {
      const path = of === 'document' ? 'old-shasum' : 'old-shasum/-/old-shasum-1.0.0.tgz';
      await registry.fault({ path: `/${path}$`, kind: 'redirect', to: `${elsewhere.url}${path}` });
      const [came] = await installs(blank, registry.url, [{ dependencies: { 'old-shasum': '1' } }], 'secret');
      expect(came?.installed).toContain('old-shasum');
      const here = (await registry.requestsFor('/*')).filter(({ method }) => method === 'GET');
      const there = (await elsewhere.requestsFor('/*')).filter(({ method }) => method === 'GET');
      expect(here.map(({ authorized }) => authorized)).toEqual(of === 'document' ? [true] : [true, true]);
      // The document that comes from there names tarballs of there.
      expect(there.map(({ authorized }) => authorized)).toEqual(of === 'document' ? [false, false] : [false]);
    } finally {
      elsewhere.stop();
    }
  });
}

test('a registry that throttles everything once is asked for all of it again, and the lock is what it would be', async ({
  blank,
}) => {
  const registry = await Registry.start();
  try {
    const packageJson = readFileSync(inRoot('tests', 'projects', 'express', 'package.json'), 'utf8');
    const install = (store: string) =>
      inPage(
        blank,
        async ({ Gantry }, argument) => {
          const { registry, store, packageJson } = JSON.parse(argument);
          const gantry = await Gantry.open({ registry, store, fetchRetries: 1, fetchRetryMintimeout: 500 });
          // The browser's own cache would answer for the documents the second time.
          const { lockfile } = await gantry.install({ packageJson, preferOnline: true });
          await gantry.close();
          return lockfile;
        },
        JSON.stringify({ registry: registry.url, store, packageJson }),
      );
    const calm = await install('calm');
    const asked = await registry.requestsFor('/');
    const paths = [...new Set(asked.map(({ path }) => path))];
    const throttle = { kind: 'status', status: 429, retry_after: '1', count: 1 };
    await registry.fault(paths.map((path) => ({ path: `${path}$`, ...throttle })));
    await registry.reset();
    expect(await install('storm')).toBe(calm);
    expect(await registry.faulty()).toBe(paths.length);
    expect(await registry.requests()).toBe(asked.length + paths.length);
  } finally {
    registry.stop();
  }
});

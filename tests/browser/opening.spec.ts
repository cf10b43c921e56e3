/** The page's end of an open store: opening that is given up, calls that cannot be sent, listeners that throw. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { expect, test } from './support/fixtures.js';
import { inPage } from './support/in-page.js';
import { packageFolder } from './support/paths.js';
import type { Site } from './support/site.js';

const SCRIPT = '/package/dist/worker/coordinator.js';

const coordinators = (page: Page) => page.workers().filter((worker) => worker.url().endsWith(SCRIPT));

/** Runs `use` while the coordinator's script never comes; `asked` resolves when it is asked for. */
async function withoutScript(site: Site, use: (asked: Promise<void>) => Promise<void>): Promise<void> {
  let end = () => {};
  const asked = new Promise<void>((resolve) => {
    site.answering.set(SCRIPT, (_, response) => {
      // Chromium asks for no address anew while it waits for it on behalf of a worker that has ended, for 20 seconds.
      end = () => response.destroy();
      resolve();
    });
  });
  await use(asked).finally(() => {
    site.answering.delete(SCRIPT);
    end();
  });
}

test('opening is given up by its signal while the worker’s script is on its way, and the next opening works', async ({
  blank,
  site,
  fixtures,
}) => {
  await withoutScript(site, async (asked) => {
    const failed = inPage(
      blank,
      async ({ Gantry }, registry) => {
        const abort = new AbortController();
        Object.assign(globalThis, { stop: () => abort.abort('had enough') });
        return Gantry.open({ registry, signal: abort.signal }).then(
          () => ({ code: 'opened', cause: undefined }),
          ({ code, cause }) => ({ code, cause }),
        );
      },
      fixtures.url,
    );
    await asked;
    await blank.evaluate(() => (globalThis as unknown as { stop(): void }).stop());
    expect(await failed).toEqual({ code: 'ABORTED', cause: 'had enough' });
    await expect.poll(() => coordinators(blank).length).toBe(0);
  });
  const opened = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      // Once it is open the signal is of no more use.
      const abort = new AbortController();
      const gantry = await Gantry.open({ registry, signal: abort.signal, timeout: 5000 });
      abort.abort();
      const projects = await gantry.projects();
      await gantry.close();
      return projects;
    },
    fixtures.url,
  );
  expect(opened).toEqual([]);
});

for (const [given, timeout, seconds] of [
  ['a short time-out', 200, 10],
  ['no time-out', undefined, 60],
] as const) {
  test(`opening with ${given} ends where the worker’s script never comes`, async ({ blank, site, fixtures }) => {
    await blank.clock.install();
    await withoutScript(site, async (asked) => {
      const failed = inPage(
        blank,
        async ({ Gantry }, options) =>
          Gantry.open(JSON.parse(options)).then(
            () => ({ code: 'opened', hint: '' }),
            ({ code, message, hint }) => ({ code, message, hint }),
          ),
        JSON.stringify({ registry: fixtures.url, timeout }),
      );
      await asked;
      await blank.clock.runFor(seconds * 1000);
      expect(await failed).toEqual({
        code: 'WORKER_LOST',
        message: `The install worker did not start in ${seconds} seconds`,
        hint: expect.stringContaining('dist/worker/'),
      });
      await expect.poll(() => coordinators(blank).length).toBe(0);
    });
  });
}

test('an option that cannot be sent, or is no address, is INVALID_OPTION and starts or keeps nothing', async ({
  blank,
  fixtures,
}) => {
  const result = await inPage(
    blank,
    async ({ Gantry, GantryError }, registry) => {
      const fault = (error: unknown) => [error instanceof GantryError, (error as { code?: string }).code];
      const failing = (promise: Promise<unknown>) => promise.then(() => 'none', fault);
      const gantry = await Gantry.open({ registry });
      const abort = new AbortController();
      let listeners = 0;
      const { addEventListener, removeEventListener } = abort.signal;
      abort.signal.addEventListener = (...rest: Parameters<typeof addEventListener>) => {
        listeners++;
        addEventListener.apply(abort.signal, rest);
      };
      abort.signal.removeEventListener = (...rest: Parameters<typeof removeEventListener>) => {
        listeners--;
        removeEventListener.apply(abort.signal, rest);
      };
      const circle = {};
      Object.assign(circle, { circle });
      const faults = [
        await failing(
          gantry.install({ packageJson: {}, target: { os: (() => 'linux') as never, cpu: '' }, signal: abort.signal }),
        ),
        await failing(gantry.install({ packageJson: circle })),
        await failing(gantry.explain({ packageJson: circle })),
        await failing(Gantry.open({ registry, store: 'other', wasmUrl: 'http://[nowhere' })),
        await failing(Gantry.open({ registry, store: 'other', workers: Symbol('two') as never })),
      ];
      const { packages } = await gantry.install({ packageJson: { dependencies: { left: '1.1.0' } } });
      return { faults, listeners, packages };
    },
    fixtures.url,
  );
  expect(result).toEqual({
    faults: Array.from({ length: 5 }, () => [true, 'INVALID_OPTION']),
    listeners: 0,
    packages: 1,
  });
  await expect.poll(() => coordinators(blank).length).toBe(1);
});

test('a listener that throws is reported, and hears of everything else', async ({ blank, fixtures }) => {
  const result = await inPage(
    blank,
    async ({ Gantry, watchProject }, registry) => {
      const reported: string[] = [];
      addEventListener('error', (event) => {
        event.preventDefault();
        reported.push(event.message);
      });
      const gantry = await Gantry.open({ registry });
      const told: string[] = [];
      let changes = 0;
      watchProject(() => {
        changes++;
        throw new Error('of a change');
      });
      const install = (version: string) =>
        gantry.install({
          packageJson: { dependencies: { left: version } },
          onEvent: ({ type }) => {
            told.push(type);
            throw new Error('of an event');
          },
        });
      await install('1.0.0');
      await install('1.1.0');
      for (let time = 0; time < 200 && changes < 2; time++) await new Promise((resume) => setTimeout(resume, 10));
      await gantry.close();
      const count = (text: string) => reported.filter((message) => message.includes(text)).length;
      return {
        done: told.filter((type) => type === 'done').length,
        unheard: told.length - count('of an event'),
        changes: [changes, count('of a change')],
      };
    },
    fixtures.url,
  );
  expect(result).toEqual({ done: 2, unheard: 0, changes: [2, 2] });
});

test('a coordinator that dies in the moment in which it says that it lives is a lost worker, not cleared storage', async ({
  blank,
  fixtures,
}) => {
  const failed = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const isGone = async () =>
        !(await navigator.locks.query()).held?.some(({ name }) => name?.startsWith('gantry-alive:coordinator:'));
      const { addEventListener } = EventTarget.prototype;
      Worker.prototype.addEventListener = function (this: Worker, type: string, listener: (event: Event) => void) {
        addEventListener.call(this, type, async (event) => {
          if (event instanceof MessageEvent && event.data.events?.[0].type === 'alive') {
            this.terminate();
            // Its word comes when its lock has been released.
            while (!(await isGone())) await new Promise((resume) => setTimeout(resume, 10));
          }
          listener(event);
        });
      } as typeof addEventListener;
      const failed = await Gantry.open({ registry, timeout: 20_000 }).catch(({ code, hint }) => ({ code, hint }));
      Reflect.deleteProperty(Worker.prototype, 'addEventListener');
      await (await Gantry.open({ registry, timeout: 20_000 })).close();
      return failed;
    },
    fixtures.url,
  );
  expect(failed).toEqual({
    code: 'WORKER_LOST',
    hint: 'The browser may be short of memory. Open the store again.',
  });
});

test('where the browser does not list locks, nothing is left unhandled and a lost worker is noticed', async ({
  blank,
  fixtures,
  site,
}) => {
  const script = readFileSync(join(packageFolder, 'dist/worker/coordinator.js'), 'utf8');
  const refusal = "navigator.locks.query = () => Promise.reject(new DOMException('not now', 'InvalidStateError'));";
  site.pages.set(SCRIPT, `${refusal}\n${script}`);
  const pending = inPage(
    blank,
    async ({ Gantry }, registry) => {
      const unhandled: string[] = [];
      addEventListener('unhandledrejection', ({ reason }) => unhandled.push(String(reason)));
      const gantry = await Gantry.open({ registry });
      const code = await gantry.install({ packageJson: { dependencies: { left: '1.1.0' } } }).then(
        () => 'installed',
        (error) => error.code,
      );
      return { code, unhandled };
    },
    fixtures.url,
  );
  await fixtures.fault({ path: '/left/-/*', kind: 'hang-in-body', after: 10 });
  await expect
    .poll(() => fixtures.faulty())
    .toBe(1)
    .finally(() => site.pages.delete(SCRIPT));
  await coordinators(blank)[0]?.evaluate(() => self.close());
  expect(await pending).toEqual({ code: 'WORKER_LOST', unhandled: [] });
});

for (const what of ['an address', 'a text'] as const) {
  test(`a sandboxed frame of ${what} has no origin: that is STORAGE_UNAVAILABLE at once, with what to do about it`, async ({
    page,
    site,
  }) => {
    const framed = `<!doctype html><script type=module>
      const { Gantry } = await import('${site.url}/package/dist/index.js');
      const said = await Gantry.open({ registry: 'http://registry.test/' }).then(
        () => 'opened',
        ({ code, hint }) => code + ' ' + hint,
      );
      parent.postMessage(said, '*');
    </script>`;
    site.pages.set('/framed', framed);
    const source = what === 'an address' ? 'src="/framed"' : `srcdoc="${framed}"`;
    site.pages.set(
      '/framing',
      `<!doctype html><title>waiting</title><iframe sandbox="allow-scripts" ${source}></iframe>
       <script>addEventListener('message', ({ data }) => { document.title = data; });</script>`,
    );
    await page.goto(`${site.url}/framing`);
    await expect(page).toHaveTitle(/^STORAGE_UNAVAILABLE .*allow-same-origin/);
    expect(page.workers()).toHaveLength(0);
  });
}

test('a service worker and a shared worker, which have no workers, are told where a store can be opened', async ({
  blank,
  site,
  fixtures,
}) => {
  const script = `
import { Gantry } from '/package/dist/index.js';
import { openProject } from '/package/dist/sync.js';
const told = (promise) => promise.then(() => 'opened', ({ code, hint }) => [code, hint]);
const ask = async ({ ports: [port] }) => {
  const opening = Gantry.open({ registry: ${JSON.stringify(fixtures.url)} });
  port.postMessage([await told(opening), await told(openProject())]);
};
addEventListener('message', ask);
addEventListener('connect', ask);`;
  site.pages.set('/asking-worker.js', script);
  const [service, shared] = await blank.evaluate(async () => {
    const options = { type: 'module' } as const;
    const inShared = new Promise<MessageEvent>((resolve) => {
      new SharedWorker('/asking-worker.js', options).port.onmessage = resolve;
    });
    const registration = await navigator.serviceWorker.register('/asking-worker.js', options);
    const { port1, port2 } = new MessageChannel();
    const inService = new Promise<MessageEvent>((resolve) => {
      port1.onmessage = resolve;
    });
    (registration.installing ?? registration.active)?.postMessage('', [port2]);
    const answers = [(await inService).data, (await inShared).data];
    await registration.unregister();
    return answers;
  });
  const noWorkers = ['WORKER_LOST', 'Call Gantry.open in a page or a dedicated worker.'];
  expect(service).toEqual([
    noWorkers,
    ['STORAGE_UNAVAILABLE', expect.stringContaining('a service worker asks a page')],
  ]);
  // Nothing is installed.
  expect(shared).toEqual([noWorkers, ['PROJECT_UNKNOWN', expect.any(String)]]);
});

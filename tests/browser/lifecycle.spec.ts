/** Cancelling, several tabs, lost workers, closing: whatever happens, the store stays good and no call stays pending. */
import { expect, test } from './support/fixtures.js';
import { inPage } from './support/in-page.js';
import { Playground } from './support/playground.js';
import type { Registry } from './support/registry.js';

test('cancelling in the middle leaves a valid store, and the next install goes on from there', async ({
  playground,
  recording,
}) => {
  await recording.fault({ path: '/vite/-/*', kind: 'hang-in-body', after: 1000 });
  try {
    await playground.open('react', recording.url);
    await playground.press();
    const unpacked = playground.panel.locator('dt', { hasText: 'Unpacked' }).locator('+ dd');
    await expect.poll(async () => Number(await unpacked.textContent())).toBeGreaterThan(10);
    await playground.page.getByTestId('cancel-button').click();
    await expect(playground.panel).toHaveAttribute('data-state', 'cancelled');
  } finally {
    await recording.healthy();
  }
  await playground.install();
  const reused = playground.panel.locator('dt', { hasText: 'From the store' }).locator('+ dd');
  expect(Number(await reused.textContent())).toBeGreaterThan(10);
  await playground.run();
  await expect(playground.frame.getByText('Rendered by React')).toBeVisible();
});

test('closing the tab in the middle of an install loses nothing that was installed', async ({
  playground,
  recording,
  context,
  site,
}) => {
  await playground.open('lodash', recording.url);
  await playground.install();
  await recording.fault({ path: '/vite/-/*', kind: 'hang-in-body', after: 1000 });
  try {
    await playground.page.getByRole('button', { name: 'React' }).click();
    await expect(playground.panel).toHaveAttribute('data-state', 'idle');
    await playground.press();
    const unpacked = playground.panel.locator('dt', { hasText: 'Unpacked' }).locator('+ dd');
    await expect.poll(async () => Number(await unpacked.textContent())).toBeGreaterThan(5);
    await playground.page.close({ runBeforeUnload: false });
  } finally {
    await recording.healthy();
  }
  const page = await context.newPage();
  await page.goto(`${site.url}/pages/blank.html`);
  const digest = await inPage(
    page,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry, timeout: 20_000 });
      const kept = await gantry.project('lodash');
      const before = await kept?.treeDigest();
      const again = await gantry.install({
        project: 'again',
        packageJson: { name: 'project-lodash', version: '1.0.0', dependencies: { lodash: '^4.18.0' } },
      });
      const after = await again.treeDigest();
      await gantry.close();
      return { before, after, reused: again.reused };
    },
    recording.url,
  );
  expect(digest.before).toMatch(/^[0-9a-f]{64}/);
  expect(digest.after).toBe(digest.before);
  expect(digest.reused).toBe(1);
});

/** The playground in the midst of an install that does not end. */
async function busy(playground: Playground, fixtures: Registry): Promise<void> {
  await playground.open('lodash', fixtures.url);
  await fixtures.fault({ path: '/left/-/*', kind: 'hang-in-body', after: 10, count: 1 });
  await playground.writeDependencies({ left: '1.1.0' });
  await playground.press();
  await expect.poll(() => fixtures.faulty()).toBe(1);
}

test('a second tab waits for the store while the first installs, says so, and goes on when that is closed', async ({
  playground,
  fixtures,
  context,
  site,
}) => {
  await busy(playground, fixtures);
  const second = await context.newPage();
  await second.goto(`${site.url}/?project=lodash`);
  await expect(second.getByTestId('waiting')).toBeVisible();
  await expect(second.getByTestId('install-button')).toBeDisabled();
  await playground.page.close();
  await expect(second.getByTestId('waiting')).toHaveCount(0);
  await expect(second.getByTestId('install-button')).toBeEnabled();
});

test('settings saved while another tab has the store are those that it is opened with', async ({
  playground,
  fixtures,
  context,
  site,
}) => {
  await busy(playground, fixtures);
  await playground.page.evaluate(() => localStorage.setItem('gantry:registry', 'http://127.0.0.1:9/'));
  const second = new Playground(await context.newPage(), site);
  await second.page.goto(`${site.url}/?project=lodash`);
  await expect(second.page.getByTestId('waiting')).toBeVisible();
  await second.configure(fixtures.url);
  await expect(second.page.getByTestId('waiting')).toBeVisible();
  await playground.page.close();
  await expect(second.page.getByTestId('install-button')).toBeEnabled();
  await second.writeDependencies({ right: '^1.0.0' });
  await second.install();
});

test('when the worker died unnoticed, the first press of Install opens the store again', async ({
  playground,
  recording,
}) => {
  await playground.open('lodash', recording.url);
  await playground.install();
  const { page } = playground;
  const coordinator = page.workers().find((worker) => worker.url().includes('coordinator'));
  await coordinator?.evaluate(() => self.close());
  await expect.poll(() => page.workers().some((worker) => worker.url().includes('coordinator'))).toBe(false);
  await recording.reset();
  await playground.install();
  expect(await recording.requests()).toBe(0);
  await page.getByRole('treeitem', { name: 'lodash' }).click();
  await page.getByRole('treeitem', { name: 'LICENSE' }).click();
  await expect(page.locator('.cm-content')).toContainText('Copyright');
});

test('Install pressed before the tree of the last visit is shown keeps to its lock', async ({
  playground,
  recording,
}) => {
  await playground.open('react', recording.url);
  await playground.install();
  await recording.reset();
  // Pressed in the very moment in which the button can be.
  await playground.page.addInitScript(() => {
    new MutationObserver((_, observer) => {
      const button = document.querySelector<HTMLButtonElement>('[data-testid=install-button]:enabled');
      if (!button || button.closest('[data-store=closed]')) return;
      observer.disconnect();
      button.click();
    }).observe(document, { subtree: true, childList: true, attributes: true });
  });
  await playground.page.reload();
  await playground.installed(1);
  expect(await recording.requests()).toBe(0);
});

test('waiting for a store in which something is under way ends with STORE_BUSY by time-out and by signal', async ({
  blank,
  fixtures,
}) => {
  await fixtures.fault({ path: '/left/-/*', kind: 'hang-in-body', after: 10 });
  const codes = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const first = await Gantry.open({ registry });
      first.install({ packageJson: { dependencies: { left: '1.1.0' } } }).catch(() => {});
      const codeOf = (error: { code: string; message: string; hint?: string }) => error.code;
      let waited = 0;
      const onWaiting = () => waited++;
      const byTimeout = await Gantry.open({ registry, timeout: 200, onWaiting }).then(() => 'opened', codeOf);
      const abort = new AbortController();
      const bySignal = await Gantry.open({ registry, signal: abort.signal, onWaiting: () => abort.abort() }).then(
        () => 'opened',
        codeOf,
      );
      const other = await Gantry.open({ registry, store: 'another' });
      await Promise.all([first.close(), other.close()]);
      await (await Gantry.open({ registry, timeout: 5000 })).close();
      return { byTimeout, bySignal, waited };
    },
    fixtures.url,
  );
  expect(codes).toEqual({ byTimeout: 'STORE_BUSY', bySignal: 'STORE_BUSY', waited: 1 });
});

test('an aborted install rejects with ABORTED and the reason', async ({ blank, fixtures }) => {
  await fixtures.fault({ path: '/left/-/*', kind: 'hang-in-body', after: 10 });
  const result = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry });
      const abort = new AbortController();
      const pending = gantry.install({
        packageJson: { dependencies: { left: '1.1.0' } },
        signal: abort.signal,
        onEvent: (event) => event.type === 'progress' && event.resolved > 0 && abort.abort('had enough'),
      });
      const error = await pending.then(
        () => ({ code: 'installed', cause: '' }),
        (thrown) => thrown,
      );
      await fetch(`${registry}-/gantry/faults`, { method: 'DELETE' });
      const already = await gantry.install({ packageJson: {}, signal: AbortSignal.abort() }).then(
        () => 'installed',
        ({ code }) => code,
      );
      const good = await gantry.install({ packageJson: { dependencies: { left: '1.1.0' } } });
      await gantry.close();
      return { code: error.code, cause: error.cause, already, files: good.files };
    },
    fixtures.url,
  );
  expect(result).toMatchObject({ code: 'ABORTED', cause: 'had enough', already: 'ABORTED' });
  expect(result.files).toBeGreaterThan(1);
});

test('installs of one store queue, and reads are answered meanwhile', async ({ blank, fixtures }) => {
  const result = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry });
      const [first, second, third] = await Promise.all(
        ['left', 'right', '@scope/middle'].map((name, index) =>
          gantry.install({ project: `p${index}`, packageJson: { dependencies: { [name]: '*' } } }),
        ),
      );
      let installing = true;
      const texts = new Set<string | undefined>();
      const reading = (async () => {
        while (installing) texts.add(await third?.fs.readFile('/node_modules/@scope/middle/index.js', 'utf8'));
      })();
      let reused = 0;
      for (let times = 0; times < 5; times++) {
        reused += (await gantry.install({ project: 'p0', packageJson: { dependencies: { left: '*' } } })).reused;
      }
      // Now the workers append to the packs that are read.
      const alsoReused = [];
      for (const name of ['executable', 'with-bundle', 'long-names', 'old-style-folder', 'old-shasum', 'with-script']) {
        alsoReused.push(
          (await gantry.install({ project: 'p1', packageJson: { dependencies: { [name]: '*' } } })).reused,
        );
      }
      installing = false;
      await reading;
      await gantry.close();
      const packages = [first?.packages, second?.packages, third?.packages];
      return { packages, reused, alsoReused, texts: [...texts] };
    },
    fixtures.url,
  );
  expect(result).toEqual({
    packages: [1, 2, 3],
    reused: 5,
    alsoReused: [0, 0, 0, 0, 0, 0],
    texts: ['module.exports = "middle"\n'],
  });
});

test('closing waits for reads, and what comes after it rejects with CLOSED', async ({ blank, fixtures }) => {
  const result = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry });
      const packageJson = { dependencies: { left: '1.1.0' } };
      const { fs } = await gantry.install({ packageJson });
      const code = (promise: Promise<unknown>) =>
        promise.then(
          () => 'done',
          (error) => error.code,
        );
      const reads = Array.from({ length: 50 }, () => code(fs.readFile('node_modules/left/index.js')));
      const closing = code(gantry.close());
      const late = [code(gantry.install({ packageJson })), code(fs.readFile('node_modules/left/index.js'))];
      return { reads: new Set(await Promise.all(reads)).size, closing: await closing, late: await Promise.all(late) };
    },
    fixtures.url,
  );
  expect(result).toEqual({ reads: 1, closing: 'done', late: ['CLOSED', 'CLOSED'] });
});

test('closing gives up the installs, and a queued one that is aborted does not wait for its turn', async ({
  blank,
  fixtures,
}) => {
  await fixtures.fault({ path: '/left/-/*', kind: 'hang-in-body', after: 10 });
  const result = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry });
      const code = (promise: Promise<unknown>) =>
        promise.then(
          () => 'done',
          (error) => error.code,
        );
      const install = (name: string, signal?: AbortSignal) =>
        code(
          gantry.install({
            project: name,
            packageJson: { dependencies: { left: '1.1.0' } },
            ...(signal && { signal }),
          }),
        );
      const abort = new AbortController();
      const [under, queued, aborted] = [install('under-way'), install('queued'), install('aborted', abort.signal)];
      abort.abort();
      const codes = {
        aborted: await aborted,
        close: await code(gantry.close()),
        under: await under,
        queued: await queued,
      };
      await fetch(`${registry}-/gantry/faults`, { method: 'DELETE' });
      const again = await Gantry.open({ registry, timeout: 20_000 });
      const { packages } = await again.install({ packageJson: { dependencies: { left: '1.1.0' } } });
      const left = await Promise.all(['under-way', 'queued', 'aborted'].map((name) => again.project(name)));
      await again.close();
      return { codes, packages, left };
    },
    fixtures.url,
  );
  expect(result).toEqual({
    codes: { aborted: 'ABORTED', close: 'done', under: 'CLOSED', queued: 'CLOSED' },
    packages: 1,
    left: [undefined, undefined, undefined],
  });
});

test('calls after close reject with CLOSED, and closing twice is no error', async ({ blank, fixtures }) => {
  const code = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry });
      await gantry.close();
      await gantry.close();
      return gantry.usage().then(
        () => 'answered',
        (error) => error.code,
      );
    },
    fixtures.url,
  );
  expect(code).toBe('CLOSED');
});

test('when the coordinator dies, pending calls reject with WORKER_LOST and the store opens again', async ({
  blank,
  fixtures,
}) => {
  await fixtures.fault({ path: '/left/-/*', kind: 'hang-in-body', after: 10 });
  const pending = inPage(
    blank,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry });
      const code = await gantry.install({ packageJson: { dependencies: { left: '1.1.0' } } }).then(
        () => 'installed',
        (error) => error.code,
      );
      await fetch(`${registry}-/gantry/faults`, { method: 'DELETE' });
      const again = await Gantry.open({ registry, timeout: 20_000 });
      const project = await again.install({ packageJson: { dependencies: { left: '1.1.0' } } });
      const text = await project.fs.readFile('node_modules/left/index.js', 'utf8');
      await again.close();
      return { code, text };
    },
    fixtures.url,
  );
  await expect.poll(() => fixtures.faulty()).toBe(1);
  const coordinator = blank.workers().find((worker) => worker.url().endsWith('/coordinator.js'));
  await coordinator?.evaluate(() => self.close());
  expect(await pending).toEqual({ code: 'WORKER_LOST', text: 'module.exports = "left 1.1.0"\n' });
});

for (const end of ['dies', 'is told to stop'] as const) {
  test(`when the coordinator ${end} while it fetches the module, opening ends and the store opens again`, async ({
    blank,
    fixtures,
  }) => {
    await fixtures.fault({ path: '/left/-/*', kind: 'hang-before-headers' });
    const pending = inPage(
      blank,
      async ({ Gantry }, registry) => {
        const abort = new AbortController();
        Object.assign(globalThis, { stop: () => abort.abort('had enough') });
        const wasmUrl = `${registry}left/-/left-1.0.0.tgz`;
        const { signal } = abort;
        // The time-out is for other tabs, of which there are none.
        const failed = await Gantry.open({ registry, wasmUrl, signal, timeout: 1 }).then(
          () => ({ code: 'opened', cause: undefined }),
          ({ code, cause }) => ({ code, cause }),
        );
        await (await Gantry.open({ registry, timeout: 20_000 })).close();
        return failed;
      },
      fixtures.url,
    );
    await expect.poll(() => fixtures.requests()).toBe(1);
    const coordinator = blank.workers().find((worker) => worker.url().endsWith('/coordinator.js'));
    if (end === 'dies') await coordinator?.evaluate(() => self.close());
    else await blank.evaluate(() => (globalThis as unknown as { stop(): void }).stop());
    expect(await pending).toEqual(
      end === 'dies' ? { code: 'WORKER_LOST', cause: undefined } : { code: 'ABORTED', cause: 'had enough' },
    );
  });
}

test('a page without a secure context gets STORAGE_UNAVAILABLE', async ({ page, site }) => {
  const { port } = new URL(site.url);
  await page.goto(`http://insecure.test:${port}/pages/blank.html`);
  const error = await inPage(page, async ({ Gantry }) =>
    Gantry.open({ registry: '/-/registry/' }).then(
      () => ({ code: 'opened', hint: '' }),
      ({ code, hint }) => ({ code, hint }),
    ),
  );
  expect(error.code).toBe('STORAGE_UNAVAILABLE');
  expect(error.hint).toContain('https');
});

test('what an unpack worker had when it died is done by its successor; when that dies over it, too, the install fails with WORKER_LOST and the next one works', async ({
  blank,
  fixtures,
}) => {
  await fixtures.fault({ path: '/left/-/*', kind: 'hang-in-body', after: 10, count: 3 });
  const pending = inPage(
    blank,
    async ({ Gantry }, registry) => {
      const gantry = await Gantry.open({ registry, workers: 2 });
      const packageJson = { dependencies: { left: '1.1.0' } };
      const install = () =>
        gantry.install({ packageJson }).then(
          ({ packages }) => packages,
          (error) => error.code,
        );
      const results = [await install(), await install()];
      const verified = await gantry.verify();
      await gantry.close();
      return [...results, verified.packages, verified.damaged.length];
    },
    fixtures.url,
  );
  const unpackers = () => blank.workers().filter((worker) => worker.url().endsWith('/unpack.js'));
  const ended = new Set();
  const dies = async (hanging: number) => {
    // A worker has the tarball's request under way.
    await expect.poll(() => fixtures.faulty()).toBe(hanging);
    const alive = () => unpackers().filter((worker) => !ended.has(worker));
    await expect.poll(() => alive().length).toBe(2);
    for (const worker of alive()) {
      ended.add(worker);
      await worker.evaluate(() => self.close());
    }
  };
  await dies(1);
  await dies(2);
  // The first install has failed; the second one's worker dies once.
  await dies(3);
  expect(await pending).toEqual(['WORKER_LOST', 1, 1, 0]);
});

test('an unpack worker that could not start is replaced by the next install', async ({ blank, site, fixtures }) => {
  const script = '/package/dist/worker/unpack.js';
  const refusal = { code: 'STORE_LOCKED', message: 'refused on purpose' };
  site.pages.set(
    script,
    `addEventListener('message', ({ data: { port } }) => {
      const refused = ({ id }) => ({ id, error: ${JSON.stringify(refusal)} });
      port.onmessage = ({ data }) => port.postMessage(data.map(refused));
    }, { once: true });`,
  );
  const start = (registry: string) =>
    inPage(
      blank,
      async ({ Gantry }, address) => {
        const gantry = await Gantry.open({ registry: address, workers: 2 });
        const install = () =>
          gantry.install({ packageJson: { dependencies: { left: '1.1.0' } } }).then(
            ({ packages }) => ({ packages }),
            ({ code, message }) => ({ code, message }),
          );
        Object.assign(globalThis, { install });
        return install();
      },
      registry,
    );
  try {
    expect(await start(fixtures.url)).toEqual(refusal);
  } finally {
    site.pages.delete(script);
  }
  const again = await blank.evaluate(() => (globalThis as unknown as { install(): Promise<unknown> }).install());
  expect(again).toEqual({ packages: 1 });
});

test('an unpack worker that ends before it can say that it lives is replaced while the install waits', async ({
  blank,
  fixtures,
}) => {
  const outcome = await inPage(
    blank,
    async ({ Gantry }, registry) => {
      const started: string[] = [];
      globalThis.Worker = class extends Worker {
        constructor(url: string | URL, options?: WorkerOptions) {
          super(url, options);
          const name = options?.name ?? '';
          // As if the browser ended it: nothing tells of that.
          if (name === 'gantry-unpack-0' && !started.includes(name)) this.terminate();
          started.push(name);
        }
      };
      const gantry = await Gantry.open({ registry, workers: 2 });
      const { packages } = await gantry.install({ packageJson: { dependencies: { '@scope/middle': '*' } } });
      const { damaged } = await gantry.verify();
      await gantry.close();
      return { packages, damaged, started: started.sort() };
    },
    fixtures.url,
  );
  const workers = ['gantry', 'gantry-unpack-0', 'gantry-unpack-0', 'gantry-unpack-1'];
  expect(outcome).toEqual({ packages: 3, damaged: [], started: workers });
});

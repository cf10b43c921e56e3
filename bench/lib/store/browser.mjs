// The page of the store bench, and the registries that it installs from.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { provideBrowsers } from '../../../scripts/lib/browsers.mjs';
import { FreshBrowser, inTime } from '../browser/browsers.mjs';
import { gantryPackage } from '../browser/pages.mjs';
import { Site } from '../browser/site.mjs';
import { benchFolder } from '../paths.mjs';

export class StorePage {
  /** @type {Site} */ #site;
  /** @type {FreshBrowser} */ #browser;
  /** The browser's own words about itself. */
  version = '';

  /** @param {import('../workspace.mjs').Workspace} workspace */
  static async start(workspace) {
    const pages = join(benchFolder, 'pages');
    const folders = {
      'page.js': join(pages, 'store.js'),
      'store-worker.js': join(pages, 'store-worker.js'),
      'remove-from.js': join(pages, 'remove-from.js'),
      'package/': gantryPackage(),
    };
    const opened = new StorePage();
    opened.#site = await new Site([{ name: 'store', folders }]).start();
    const { GANTRY_CHROMIUM: executable } = await provideBrowsers();
    const profile = join(workspace.folderFor('profiles'), 'store');
    opened.#browser = await FreshBrowser.start({ kind: 'chromium', executable, profile });
    const page = /** @type {import('../browser/chromium.mjs').QuietChromium} */ (opened.#browser.page);
    opened.version = await page.version();
    await page.goto(opened.#site.addresses('store').page);
    await opened.#ready();
    return opened;
  }

  /** A page that has not done anything yet. */
  async reload() {
    await this.#browser.page.reload();
    await this.#ready();
  }

  async #ready() {
    await /** @type {import('../browser/chromium.mjs').QuietChromium} */ (this.#browser.page).waitForGlobal('bench');
  }

  /** @param {string} method @param {any} [argument] */
  call(method, argument) {
    return inTime(
      method,
      this.#browser.page.evaluate(([name, value]) => globalThis.bench[name](value), [method, argument]),
    );
  }

  async close() {
    await this.#browser.close();
    await this.#site.stop();
  }
}

/** A registry of many small packages. @param {string} program @param {number} packages
 * @returns {Promise<{ url: string, manifest: any, close: () => Promise<void> }>} */
export async function startShapeRegistry(program, packages) {
  const child = spawn(program, ['--packages', String(packages)], { stdio: ['pipe', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) {
    const close = async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.stdin.end();
      await ended;
    };
    return { ...JSON.parse(line), close };
  }
  throw new Error('the registry of shapes ended before it was ready');
}

// The page's half of the registry bench: Gantry's resolve phase in Chromium, and a worker that only fetches the same
// documents. One browser for a project; before every sample its HTTP cache is emptied, as documents may stay there for
// 300 s, and what the store keeps of documents is removed. The page has no way to resolve only, so the packages are in the
// store beforehand and nothing but documents is asked for: an install then is resolving and a plan of the tree.
import { join } from 'node:path';
import { provideBrowsers } from '../../../scripts/lib/browsers.mjs';
import { FreshBrowser, inTime } from '../browser/browsers.mjs';
import { gantryPackage } from '../browser/pages.mjs';
import { Site } from '../browser/site.mjs';
import { benchFolder } from '../paths.mjs';
import { fault, listOf, seen } from './requests.mjs';

/** What the product has under way at once in a page (crates/browser). */
export const PAGE_IN_FLIGHT = 128;

const pages = join(benchFolder, 'pages');

export class PageRuns {
  /** @type {Site} */ #site;
  /** @type {FreshBrowser | undefined} */ #browser;
  /** @type {import('../browser/chromium.mjs').QuietChromium} */ #control;
  #profiles = 0;
  /** @type {import('./requests.mjs').Wanted[]} */ #list = [];
  /** The browser's own words about itself. */
  version = '';

  /** @param {import('../workspace.mjs').Workspace} workspace */
  constructor(workspace) {
    this.workspace = workspace;
    const folders = {
      'page.js': join(pages, 'registry.js'),
      'fetch-list.js': join(pages, 'fetch-list.js'),
      'remove-from.js': join(pages, 'remove-from.js'),
      'package/': gantryPackage(),
    };
    this.#site = new Site([{ name: 'registry', folders }]);
  }

  async start() {
    await this.#site.start();
    return this;
  }

  /** A browser in which a project's packages are stored; learns what resolving it asks for. Requests.
   * @param {string} manifest @param {import('../registry.mjs').Registry} registry */
  async learn(manifest, registry) {
    await this.#browser?.close();
    const { GANTRY_CHROMIUM: executable } = await provideBrowsers();
    const profile = join(this.workspace.folderFor('profiles'), String(this.#profiles++));
    this.#browser = await FreshBrowser.start({ kind: 'chromium', executable, profile });
    const page = /** @type {import('../browser/chromium.mjs').QuietChromium} */ (this.#browser.page);
    this.#control = page;
    this.version = await page.version();
    // For registries with a certificate of their own making.
    await this.#control.send('Security.setIgnoreCertificateErrors', { ignore: true });
    await this.#load();
    await this.#call('open', registry.url);
    await this.#call('resolve', manifest);
    const { counts } = await this.#resolve(manifest, registry);
    const { log = [] } = counts;
    const missing = log.filter(({ miss }) => miss).map(({ path }) => path);
    if (missing.length > 0) throw new Error(`not in the recording: ${missing.join(' ')} (npm run bench -- record)`);
    this.#list = listOf(log);
    return this.#list.length;
  }

  /** One sample. @param {import('./native.mjs').Contender} contender @param {string} manifest
   * @param {import('../registry.mjs').Registry} registry */
  async take(contender, manifest, registry) {
    const { who, inFlight = PAGE_IN_FLIGHT } = contender;
    try {
      const { counts, client } =
        who === 'ceiling' ? await this.#fetchList(inFlight, registry) : await this.#resolve(manifest, registry);
      const rejected = fault(counts, this.#list.length, contender);
      return rejected ? { rejected } : { sample: { wall: client.wall, ...seen(counts), client } };
    } catch (error) {
      // Whatever it was may still be going on in that page.
      await this.#load();
      return { rejected: error.message.split('\n')[0] };
    }
  }

  async close() {
    await this.#browser?.close();
    await this.#site.stop();
  }

  /** The page anew, in which nothing is open. */
  async #load() {
    await this.#control.goto(this.#site.addresses('registry').page);
    await this.#control.waitForGlobal('bench');
  }

  #call(method, argument) {
    return inTime(
      method,
      this.#browser.page.evaluate(([name, value]) => globalThis.bench[name](value), [method, argument]),
    );
  }

  async #from(registry, work) {
    await this.#control.send('Network.clearBrowserCache');
    await registry.reset();
    const client = await work();
    return { client, counts: await registry.counts({ log: true }) };
  }

  async #resolve(manifest, registry) {
    await this.#call('open', registry.url);
    return this.#from(registry, () => this.#call('resolve', manifest));
  }

  #fetchList(inFlight, registry) {
    return this.#from(registry, () => this.#call('fetchList', { list: this.#list, registry: registry.url, inFlight }));
  }
}

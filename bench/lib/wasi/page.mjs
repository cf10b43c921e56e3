// The hosts in Chromium: the browser shim over memory in a worker, and Gantry's own package. Every sample has a browser of its
// own with a profile that did not exist before.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { provideBrowsers } from '../../../scripts/lib/browsers.mjs';
import { FreshBrowser, inTime } from '../browser/browsers.mjs';
import { gantryPackage } from '../browser/pages.mjs';
import { Site } from '../browser/site.mjs';
import { benchFolder } from '../paths.mjs';
import { CI, wasiModule } from './hosts.mjs';
import { TARBALLS } from './project.mjs';

const root = resolve(benchFolder, '..');
const shimFolder = join(root, 'node_modules', '@bjorn3', 'browser_wasi_shim');

/** The shim's version. */
export const shimVersion = () => JSON.parse(readFileSync(join(shimFolder, 'package.json'), 'utf8')).version;

export class PageHosts {
  /** The browser's own words about itself. */
  version = '';
  /** @type {import('./project.mjs').Project} */ project;
  /** @type {Site} */ site;
  /** @type {string} */ executable = '';
  #visits = 0;

  /** @param {import('./project.mjs').Project} project */
  static async start(project) {
    const hosts = new PageHosts();
    hosts.project = project;
    const pages = join(benchFolder, 'pages');
    const folders = {
      'page.js': join(pages, 'wasi.js'),
      'wasi-worker.js': join(pages, 'wasi-worker.js'),
      'roomy-file.js': join(pages, 'roomy-file.js'),
      'memory-host.js': join(root, 'tests', 'wasi', 'lib', 'memory-host.mjs'),
      'gantry.wasm': wasiModule(),
      'shim/': join(shimFolder, 'dist'),
      'package/': gantryPackage(),
      'project/': project.folder,
    };
    hosts.site = await new Site([{ name: 'wasi', folders }]).start();
    ({ GANTRY_CHROMIUM: hosts.executable } = await provideBrowsers());
    return hosts;
  }

  /** The shim over memory. `roomy`: with files for the store that grow as vectors do, instead of the shim's. @param {string} name
   * @param {{ roomy: boolean }} how */
  shim(name, { roomy }) {
    return this.#host(name, 'files', 'shim', () => ({ words: CI, roomy }));
  }

  /** Gantry's package, over its packs in OPFS. @param {string} name @param {import('./project.mjs').Source} source */
  package(name, source) {
    return this.#host(name, source, 'package', () => ({ source, registry: this.project.registry.url }));
  }

  #host(name, source, method, own) {
    const { tarballs } = this.project;
    return {
      name,
      source,
      place: () => ({ prepared: 'a browser with a new profile' }),
      /** @returns {Promise<import('./hosts.mjs').Sample>} */
      sample: () => this.#visit(method, { ...own(), folder: TARBALLS, tarballs }),
    };
  }

  /** Opens a browser, has the work done, and adds what memory the page's process took above the empty page. */
  async #visit(method, task) {
    const profile = join(this.project.workspace.folderFor('profiles'), String(this.#visits++));
    const browser = await FreshBrowser.start({ kind: 'chromium', executable: this.executable, profile });
    try {
      const page = /** @type {import('../browser/chromium.mjs').QuietChromium} */ (browser.page);
      this.version = await page.version();
      const { page: address } = this.site.addresses('wasi');
      await page.goto(address);
      await page.waitForGlobal('bench');
      const held = await page.evaluate('bench.stored()');
      if (held > 0) throw new Error(`the origin of a new profile holds ${held} entries`);
      const empty = browser.memory()?.now;
      const sample = await inTime(
        method,
        page.evaluate(([name, value]) => globalThis.bench[name](value), [method, task]),
      );
      const peak = browser.memory()?.peak;
      return { ...sample, peak: peak && empty ? peak - empty : undefined };
    } finally {
      await browser.close();
    }
  }

  async close() {
    await this.site?.stop();
  }
}

// WebKit for the tests of the page's package: WebKitGTK's small browser, with its WebDriver, and a display for it. There are none of them
// for macOS, where WebKit is Safari's, nor on every distribution: without them the tests in WebKit are left out, and that is said. GANTRY_WEBKIT
// names the browser (MiniBrowser).
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { aptInstall } from './apt.mjs';
import { exists, say } from './process.mjs';

const packages = ['webkit2gtk-driver', 'libwebkit2gtk-4.1-0', 'xvfb'];

/** The folders that distributions keep programs of libraries in. */
function libraryFolders() {
  const folders = ['/usr/libexec', '/usr/lib', '/usr/lib64'];
  const multiarch = existsSync('/usr/lib') ? readdirSync('/usr/lib').filter((name) => name.endsWith('-linux-gnu')) : [];
  return [...multiarch.map((name) => join('/usr/lib', name)), ...folders];
}

async function found() {
  const versions = ['webkit2gtk-4.1', 'webkitgtk-6.0'];
  const paths = libraryFolders().flatMap((folder) => versions.map((name) => join(folder, name, 'MiniBrowser')));
  const browser = process.env.GANTRY_WEBKIT || paths.find((path) => existsSync(path));
  const hasDisplay = Boolean(process.env.DISPLAY || process.env.WAYLAND_DISPLAY) || (await exists('Xvfb'));
  return browser && hasDisplay && (await exists('WebKitWebDriver')) ? browser : undefined;
}

/** The environment variable with the path of the browser; none where it cannot be had. */
export async function provideWebkit() {
  if (process.platform !== 'linux') return {};
  const named = process.env.GANTRY_WEBKIT;
  if (named && !existsSync(named)) throw new Error(`GANTRY_WEBKIT names ${named}, which is not there`);
  let browser = await found();
  if (!browser && (await aptInstall('webkit', packages))) browser = await found();
  if (browser) {
    say('webkit', browser);
    return { GANTRY_WEBKIT: browser };
  }
  const advice = 'WebKitWebDriver, MiniBrowser and Xvfb are not all here (Debian: webkit2gtk-driver and xvfb)';
  if (process.env.CI) throw new Error(advice);
  say('webkit', `${advice}: the tests in WebKit are left out`);
  return {};
}

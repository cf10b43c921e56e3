// Browsers for the tests, found in this order: named by the environment, installed on this machine, downloaded before,
// downloadable now, the distribution's packages. Only one that starts counts. The tests get GANTRY_CHROMIUM and GANTRY_FIREFOX (paths of
// executables). Chromium is downloaded by Playwright. Firefox is the stock one (by @puppeteer/browsers): it is driven over
// WebDriver BiDi, which Playwright's patched build lacks. GANTRY_BROWSER_TIMEOUT=240 is how many seconds a download gets.
import { closeSync, existsSync, openSync, readdirSync, readSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { aptInstall, privileged } from './apt.mjs';
import { inRoot, nodeBinary } from './paths.mjs';
import { run, say } from './process.mjs';

const stockFolder = inRoot('node_modules', '.cache', 'gantry-browsers');

const browsers = [
  {
    name: 'chromium',
    variable: 'GANTRY_CHROMIUM',
    commands: ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'],
    applications: [
      '/Applications/Chromium.app/Contents/MacOS/Chromium',
      '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    ],
    packages: ['chromium'],
    advised: 'Chromium (or Google Chrome)',
    download: [nodeBinary('playwright'), 'install', 'chromium'],
    downloaded() {
      const path = createRequire(inRoot('package.json'))('playwright-core').chromium.executablePath();
      return path && existsSync(path) ? path : undefined;
    },
  },
  {
    name: 'firefox',
    variable: 'GANTRY_FIREFOX',
    commands: ['firefox-esr', 'firefox'],
    applications: ['/Applications/Firefox.app/Contents/MacOS/firefox'],
    packages: ['firefox-esr', 'firefox'],
    advised: 'Firefox',
    download: [nodeBinary('browsers'), 'install', 'firefox@stable', '--path', stockFolder],
    downloaded() {
      const folder = join(stockFolder, 'firefox');
      const builds = existsSync(folder) ? readdirSync(folder) : [];
      const inside = ['firefox/firefox', 'Firefox.app/Contents/MacOS/firefox'];
      return builds
        .flatMap((build) => inside.map((path) => join(folder, build, path)))
        .find((path) => existsSync(path));
    },
  },
];

/** A download lacks the libraries of a desktop on many servers; Ubuntu's packages are scripts that ask for a snap. */
async function starts(path) {
  try {
    await run(path, ['--version'], { output: 'quiet', seconds: 20 });
    return true;
  } catch {
    return false;
  }
}

/** Whether a command is a snap, or a script that starts one: those cannot be driven. */
export function isSnap(path) {
  const real = realpathSync(path);
  if (real === '/usr/bin/snap' || real.startsWith('/snap/')) return true;
  const beginning = Buffer.alloc(4096);
  const file = openSync(real);
  const length = readSync(file, beginning);
  closeSync(file);
  const text = beginning.toString('latin1', 0, length);
  return text.startsWith('#!') && /\bsnap\b/.test(text);
}

async function onThisMachine({ commands, applications }) {
  for (const command of commands) {
    try {
      const path = (await run('sh', ['-c', 'command -v "$0"', command], { output: 'quiet' })).trim();
      if (!isSnap(path) && (await starts(path))) return path;
    } catch {
      // the next name
    }
  }
  return applications.find((path) => existsSync(path));
}

/** Runs a step of the set-up; resolves to whether it went well, and says why not. */
async function attempt(what, [command, ...words]) {
  const seconds = Number(process.env.GANTRY_BROWSER_TIMEOUT || 240);
  say('browsers', what);
  try {
    await run(command, words, { output: 'quiet', seconds });
    return true;
  } catch (error) {
    const reason = error.output?.split('\n').find((line) => /error|fail|refused|not found/i.test(line));
    say('browsers', `that did not work: ${reason?.trim() || error.message}`);
    return false;
  }
}

/** The words after `playwright` that install what downloaded browsers need of a desktop. */
const installLibraries = (...names) => ['install-deps', ...names];

/** The downloaded browser, fetched and given its libraries if need be; undefined where it does not start. */
async function download({ name, downloaded, download: command }) {
  if (!downloaded() && !(await attempt(`downloading ${name}`, command))) return undefined;
  const path = downloaded();
  if (!path || (await starts(path))) return path;
  // Playwright takes sudo by itself; without one that asks nothing it would ask.
  if (process.platform !== 'linux' || !(await privileged())) return undefined;
  await attempt(`installing the libraries of ${name}`, [nodeBinary('playwright'), ...installLibraries(name)]);
  return (await starts(path)) ? path : undefined;
}

/** The path of a browser that starts; undefined where there is none to be had. */
export async function find(browser) {
  const { variable, packages } = browser;
  const named = process.env[variable];
  if (named) {
    if (!existsSync(named)) throw new Error(`${variable} names ${named}, which is not there`);
    return named;
  }
  const ready = (await onThisMachine(browser)) ?? (await download(browser));
  if (ready) return ready;
  for (const one of packages) {
    if (!(await aptInstall('browsers', [one]))) continue;
    const installed = await onThisMachine(browser);
    if (installed) return installed;
  }
  return undefined;
}

/** One line for all the browsers that are missing: those that were downloaded lack libraries. */
export function advice(missing) {
  const list = (browsers, word, joint) => browsers.map((browser) => browser[word]).join(joint);
  const broken = missing.filter(({ downloaded }) => downloaded());
  const absent = missing.filter(({ downloaded }) => !downloaded());
  const parts = [];
  if (broken.length > 0) {
    // Without sudo before it: Playwright takes that by itself, and root's path often has no npx.
    const command = ['npx', 'playwright', ...installLibraries(...broken.map(({ name }) => name))].join(' ');
    parts.push(`${list(broken, 'name', ' and ')}: downloaded, but libraries are missing: run \`${command}\``);
  }
  if (absent.length > 0) {
    const snaps = process.platform === 'linux' ? ' (snaps cannot be driven)' : '';
    parts.push(`no ${list(absent, 'name', ', no ')}: install ${list(absent, 'advised', ' and ')}${snaps}`);
  }
  return `${parts.join('; ')}; or name them in ${list(missing, 'variable', ' and ')}`;
}

/** Environment variables with the path of each browser. */
export async function provideBrowsers() {
  const environment = {};
  for (const browser of browsers) environment[browser.variable] = await find(browser);
  const missing = browsers.filter(({ variable }) => !environment[variable]);
  if (missing.length > 0) throw new Error(advice(missing));
  const paths = Object.values(environment).join(', ');
  say('browsers', paths);
  return environment;
}

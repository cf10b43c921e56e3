// Browsers for the tests, found in this order: named by the environment, installed on this machine, downloaded before,
// downloadable now, the distribution's packages. The tests get GANTRY_CHROMIUM and GANTRY_FIREFOX (paths of
// executables). Chromium is downloaded by Playwright. Firefox is the stock one (by @puppeteer/browsers): it is driven over
// WebDriver BiDi, which Playwright's patched build lacks. GANTRY_BROWSER_TIMEOUT=240 is how many seconds a download gets.
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { aptInstall } from './apt.mjs';
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

async function onThisMachine({ commands, applications }) {
  for (const command of commands) {
    try {
      const path = (await run('sh', ['-c', 'command -v "$0"', command], { output: 'quiet' })).trim();
      // Ubuntu's packages of these names are scripts that ask for a snap: only one that starts counts.
      await run(path, ['--version'], { output: 'quiet', seconds: 20 });
      return path;
    } catch {
      // the next name
    }
  }
  return applications.find((path) => existsSync(path));
}

async function download({ name, download: [command, ...words] }) {
  const seconds = Number(process.env.GANTRY_BROWSER_TIMEOUT || 240);
  say('browsers', `downloading ${name}`);
  try {
    await run(command, words, { output: 'quiet', seconds });
    if (process.platform === 'linux' && process.getuid?.() === 0) {
      await run(nodeBinary('playwright'), ['install-deps', name], { output: 'quiet', seconds });
    }
    return true;
  } catch (error) {
    const reason = error.output?.split('\n').find((line) => /error|fail|refused|not found/i.test(line));
    say('browsers', `that did not work: ${reason?.trim() || error.message}`);
    return false;
  }
}

async function find(browser) {
  const named = process.env[browser.variable];
  if (named) {
    if (!existsSync(named)) throw new Error(`${browser.variable} names ${named}, which is not there`);
    return named;
  }
  const ready = (await onThisMachine(browser)) ?? browser.downloaded();
  if (ready) return ready;
  if ((await download(browser)) && browser.downloaded()) return browser.downloaded();
  for (const name of browser.packages) {
    if (!(await aptInstall('browsers', [name]))) continue;
    const installed = await onThisMachine(browser);
    if (installed) return installed;
  }
  throw new Error(`no ${browser.name}: install ${browser.packages.join(' or ')}, or name one in ${browser.variable}`);
}

/** Environment variables with the path of each browser. */
export async function provideBrowsers() {
  const environment = {};
  for (const browser of browsers) environment[browser.variable] = await find(browser);
  const paths = Object.values(environment).join(', ');
  say('browsers', paths);
  return environment;
}

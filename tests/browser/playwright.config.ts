/** Browser tests: `npm test -- browser`. Chromium is driven by Playwright; Firefox and WebKit by their own specs. */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from '@playwright/test';

const withWindows = [process.env.GANTRY_CHROMIUM, '/usr/bin/chromium'].find((path) => path && existsSync(path));
// The same without windows, where it is beside it: a third less work for each page.
const windowless = withWindows && `${withWindows}-headless-shell`;
const chromium = windowless && existsSync(windowless) ? windowless : withWindows;

export default defineConfig({
  testDir: '.',
  // Not every machine can have it; `npm test` says where it is missing (scripts/lib/webkit.mjs), and CI fails.
  testIgnore: process.env.GANTRY_WEBKIT ? [] : ['webkit.spec.ts'],
  outputDir: '../../test-results',
  globalSetup: './support/build.ts',
  // How many files run beside each other. More would keep each other waiting for too long: a browser is several processes.
  workers: Math.min(2, availableParallelism()),
  timeout: 120_000,
  expect: { timeout: 30_000 },
  forbidOnly: Boolean(process.env.CI),
  reporter: [['list']],
  use: {
    viewport: { width: 1440, height: 900 },
    launchOptions: {
      // Without a path it is Playwright's own.
      ...(chromium && { executablePath: chromium }),
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        // A name that is no localhost: for what needs a page without a secure context.
        '--host-resolver-rules=MAP insecure.test 127.0.0.1',
      ],
    },
  },
});

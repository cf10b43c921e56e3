/** Browser tests: `npm test -- browser`. Chromium is driven by Playwright; Firefox and WebKit by their own specs. */
import { existsSync } from 'node:fs';
import { defineConfig } from '@playwright/test';

const chromium = [process.env.GANTRY_CHROMIUM, '/usr/bin/chromium'].find((path) => path && existsSync(path));

export default defineConfig({
  testDir: '.',
  // Not every machine can have it; `npm test` says where it is missing (scripts/lib/webkit.mjs), and CI fails.
  testIgnore: process.env.GANTRY_WEBKIT ? [] : ['webkit.spec.ts'],
  outputDir: '../../test-results',
  globalSetup: './support/build.ts',
  // One at a time: the specs measure, and share a machine with the browsers they start.
  workers: 1,
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

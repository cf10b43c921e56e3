/** Firefox, driven over WebDriver BiDi. */
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type LaunchOptions, launch, type Page } from 'puppeteer-core';

const executablePath =
  process.env.GANTRY_FIREFOX ?? ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find((path) => existsSync(path));

export async function launchFirefox(options: LaunchOptions = {}): Promise<Browser> {
  // What it saves of a profile's preferences has to be there, also after a browser that was killed.
  for (const name of options.userDataDir ? ['prefs.js', 'user.js'] : []) {
    appendFileSync(join(options.userDataDir as string, name), '');
  }
  if (!executablePath) throw new Error('there is no Firefox: name one in GANTRY_FIREFOX');
  for (let attempt = 1; ; attempt++) {
    try {
      return await launch({ browser: 'firefox', executablePath, headless: true, timeout: 90_000, ...options });
    } catch (error) {
      // What drove a browser that was killed is moving the profile's preferences still.
      const isMoving = (error as { code?: string }).code === 'ENOENT' && options.userDataDir !== undefined;
      if (!isMoving || attempt === 5) throw error;
      await new Promise((resume) => setTimeout(resume, 200));
    }
  }
}

/** Installs the playground's React project, as a person does. */
export async function installReact(page: Page, site: string): Promise<void> {
  await page.goto(`${site}/?project=react`);
  await page.locator('[data-testid=install-button]:not(:disabled)').click();
  await page.waitForSelector('[data-testid=done]', { timeout: 60_000 });
}

/** Runs it, and waits for its component. */
export async function runReact(page: Page): Promise<void> {
  await page.locator('[data-testid=run-button]:not(:disabled)').click();
  const frame = await (await page.waitForSelector('iframe.frame', { timeout: 60_000 }))?.contentFrame();
  if (!frame) throw new Error('the frame has no document');
  await frame.waitForFunction(() => document.querySelector('#root')?.textContent?.includes('Rendered by React 19.'));
}

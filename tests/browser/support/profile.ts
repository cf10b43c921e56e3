/** A Chromium with a profile of its own, on disk, that outlives it: opened, killed, and opened again. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, BrowserContextOptions, LaunchOptions, PlaywrightWorkerArgs } from '@playwright/test';

export class Profile {
  readonly #folder = mkdtempSync(join(tmpdir(), 'gantry-profile-'));
  readonly #playwright: PlaywrightWorkerArgs['playwright'];
  readonly #options: LaunchOptions & BrowserContextOptions;
  #context: BrowserContext | undefined;

  /** `preferences` are what a person may have chosen in its settings. */
  constructor(
    playwright: PlaywrightWorkerArgs['playwright'],
    options: LaunchOptions & BrowserContextOptions,
    preferences?: object,
  ) {
    this.#playwright = playwright;
    this.#options = options;
    if (!preferences) return;
    mkdirSync(join(this.#folder, 'Default'));
    writeFileSync(join(this.#folder, 'Default', 'Preferences'), JSON.stringify(preferences));
  }

  /** The open browser; starts it. */
  async open(): Promise<BrowserContext> {
    if (!this.#context) {
      const context = await this.#playwright.chromium.launchPersistentContext(this.#folder, this.#options);
      context.once('close', () => {
        if (this.#context === context) this.#context = undefined;
      });
      this.#context = context;
    }
    return this.#context;
  }

  /** SIGKILL to the browser and all its processes. Nothing gets to say good-bye. */
  async kill(): Promise<void> {
    const context = this.#context;
    if (!context) throw new Error('this browser is not open');
    const closed = new Promise<void>((resolve) => context.once('close', () => resolve()));
    // Playwright starts a browser as the leader of a group of processes.
    process.kill(-this.#process(), 'SIGKILL');
    await closed;
  }

  async remove(): Promise<void> {
    await this.#context?.close();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  #process(): number {
    const lines = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,args='], { encoding: 'utf8' }).split('\n');
    const own = lines.find((line) => line.includes(`--user-data-dir=${this.#folder}`) && !line.includes('--type='));
    if (!own) throw new Error('the browser of this profile cannot be found');
    return Number.parseInt(own, 10);
  }
}

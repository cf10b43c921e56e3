/** The playground as a person uses it. */
import { expect, type FrameLocator, type Locator, type Page } from '@playwright/test';
import type { Site } from './site.js';

export class Playground {
  readonly page: Page;
  readonly panel: Locator;
  readonly failure: Locator;
  readonly frame: FrameLocator;
  readonly #site: Site;

  constructor(page: Page, site: Site) {
    this.page = page;
    this.panel = page.getByTestId('install');
    this.failure = page.getByTestId('failure');
    this.frame = page.frameLocator('iframe.frame');
    this.#site = site;
  }

  /** Open it with a starting project and a registry, both as its settings remember them. */
  async open(starter: string, registry: string): Promise<void> {
    await this.page.addInitScript((url) => {
      // Frames run it too, and the sandboxed one has no storage.
      if (self === top) localStorage.setItem('gantry:registry', url);
    }, registry);
    await this.page.goto(`${this.#site.url}/?project=${starter}`);
    await this.page.locator('.cm-editor').waitFor();
    await expect(this.page.getByTestId('install-button')).toBeEnabled();
  }

  /** Change the settings, and wait until the store is open with them. */
  async useRegistry(address: string, token = ''): Promise<void> {
    await this.configure(address, token);
    await expect(this.page.getByTestId('install-button')).toBeEnabled();
  }

  /** Change the settings. Once the dialog is closed the store of before is not used any more. */
  async configure(address: string, token = ''): Promise<void> {
    await this.page.getByTestId('settings').click();
    await this.page.getByRole('textbox', { name: 'Registry' }).fill(address);
    await this.page.getByLabel('Token').fill(token);
    await this.page.getByRole('button', { name: 'Save' }).click();
    await expect(this.page.getByRole('dialog')).toHaveCount(0);
  }

  /** Show a file of the project in the editor. */
  async edit(name: string): Promise<void> {
    const tab = this.page.getByRole('tab', { name });
    await expect(async () => {
      await tab.click();
      await expect(this.page.locator('.cm-content')).toHaveAttribute('aria-label', new RegExp(`${name}$`), {
        timeout: 500,
      });
    }).toPass();
  }

  /**
   * Put another text in place of the open file's, as a person does. Not by `fill`, which sets the document's selection behind
   * the editor's back: the editor, just focused, may put its own selection back before the text arrives.
   */
  async write(text: string): Promise<void> {
    const content = this.page.locator('.cm-content');
    await content.click();
    await content.press('ControlOrMeta+a');
    await this.page.keyboard.insertText(text);
  }

  async writeDependencies(dependencies: Record<string, string>): Promise<void> {
    await this.write(JSON.stringify({ name: 'written', version: '1.0.0', dependencies }, undefined, 2));
  }

  async press(): Promise<void> {
    await this.page.getByTestId('install-button').click();
  }

  /** Press Install, and wait until everything is there. */
  async install(): Promise<void> {
    const before = Number(await this.panel.getAttribute('data-installs'));
    await this.press();
    await this.installed(before + 1);
  }

  /** Wait for the end of as many installs since the page was loaded. */
  async installed(times: number): Promise<void> {
    const ended = this.page.locator(`[data-testid=install]:is([data-installs="${times}"], [data-state=failed])`);
    await expect(ended).toBeVisible({ timeout: 40_000 });
    expect(await this.failure.allTextContents()).toEqual([]);
    await expect(this.panel).toHaveAttribute('data-state', 'done');
  }

  /** Press Install, and wait for the error that it shows. */
  async installFails(): Promise<Shown> {
    await this.press();
    await expect(this.panel).toHaveAttribute('data-state', 'failed', { timeout: 40_000 });
    return {
      code: (await this.failure.getAttribute('data-code')) ?? '',
      message: (await this.failure.locator('.failure-message').allTextContents()).join(),
      hint: (await this.failure.locator('.failure-hint').allTextContents()).join(),
      package: (await this.failure.locator('.failure-package').allTextContents()).join(),
    };
  }

  async run(): Promise<void> {
    await this.page.getByTestId('run-button').click();
    await expect(this.page.getByTestId('preview')).toHaveAttribute('data-state', /shown|failed/, { timeout: 40_000 });
    expect(await this.failure.allTextContents()).toEqual([]);
  }
}

export interface Shown {
  code: string;
  message: string;
  /** Empty where there is none, as is the package. */
  hint: string;
  /** A name, or `name@version`. */
  package: string;
}

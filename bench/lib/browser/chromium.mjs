// Chromium by its debugging pipe, with nothing of DevTools turned on but running scripts and loading pages.
//
// Playwright and Puppeteer watch the network of every page and worker, and that cannot be turned off: each request costs the
// browser and the renderer messages that no user's page sends. A cold install took a quarter longer with it.
import { spawn } from 'node:child_process';

/** How long a browser may take to end before it is killed, in milliseconds. */
const PATIENCE = 5_000;

/** The one page of a browser that was started for it. */
export class QuietChromium {
  #child;
  #last = 0;
  /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void }>} */ #calls = new Map();
  /** @type {(() => void) | undefined} */ #loaded;
  #session;

  /** @param {string} executable @param {string[]} words */
  static async start(executable, words) {
    const chromium = new QuietChromium(executable, words);
    const { targetInfos } = await chromium.send('Target.getTargets');
    const { targetId } =
      targetInfos.find(({ type }) => type === 'page') ??
      (await chromium.send('Target.createTarget', { url: 'about:blank' }));
    const { sessionId } = await chromium.send('Target.attachToTarget', { targetId, flatten: true });
    chromium.#session = sessionId;
    await chromium.send('Page.enable');
    return chromium;
  }

  /** @param {string} executable @param {string[]} words */
  constructor(executable, words) {
    const options = { stdio: /** @type {any} */ (['ignore', 'ignore', 'ignore', 'pipe', 'pipe']) };
    this.#child = spawn(executable, ['--headless=new', '--remote-debugging-pipe', ...words, 'about:blank'], options);
    const gone = () => this.#fail(new Error('the browser has ended'));
    this.#child.on('exit', gone).on('error', (error) => this.#fail(error));
    let text = '';
    const messages = /** @type {import('node:stream').Readable} */ (this.#child.stdio[4]);
    messages.setEncoding('utf8').on('data', (chunk) => {
      const parts = (text + chunk).split('\0');
      text = parts.pop() ?? '';
      for (const part of parts) this.#receive(JSON.parse(part));
    });
  }

  /** @param {string} url */
  async goto(url) {
    const loaded = this.#nextLoad();
    const { errorText } = await this.send('Page.navigate', { url });
    if (errorText) throw new Error(`${url}: ${errorText}`);
    await loaded;
  }

  async reload() {
    const loaded = this.#nextLoad();
    await this.send('Page.reload');
    await loaded;
  }

  /** Runs a script in the page, or a function with an argument, and waits for its promise.
   * @param {string | ((argument: any) => any)} script @param {any} [argument] */
  async evaluate(script, argument) {
    const expression = typeof script === 'string' ? script : `(${script})(${JSON.stringify(argument)})`;
    const wanted = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', wanted);
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Waits until the page has set a global of this name. @param {string} name */
  async waitForGlobal(name) {
    const found = `${JSON.stringify(name)} in globalThis`;
    await this.evaluate(
      `new Promise((done) => { const look = () => (${found}) ? done() : setTimeout(look, 5); look() })`,
    );
  }

  /** As `Chrome/156.0.0.0`. */
  async version() {
    return (await this.send('Browser.getVersion')).product;
  }

  async close() {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.send('Browser.close').catch(() => {});
    const kill = setTimeout(() => this.#child.kill('SIGKILL'), PATIENCE);
    await ended;
    clearTimeout(kill);
  }

  #nextLoad() {
    return new Promise((resolve) => {
      this.#loaded = () => resolve(undefined);
    });
  }

  /** A command of the DevTools protocol. @param {string} method @param {object} [params] @returns {Promise<any>} */
  send(method, params = {}) {
    this.#last += 1;
    const message = { id: this.#last, method, params, ...(this.#session && { sessionId: this.#session }) };
    const answered = new Promise((resolve, reject) => this.#calls.set(message.id, { resolve, reject }));
    /** @type {import('node:stream').Writable} */ (this.#child.stdio[3]).write(`${JSON.stringify(message)}\0`);
    return answered;
  }

  #receive({ id, method, result, error }) {
    if (method === 'Page.loadEventFired') this.#loaded?.();
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    if (error) call?.reject(new Error(error.message));
    else call?.resolve(result);
  }

  /** @param {Error} error */
  #fail(error) {
    for (const { reject } of this.#calls.values()) reject(error);
    this.#calls.clear();
  }
}

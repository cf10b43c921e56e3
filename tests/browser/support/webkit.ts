/** WebKit, the engine of Safari, as WebKitGTK's small browser, driven over WebDriver. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';

/** What Safari has and WebKitGTK leaves out unless it is asked for. */
const FEATURES = ['FileSystem', 'AccessHandle', 'StorageAPI', 'StorageAPIEstimate'];

interface Answer {
  value: unknown;
}

export class WebKit {
  readonly #processes: ChildProcess[];
  readonly #session: string;

  private constructor(processes: ChildProcess[], session: string) {
    this.#processes = processes;
    this.#session = session;
  }

  /** `browser`: path of MiniBrowser. */
  static async start(browser: string): Promise<WebKit> {
    const processes: ChildProcess[] = [];
    try {
      const environment = { ...process.env };
      if (!environment.DISPLAY && !environment.WAYLAND_DISPLAY) environment.DISPLAY = await startDisplay(processes);
      const port = await freePort();
      processes.push(spawn('WebKitWebDriver', [`--port=${port}`], { env: environment, stdio: 'inherit' }));
      const driver = `http://127.0.0.1:${port}`;
      await ready(driver);
      const args = ['--automation', `--features=${FEATURES.map((name) => `+${name}`).join()}`];
      const capabilities = { alwaysMatch: { 'webkitgtk:browserOptions': { binary: browser, args } } };
      const { sessionId } = (await ask(`${driver}/session`, 'POST', { capabilities })) as { sessionId: string };
      const webkit = new WebKit(processes, `${driver}/session/${sessionId}`);
      await webkit.#ask('timeouts', { script: 110_000, pageLoad: 60_000 });
      return webkit;
    } catch (error) {
      for (const child of processes.reverse()) child.kill();
      throw error;
    }
  }

  async goto(url: string): Promise<void> {
    await this.#ask('url', { url });
  }

  async reload(): Promise<void> {
    await this.#ask('refresh', {});
  }

  /** Runs a function in the page; its argument and what it comes to must be JSON. */
  async evaluate<A, T>(script: (argument: A) => T | Promise<T>, argument?: A): Promise<T> {
    const source = `
      const done = arguments[1];
      const script = ${script};
      (async () => script(arguments[0]))().then(
        (result) => done({ result }),
        (error) => done({ problem: \`\${error?.code ?? ''} \${error} \${error?.stack ?? ''}\` }),
      );`;
    const answer = await this.#ask('execute/async', { script: source, args: [argument ?? null] });
    const { result, problem } = (answer ?? {}) as { result?: T; problem?: string };
    if (problem !== undefined) throw new Error(problem);
    return result as T;
  }

  /** Waits until a function in the page comes to something. */
  async until(script: string | (() => unknown), seconds = 60): Promise<void> {
    const end = Date.now() + seconds * 1000;
    const isSo = () => this.evaluate(script as () => unknown).catch(unlessReplaced);
    while (!(await isSo())) {
      if (Date.now() > end) throw new Error(`not within ${seconds} s: ${script}`);
      await new Promise((resume) => setTimeout(resume, 100));
    }
  }

  /** Scripts run in this frame from here on, until the next page. */
  async enterFrame(selector: string): Promise<void> {
    const element = await this.#ask('element', { using: 'css selector', value: selector });
    await this.#ask('frame', { id: element });
  }

  async currentTab(): Promise<string> {
    return (await ask(`${this.#session}/window`, 'GET')) as string;
  }

  /** Opens a tab and goes there. */
  async newTab(): Promise<string> {
    const { handle } = (await this.#ask('window/new', { type: 'tab' })) as { handle: string };
    await this.switchTo(handle);
    return handle;
  }

  async switchTo(handle: string): Promise<void> {
    await this.#ask('window', { handle });
  }

  /** Closes a tab; another has to be switched to before anything else. */
  async closeTab(handle: string): Promise<void> {
    await this.switchTo(handle);
    await ask(`${this.#session}/window`, 'DELETE');
  }

  async stop(): Promise<void> {
    await ask(this.#session, 'DELETE').catch(() => undefined);
    for (const child of this.#processes.reverse()) child.kill();
  }

  #ask(command: string, body: unknown): Promise<unknown> {
    return ask(`${this.#session}/${command}`, 'POST', body);
  }
}

/** What the driver says of a script whose document was replaced by the next one before it was done, as that of a frame may be. */
function unlessReplaced(error: Error): false {
  if (!error.message.endsWith('Could not parse script result')) throw error;
  return false;
}

async function ask(address: string, method: string, body?: unknown): Promise<unknown> {
  const response = await fetch(address, { method, ...(body !== undefined && { body: JSON.stringify(body) }) });
  const { value } = (await response.json()) as Answer;
  const { error, message } = (value ?? {}) as { error?: string; message?: string };
  if (!response.ok) throw new Error(`WebDriver: ${error}: ${message}`);
  return value;
}

async function ready(driver: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await ask(`${driver}/status`, 'GET');
      return;
    } catch (error) {
      if (attempt === 100) throw error;
      await new Promise((resume) => setTimeout(resume, 100));
    }
  }
}

/** A display that nobody sees. */
async function startDisplay(processes: ChildProcess[]): Promise<string> {
  const words = ['-displayfd', '1', '-screen', '0', '1280x900x24', '-nolisten', 'tcp'];
  const display = spawn('Xvfb', words, { stdio: ['ignore', 'pipe', 'ignore'] });
  processes.push(display);
  const ended = once(display, 'exit').then(([status]) => Promise.reject(new Error(`Xvfb ended with status ${status}`)));
  ended.catch(() => undefined);
  const [number] = await Promise.race([once(display.stdout, 'data'), ended]);
  return `:${String(number).trim()}`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

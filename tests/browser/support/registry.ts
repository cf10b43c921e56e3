/** A replay registry on the loopback interface, and what it says of the requests it got. */
import { type ChildProcess, spawn } from 'node:child_process';
import { registryCommand } from './paths.js';

interface LoggedRequest {
  method: string;
  path: string;
  /** In words that are separated by hyphens: `abbreviated-packument`, `version`, `tarball`. */
  kind: string;
  authorized: boolean;
}

export class Registry {
  /** Ends with a slash. */
  readonly url: string;
  readonly #process: ChildProcess;

  private constructor(url: string, child: ChildProcess) {
    this.url = url.endsWith('/') ? url : `${url}/`;
    this.#process = child;
  }

  /** Of the recording, unless the words name fixtures. */
  static start(...words: string[]): Promise<Registry> {
    const child = spawn(registryCommand, ['--until-stdin-closes', ...words], { stdio: ['pipe', 'pipe', 'inherit'] });
    let text = '';
    return new Promise((settle, fail) => {
      child.on('error', fail);
      child.on('exit', (code) => fail(new Error(`gantry-registry ended with status ${code}: ${text}`)));
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (text.includes('\n')) settle(new Registry(JSON.parse(text).url, child));
      });
    });
  }

  /** Requests since the start or the last reset, control requests left out. */
  async requests(): Promise<number> {
    return (await this.#stats()).requests;
  }

  /** Of those, how many a fault is played to: at once, also where it never ends. */
  async faulty(): Promise<number> {
    return (await this.#stats()).faults;
  }

  /** All requests, and preflights among them. */
  async counts(): Promise<{ requests: number; preflights: number }> {
    const log = await this.requestsFor('');
    return { requests: log.length, preflights: log.filter(({ method }) => method === 'OPTIONS').length };
  }

  /** The requests whose path fits a pattern, written as those of faults are. */
  async requestsFor(pattern: string): Promise<LoggedRequest[]> {
    const response = await this.#control('GET', 'stats?log');
    const { log } = (await response.json()) as { log: LoggedRequest[] };
    const expression = new RegExp(`^${pattern.replaceAll('*', '.*')}`);
    return log.filter(({ path }) => expression.test(path));
  }

  async reset(): Promise<void> {
    await this.#control('POST', 'reset');
  }

  /** Play a fault; see the registry's own documentation of rules. */
  async fault(rule: object): Promise<void> {
    await this.#control('POST', 'faults', JSON.stringify(rule));
  }

  async healthy(): Promise<void> {
    await this.#control('DELETE', 'faults');
  }

  async #stats(): Promise<{ requests: number; faults: number }> {
    return (await (await this.#control('GET', 'stats')).json()) as { requests: number; faults: number };
  }

  async #control(method: string, path: string, body?: string): Promise<Response> {
    const response = await fetch(`${this.url}-/gantry/${path}`, { method, ...(body !== undefined && { body }) });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response;
  }

  /** It ends with its standard input. */
  stop(): void {
    this.#process.removeAllListeners('exit');
    this.#process.stdin?.end();
  }
}

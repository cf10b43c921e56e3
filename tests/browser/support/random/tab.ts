/** A tab of a random course: a page that does one thing after another, or several at once (pages/random-tab.js). */
import type { PackageChanges, Pruning, StoreUsage, Verification } from '../../../../web/src/index.js';

/** What a project is: its lock and the digest of its tree, or why that cannot be had. */
export interface ProjectState {
  lockfile?: string;
  digest?: string;
  code?: string;
}

export interface Installed {
  lockfile: string;
  packageJson?: string;
  packages: number;
  reused: number;
  changes: PackageChanges;
}

/** What each action comes to, as far as it is looked at here: the page itself looks at what it reads. */
export interface Results {
  open: undefined;
  close: undefined;
  install: Installed;
  state: Record<string, ProjectState>;
  usage: StoreUsage;
  verify: Verification;
  prune: Pruning;
  clear: undefined;
  removeProject: boolean;
  removeStore: boolean;
  digest: string | undefined;
  files: string[];
  /** What was damaged, if there is anything. */
  damage: string | undefined;
  endWorker: boolean;
  endReader: undefined;
  [reading: string]: unknown;
}

export interface Outcome<T = unknown> {
  result?: T;
  code?: string;
  message?: string;
  /** Whether the call was aborted before it ended. */
  isAborted?: boolean;
  /** Instead of all that, where the page told nothing. */
  ended?: 'with its page' | 'never';
}

/** What a course needs of a page: Playwright's and Puppeteer's have it by the same names. */
export interface CoursePage {
  goto(address: string): Promise<unknown>;
  evaluate(script: string): Promise<unknown>;
  close(): Promise<void>;
  isClosed(): boolean;
  once(event: 'close', listener: () => void): unknown;
  on(event: 'console', listener: (message: { type(): string; text(): string }) => void): unknown;
  on(event: 'pageerror', listener: (error: Error) => void): unknown;
}

/** The pages of one have one storage, which nobody has used before. */
export interface CourseBrowser {
  newPage(): Promise<CoursePage>;
}

/** Milliseconds that everything has to end in, also on a busy machine. */
const PATIENCE = 40_000;

export class Tab {
  readonly name: string;
  /** Whether the store is open here. */
  isOpen = false;
  /** Whether a worker of this tab reads a project by itself. */
  hasReader = false;
  /** Whether something of it was ended, so that it has to begin anew. */
  isDisturbed = false;
  readonly #browser: CourseBrowser;
  readonly #address: string;
  readonly #onProblem: (problem: string) => void;
  #page: CoursePage | undefined;
  /** Aborted when what is loaded goes, with its page or without. */
  #loaded = new AbortController();
  /** Whether a worker of the page has been ended by it. */
  #hasEndedWorker = false;

  constructor(name: string, parts: { browser: CourseBrowser; address: string; onProblem: (problem: string) => void }) {
    this.name = name;
    this.#browser = parts.browser;
    this.#address = parts.address;
    this.#onProblem = (problem) => parts.onProblem(`${name}: ${problem}`);
  }

  /** Begins, or begins anew. */
  async load(): Promise<void> {
    if (!this.#page || this.#page.isClosed()) this.#page = await this.#newPage();
    await this.#page.goto(this.#address);
    await this.#page.evaluate("import('/pages/random-tab.js').then(() => undefined)");
    this.#loaded = new AbortController();
    this.#hasEndedWorker = false;
    this.isOpen = false;
    this.hasReader = false;
    this.isDisturbed = false;
  }

  /** Shows the page anew, in the midst of what it does. Until it is loaded again it does nothing. */
  async reload(): Promise<void> {
    this.#loaded.abort();
    await this.#page?.goto(this.#address);
  }

  async close(): Promise<void> {
    await this.#page?.close();
  }

  /** `abortAfter`: milliseconds until the call is aborted. */
  async run<K extends keyof Results & string>(
    action: K,
    argument: object = {},
    abortAfter?: number,
  ): Promise<Outcome<Results[K]>> {
    const page = this.#page as CoursePage;
    const { signal } = this.#loaded;
    if (signal.aborted) return { ended: 'with its page' };
    if (/^end(Worker|Reader)$/.test(action)) this.#hasEndedWorker = true;
    let stop = () => {};
    const ended = new Promise<Outcome<never>>((resolve) => {
      const late = setTimeout(() => resolve({ ended: 'never' }), PATIENCE);
      const leave = () => resolve({ ended: 'with its page' });
      signal.addEventListener('abort', leave);
      stop = () => {
        clearTimeout(late);
        signal.removeEventListener('abort', leave);
      };
    });
    // The page's object is none that TypeScript could follow to here.
    const call = `tab.run(${[action, argument, abortAfter].map((value) => JSON.stringify(value)).join(', ')})`;
    const answered = (page.evaluate(call) as Promise<Outcome<Results[K]>>).catch((error: Error): Outcome<never> => {
      if (signal.aborted || page.isClosed()) return { ended: 'with its page' };
      throw error;
    });
    try {
      return await Promise.race([answered, ended]);
    } finally {
      stop();
    }
  }

  async #newPage(): Promise<CoursePage> {
    const page = await this.#browser.newPage();
    page.once('close', () => this.#loaded.abort());
    page.on('console', (message) => {
      // Of what the registry does on purpose.
      const isOfRegistry = /Failed to load resource|blocked by CORS policy/.test(message.text());
      if (message.type() === 'error' && !isOfRegistry) this.#onProblem(`console: ${message.text()}`);
    });
    // Rejections that nobody handles are among them.
    page.on('pageerror', (error) => {
      // Firefox tells its driver so of a worker that is ended in the midst of what it does; nobody in the page hears of it.
      const isOfEndedWorker = this.#hasEndedWorker && error.message === 'uncaught exception: undefined';
      if (!isOfEndedWorker) this.#onProblem(`page error: ${error.stack}`);
    });
    return page;
  }
}

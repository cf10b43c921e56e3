/** A tab of a random course: a page that does one thing after another, or several at once (pages/random-tab.js). */
import type { BrowserContext, Page } from '@playwright/test';
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
  readonly #context: BrowserContext;
  readonly #address: string;
  readonly #onProblem: (problem: string) => void;
  #page: Page | undefined;

  constructor(name: string, parts: { context: BrowserContext; address: string; onProblem: (problem: string) => void }) {
    this.name = name;
    this.#context = parts.context;
    this.#address = parts.address;
    this.#onProblem = (problem) => parts.onProblem(`${name}: ${problem}`);
  }

  /** Begins, or begins anew. */
  async load(): Promise<void> {
    if (!this.#page || this.#page.isClosed()) this.#page = await this.#newPage();
    await this.#page.goto(this.#address);
    await this.#page.evaluate(() => import('/pages/random-tab.js' as string).then(() => undefined));
    this.isOpen = false;
    this.hasReader = false;
    this.isDisturbed = false;
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
    const page = this.#page as Page;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<Outcome<never>>((resolve) => {
      timer = setTimeout(() => resolve({ ended: 'never' }), PATIENCE);
    });
    const gone = new Promise<Outcome<never>>((resolve) =>
      page.once('close', () => resolve({ ended: 'with its page' })),
    );
    // The page's object is none that TypeScript could follow to here.
    const call = `tab.run(${[action, argument, abortAfter].map((value) => JSON.stringify(value)).join(', ')})`;
    const answered = page.evaluate<Outcome<Results[K]>>(call).catch((error: Error): Outcome<never> => {
      if (page.isClosed()) return { ended: 'with its page' };
      throw error;
    });
    try {
      return await Promise.race([answered, late, gone]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #newPage(): Promise<Page> {
    const page = await this.#context.newPage();
    page.on('console', (message) => {
      // Of what the registry does on purpose.
      const isOfRegistry = /Failed to load resource|blocked by CORS policy/.test(message.text());
      if (message.type() === 'error' && !isOfRegistry) this.#onProblem(`console: ${message.text()}`);
    });
    // Rejections that nobody handles are among them.
    page.on('pageerror', (error) => this.#onProblem(`page error: ${error.stack}`));
    return page;
  }
}

/** One installed project: its lock file, its counts and its tree. */
import { type ChangeListener, noteAnswer, watchProject } from './changes.js';
import type { Connection } from './connection.js';
import type { PackageExplanation } from './explanations.js';
import { ProjectFileSystem } from './file-system.js';
import type { InstalledProject, PackageChanges } from './protocol.js';
import { RemoteTree, TREE, type Tree } from './tree.js';

export class Project {
  readonly name: string;
  /** Text of `package.json`, where `add` or `remove` has changed it: the one to keep from now on. */
  readonly packageJson: string | undefined;
  /**
   * Texts of the `package.json` of workspaces, where `add` or `remove` has changed them: those to keep from now on. By path, as
   * the option `files` has them: `packages/a/package.json`.
   */
  readonly workspaceManifests: Readonly<Record<string, string>>;
  /** Text of `package-lock.json`, byte for byte what npm writes. */
  readonly lockfile: string;
  /** Packages in the tree. */
  readonly packages: number;
  /** Files in the tree. */
  readonly files: number;
  /** Compressed bytes received. */
  readonly bytes: number;
  /** Packages that were in the store already. */
  readonly reused: number;
  /** Requests sent. */
  readonly requests: number;
  /** Milliseconds the install took. */
  readonly elapsed: number;
  /** Packages with install scripts, as `name@version`. They are never run. */
  readonly scripts: readonly string[];
  /** What the install changed; nothing, for a project as an earlier install left it. */
  readonly changes: PackageChanges;
  /** The installed tree. */
  readonly fs: ProjectFileSystem;
  /** @internal */
  readonly [TREE]: Tree;

  readonly #connection: Connection;
  readonly #store: string;

  /** @internal */
  constructor(connection: Connection, store: string, data: InstalledProject) {
    this.name = data.name;
    this.packageJson = data.packageJson;
    this.workspaceManifests = data.workspaceManifests;
    this.lockfile = data.lockfile;
    this.packages = data.packages;
    this.files = data.files;
    this.bytes = data.bytes;
    this.reused = data.reused;
    this.requests = data.requests;
    this.elapsed = data.elapsed;
    this.scripts = data.scripts;
    this.changes = data.changes;
    this[TREE] = new RemoteTree(connection, data.name);
    this.fs = new ProjectFileSystem(this[TREE]);
    this.#connection = connection;
    this.#store = store;
    noteAnswer(store, data);
  }

  /**
   * Call `listener` after each later install of this project, of this tab or another, that changed it, and when it is
   * removed or the store cleared, with the folders of the packages concerned: none where only the lock is another one, which
   * `gantry.project()` then has. Returns what ends it, as closing the store does: the listener could not read anything then. Who
   * wants to hear of changes all the same calls `watchProject`.
   */
  onDidChange(listener: ChangeListener): () => void {
    const tell: ChangeListener = (change) => {
      // Before anything that the listener asks: the worker hears of it too, but maybe later.
      this.#connection.noteChange(this.name);
      listener(change);
    };
    const { closed } = this.#connection;
    if (closed.aborted) return () => {};
    const stop = watchProject(tell, { store: this.#store, project: this.name });
    closed.addEventListener('abort', stop);
    return () => {
      closed.removeEventListener('abort', stop);
      stop();
    };
  }

  /** Why packages are in the tree. By name (`left`), by name and range (`left@^1`), or by folder (`node_modules/left`). */
  why(query: string): Promise<PackageExplanation[]> {
    return this.#connection.call('why', { project: this.name, query });
  }

  /** One digest over every path, mode and content of the tree, in hex: equal trees have equal digests. */
  treeDigest(): Promise<string> {
    return this.#connection.call('treeDigest', { project: this.name });
  }
}

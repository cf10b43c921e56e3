/** One installed project: its lock file, its counts and its tree. */
import type { Connection } from './connection.js';
import { ProjectFileSystem } from './file-system.js';
import type { InstalledProject, PackageExplanation } from './protocol.js';

export class Project {
  readonly name: string;
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
  /** The installed tree. */
  readonly fs: ProjectFileSystem;

  readonly #connection: Connection;

  /** @internal */
  constructor(connection: Connection, data: InstalledProject) {
    this.name = data.name;
    this.lockfile = data.lockfile;
    this.packages = data.packages;
    this.files = data.files;
    this.bytes = data.bytes;
    this.reused = data.reused;
    this.requests = data.requests;
    this.elapsed = data.elapsed;
    this.scripts = data.scripts;
    this.fs = new ProjectFileSystem(connection, data.name);
    this.#connection = connection;
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

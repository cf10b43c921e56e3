/**
 * One view over the project's own files and its installed tree, as the bundler sees it: absolute paths from `/`.
 * A directory is listed once, so that asking for a file that is not there costs nothing after the first.
 */
import { GantryError, type Project } from 'gantry';

export type Kind = 'file' | 'directory' | 'symlink';

export interface PackageManifest {
  name: string;
  version?: string;
  main?: string;
  module?: string;
  browser?: string | Record<string, string | false>;
  svelte?: string;
  exports?: unknown;
  imports?: Record<string, unknown>;
  sideEffects?: boolean | string[];
}

const INSTALLED = '/node_modules';

export class TreeFiles {
  readonly #project: Project;
  readonly #own: ReadonlyMap<string, string>;
  readonly #listings = new Map<string, Promise<ReadonlyMap<string, Kind>>>();
  readonly #manifests = new Map<string, Promise<PackageManifest | undefined>>();

  constructor(project: Project, own: ReadonlyMap<string, string>) {
    this.#project = project;
    this.#own = own;
  }

  async kind(path: string): Promise<Kind | undefined> {
    if (path === '/') return 'directory';
    return (await this.#list(directoryOf(path))).get(nameOf(path));
  }

  async isFile(path: string): Promise<boolean> {
    const kind = await this.kind(path);
    return kind === 'symlink' ? (await this.#project.fs.stat(path)).isFile() : kind === 'file';
  }

  async isDirectory(path: string): Promise<boolean> {
    const kind = await this.kind(path);
    return kind === 'symlink' ? (await this.#project.fs.stat(path)).isDirectory() : kind === 'directory';
  }

  /** Links in the installed tree followed. */
  realpath(path: string): Promise<string> {
    return isInstalled(path) ? this.#project.fs.realpath(path) : Promise.resolve(path);
  }

  read(path: string): Promise<Uint8Array> {
    const own = this.#own.get(path.slice(1));
    return own === undefined ? this.#project.fs.readFile(path) : Promise.resolve(new TextEncoder().encode(own));
  }

  async readText(path: string): Promise<string> {
    return new TextDecoder().decode(await this.read(path));
  }

  /** The `package.json` in this very directory. */
  manifest(directory: string): Promise<PackageManifest | undefined> {
    let manifest = this.#manifests.get(directory);
    if (!manifest) {
      manifest = this.#readManifest(directory);
      this.#manifests.set(directory, manifest);
    }
    return manifest;
  }

  /** The nearest directory at or above this one that has a `package.json`. */
  async packageAbove(directory: string): Promise<{ directory: string; manifest: PackageManifest } | undefined> {
    for (let at = directory; ; at = directoryOf(at)) {
      const manifest = await this.manifest(at);
      if (manifest) return { directory: at, manifest };
      if (at === '/' || nameOf(at) === 'node_modules') return undefined;
    }
  }

  async #readManifest(directory: string): Promise<PackageManifest | undefined> {
    const path = join(directory, 'package.json');
    return (await this.isFile(path)) ? JSON.parse(await this.readText(path)) : undefined;
  }

  #list(directory: string): Promise<ReadonlyMap<string, Kind>> {
    let listing = this.#listings.get(directory);
    if (!listing) {
      listing = isInstalled(directory) ? this.#listInstalled(directory) : Promise.resolve(this.#listOwn(directory));
      this.#listings.set(directory, listing);
    }
    return listing;
  }

  async #listInstalled(directory: string): Promise<ReadonlyMap<string, Kind>> {
    try {
      const entries = await this.#project.fs.readdir(directory, { withFileTypes: true });
      return new Map(entries.map(({ name, kind }) => [name, kind]));
    } catch (error) {
      if (error instanceof GantryError && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return new Map();
      throw error;
    }
  }

  #listOwn(directory: string): ReadonlyMap<string, Kind> {
    const prefix = directory === '/' ? '' : `${directory.slice(1)}/`;
    const entries = new Map<string, Kind>(directory === '/' ? [['node_modules', 'directory']] : []);
    for (const path of this.#own.keys()) {
      if (!path.startsWith(prefix)) continue;
      const [name = '', ...below] = path.slice(prefix.length).split('/');
      entries.set(name, below.length > 0 ? 'directory' : 'file');
    }
    return entries;
  }
}

export function isInstalled(path: string): boolean {
  return path === INSTALLED || path.startsWith(`${INSTALLED}/`);
}

export function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** `relative` taken from `directory`, without `.` and `..`. */
export function join(directory: string, relative: string): string {
  const segments = relative.startsWith('/') ? [] : directory.split('/').filter(Boolean);
  for (const segment of relative.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '' && segment !== '.') segments.push(segment);
  }
  return `/${segments.join('/')}`;
}

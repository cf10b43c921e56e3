/**
 * Which file an import means, as bundlers for browsers decide it: `exports` and `imports` with conditions (by
 * `resolve.exports`), the `browser` field, then `module` and `main`, extensions and index files.
 */
import { exports as packageExports, imports as packageImports } from 'resolve.exports';
import { directoryOf, join, type PackageManifest, type TreeFiles } from './tree-files.js';

export type Resolved =
  | { kind: 'file'; path: string; sideEffects: boolean }
  /** Switched off for browsers by its package. */
  | { kind: 'empty' }
  | { kind: 'missing'; why: string };

const EXTENSIONS = ['', '.js', '.jsx', '.ts', '.tsx', '.mjs', '.cjs', '.json', '.vue', '.svelte', '.css'];
const CONDITIONS = ['svelte', 'production'];

export class Resolver {
  readonly #files: TreeFiles;

  constructor(files: TreeFiles) {
    this.#files = files;
  }

  /** `from` is the importing file's directory; `required` says that it is a `require` call. */
  async resolve(specifier: string, from: string, required: boolean): Promise<Resolved> {
    if (specifier.startsWith('.') || specifier.startsWith('/')) return this.#path(join(from, specifier), specifier);
    const owner = await this.#files.packageAbove(from);
    if (specifier.startsWith('#')) return this.#internal(specifier, owner, required);
    const replaced = owner && browserMap(owner.manifest)[specifier];
    if (replaced === false) return { kind: 'empty' };
    if (typeof replaced === 'string' && replaced !== specifier) {
      const base = replaced.startsWith('.') ? owner?.directory : from;
      return this.resolve(replaced, base ?? from, required);
    }
    return this.#bare(specifier, from, required);
  }

  async #internal(
    specifier: string,
    owner: { directory: string; manifest: PackageManifest } | undefined,
    required: boolean,
  ): Promise<Resolved> {
    const options = { browser: true, require: required, conditions: CONDITIONS };
    const [target] = (owner && attempt(() => packageImports(owner.manifest, specifier, options))) || [];
    if (!owner || !target) return { kind: 'missing', why: `No "imports" entry gives ${specifier}` };
    return target.startsWith('.')
      ? this.#path(join(owner.directory, target), specifier)
      : this.#bare(target, owner.directory, required);
  }

  async #bare(specifier: string, from: string, required: boolean): Promise<Resolved> {
    const { name, subpath } = splitSpecifier(specifier);
    for (let at = from; ; at = directoryOf(at)) {
      const directory = join(at, `node_modules/${name}`);
      if (await this.#files.isDirectory(directory)) return this.#inPackage(directory, name, subpath, required);
      if (at === '/') break;
    }
    return { kind: 'missing', why: `The package ${name} is not installed` };
  }

  async #inPackage(directory: string, name: string, subpath: string, required: boolean): Promise<Resolved> {
    const manifest = (await this.#files.manifest(directory)) ?? { name };
    if (manifest.exports !== undefined) {
      const options = { browser: true, require: required, conditions: CONDITIONS };
      const [target] = attempt(() => packageExports(manifest, `.${subpath}`, options)) || [];
      if (!target) return { kind: 'missing', why: `${name} does not export ".${subpath}"` };
      return this.#path(join(directory, target), target);
    }
    if (subpath) return this.#path(join(directory, `.${subpath}`), subpath);
    const { browser, svelte, module, main } = manifest;
    const entry = (typeof browser === 'string' && browser) || svelte || (required ? main : (module ?? main)) || 'index';
    const found = await this.#path(join(directory, entry), entry);
    // A `main` that points nowhere means index, as in Node.
    return found.kind === 'missing' ? this.#path(join(directory, 'index'), entry) : found;
  }

  async #path(path: string, asked: string): Promise<Resolved> {
    const file = await this.#file(path);
    if (!file) return { kind: 'missing', why: `There is no file ${asked}` };
    const real = await this.#files.realpath(file);
    const owner = await this.#files.packageAbove(directoryOf(real));
    if (!owner) return { kind: 'file', path: real, sideEffects: true };
    const inside = `.${real.slice(owner.directory === '/' ? 0 : owner.directory.length)}`;
    const map = browserMap(owner.manifest);
    const replaced = map[inside] ?? map[inside.replace(/\.js$/, '')];
    if (replaced === false) return { kind: 'empty' };
    const target = typeof replaced === 'string' ? await this.#file(join(owner.directory, replaced)) : undefined;
    return { kind: 'file', path: target ?? real, sideEffects: owner.manifest.sideEffects !== false };
  }

  async #file(path: string): Promise<string | undefined> {
    for (const extension of EXTENSIONS) {
      if (await this.#files.isFile(path + extension)) return path + extension;
    }
    if (!(await this.#files.isDirectory(path))) return undefined;
    const main = (await this.#files.manifest(path))?.main;
    const inside = main ? [join(path, main), join(path, 'index')] : [join(path, 'index')];
    for (const candidate of inside) {
      for (const extension of EXTENSIONS) {
        if (await this.#files.isFile(candidate + extension)) return candidate + extension;
      }
    }
    return undefined;
  }
}

/** `@a/b/c/d` → `@a/b` and `/c/d`. */
export function splitSpecifier(specifier: string): { name: string; subpath: string } {
  const segments = specifier.split('/');
  const name = segments.slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
  // A trailing slash (`punycode/`) means the package itself, not Node's module of that name.
  return { name, subpath: specifier.slice(name.length).replace(/^\/$/, '') };
}

function browserMap(manifest: PackageManifest): Record<string, string | false> {
  return typeof manifest.browser === 'object' && manifest.browser !== null ? manifest.browser : {};
}

/** `resolve.exports` throws where nothing matches. */
function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

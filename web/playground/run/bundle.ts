/**
 * Bundling in the tab: esbuild in its own worker, fed from the installed tree through a plugin. The result is one HTML
 * page for a sandboxed frame.
 */
import type { Loader, Message, OnLoadResult, OnResolveArgs, OnResolveResult, Plugin } from 'esbuild-wasm';
import wasmUrl from 'esbuild-wasm/esbuild.wasm?url';
import * as esbuild from 'esbuild-wasm/esm/browser.js';
import type { Project } from 'gantry';
import type { Failure } from '../failure.js';
import type { Starter } from '../starters.js';
import type { Theme } from '../theme.js';
import { builtinSource, isBuiltin } from './builtins.js';
import { type Compiled, compilerFor } from './compilers.js';
import { frameSource } from './frames.js';
import { pageFor } from './page.js';
import { Resolver } from './resolve.js';
import { directoryOf, isInstalled, nameOf, TreeFiles } from './tree-files.js';

export interface BundleSize {
  modules: number;
  bytes: number;
  /** Milliseconds. */
  elapsed: number;
}

export class BundleError extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

const ENTRY = '/[run]';
let started: Promise<void> | undefined;

/** Start esbuild; its twelve megabytes are fetched and compiled in its worker. */
export function prepare(): Promise<void> {
  started ??= esbuild.initialize({ wasmURL: wasmUrl }).catch((error: unknown) => {
    started = undefined;
    throw error;
  });
  return started;
}

export async function bundle(
  project: Project,
  own: ReadonlyMap<string, string>,
  starter: Starter,
  theme: Theme,
): Promise<{ page: string; size: BundleSize }> {
  await prepare();
  const began = performance.now();
  const files = new TreeFiles(project, own);
  try {
    const result = await esbuild.build({
      stdin: { contents: entryFor(starter), resolveDir: '/', sourcefile: ENTRY },
      bundle: true,
      write: false,
      metafile: true,
      outdir: '/out',
      format: 'esm',
      target: 'es2022',
      jsx: 'automatic',
      logLevel: 'silent',
      define: {
        'process.env.NODE_ENV': '"production"',
        global: 'globalThis',
        __VUE_OPTIONS_API__: 'true',
        __VUE_PROD_DEVTOOLS__: 'false',
        __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: 'false',
      },
      plugins: [fromTree(files, starter)],
    });
    const text = (extension: string) => result.outputFiles.find(({ path }) => path.endsWith(extension))?.text ?? '';
    const size = {
      modules: Object.keys(result.metafile.inputs).length,
      bytes: result.outputFiles.reduce((sum, { contents }) => sum + contents.length, 0),
      elapsed: performance.now() - began,
    };
    return { page: pageFor({ script: text('.js'), style: text('.css'), title: starter.title, theme }), size };
  } catch (error) {
    throw new BundleError(toFailure(error));
  }
}

/** The frame's own part comes first, so that it sees everything the project does. */
function entryFor(starter: Starter): string {
  return `import 'gantry-frame:begin';\nimport './${starter.entry}';`;
}

function beginFor(starter: Starter): OnLoadResult {
  const requests = JSON.stringify(starter.requests ?? []);
  return { contents: `import { begin } from 'gantry-frame:${starter.kind}';\nbegin(${requests});`, resolveDir: '/' };
}

function fromTree(files: TreeFiles, starter: Starter): Plugin {
  const resolver = new Resolver(files);
  const styles = new Map<string, string>();
  return {
    name: 'installed-tree',
    setup(build) {
      build.onResolve({ filter: /^gantry-frame:/ }, ({ path }) => ({
        path: path.slice('gantry-frame:'.length),
        namespace: 'frame',
      }));
      build.onResolve({ filter: /^\.{1,2}\// }, ({ path, namespace }) =>
        namespace === 'frame' || namespace === 'builtin' ? besideFrame(path, namespace) : undefined,
      );
      build.onResolve({ filter: /^gantry-style:/ }, ({ path }) => ({ path, namespace: 'style' }));
      build.onResolve({ filter: /^(data|https?):/ }, ({ path }) => ({ path, external: true }));
      build.onResolve({ filter: /.*/ }, (args) => find(resolver, args));
      build.onLoad({ filter: /.*/, namespace: 'frame' }, ({ path }) =>
        path === 'begin' ? beginFor(starter) : frameSource(path),
      );
      build.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => builtinSource(path));
      build.onLoad({ filter: /.*/, namespace: 'empty' }, () => ({ contents: 'module.exports = {};' }));
      build.onLoad({ filter: /.*/, namespace: 'style' }, ({ path }) => ({
        contents: styles.get(path) ?? '',
        loader: 'css',
        resolveDir: '/',
      }));
      build.onLoad({ filter: /.*/, namespace: 'tree' }, ({ path }) => load(files, path, styles));
    },
  };
}

/** The frame's parts and the built-in modules import each other as files of one folder. */
function besideFrame(path: string, namespace: 'frame' | 'builtin'): OnResolveResult {
  const [, folder, name = ''] = /^(?:\.|\.\.\/(\w+))\/([\w-]+)\.js$/.exec(path) ?? [];
  return { path: name, namespace: folder === undefined ? namespace : folder === 'node' ? 'builtin' : 'frame' };
}

async function find(resolver: Resolver, args: OnResolveArgs): Promise<OnResolveResult> {
  const required = args.kind === 'require-call' || args.kind === 'require-resolve';
  const from = args.namespace === 'tree' ? directoryOf(args.importer) : '/';
  const relative = args.kind === 'url-token' || args.kind === 'import-rule' ? `./${args.path}` : undefined;
  const specifier = args.path.replace(/^node:/, '');
  let found = await resolver.resolve(specifier, from, required);
  // In CSS a bare path is relative, though packages are commonly meant.
  if (found.kind === 'missing' && relative) found = await resolver.resolve(relative, from, required);
  switch (found.kind) {
    case 'file':
      return { path: found.path, namespace: 'tree', sideEffects: found.sideEffects };
    case 'empty':
      return { path: args.path, namespace: 'empty' };
    case 'missing':
      if (isBuiltin(specifier)) return { path: specifier, namespace: 'builtin' };
      return { errors: [{ text: `Could not resolve "${args.path}": ${found.why}` }] };
  }
}

async function load(files: TreeFiles, path: string, styles: Map<string, string>): Promise<OnLoadResult> {
  const compiler = compilerFor(path);
  if (!compiler) return { contents: await files.read(path), loader: loaderFor(path), resolveDir: directoryOf(path) };
  const compiled: Compiled = await compiler(files, path);
  if (compiled.errors.length > 0) {
    return { errors: compiled.errors.map((text) => ({ text, location: { file: path } })) };
  }
  let contents = compiled.code;
  if (compiled.style) {
    const style = `gantry-style:${path}`;
    styles.set(style, compiled.style);
    contents += `\nimport ${JSON.stringify(style)};`;
  }
  return { contents, loader: compiled.loader, resolveDir: directoryOf(path) };
}

function loaderFor(path: string): Loader {
  const name = nameOf(path);
  switch (name.slice(name.lastIndexOf('.') + 1)) {
    case 'js':
      // JSX in .js is common in projects and never published.
      return isInstalled(path) ? 'js' : 'jsx';
    case 'mjs':
    case 'cjs':
      return 'js';
    case 'jsx':
      return 'jsx';
    case 'ts':
    case 'mts':
    case 'cts':
      return 'ts';
    case 'tsx':
      return 'tsx';
    case 'css':
      return 'css';
    case 'json':
      return 'json';
    case 'txt':
    case 'md':
    case 'html':
      return 'text';
    case 'svg':
    case 'png':
    case 'jpg':
    case 'jpeg':
    case 'gif':
    case 'webp':
    case 'woff':
    case 'woff2':
    case 'ttf':
      return 'dataurl';
    case 'wasm':
      return 'binary';
    default:
      return 'js';
  }
}

function toFailure(error: unknown): Failure {
  const messages = (error as { errors?: Message[] }).errors;
  const base = { code: 'RUN_BUNDLE', package: undefined };
  if (!messages?.length)
    return { ...base, message: error instanceof Error ? error.message : String(error), hint: undefined };
  const shown = messages.slice(0, 5).map(({ text, location }) => {
    const where = location && `${location.file.replace(/^tree:/, '')}${location.line ? `:${location.line}` : ''}`;
    return where ? `${text} (${where})` : text;
  });
  const more = messages.length > shown.length ? `\nand ${messages.length - shown.length} more` : '';
  const unresolved = messages.some(({ text }) => text.startsWith('Could not resolve'));
  return {
    ...base,
    message: shown.join('\n') + more,
    hint: unresolved ? 'Add the package to package.json and install again.' : undefined,
  };
}

/**
 * Vue and Svelte files, compiled by the compiler that the project installed. It is somebody's code from a registry, so
 * it runs as the project itself does: in a sandboxed frame without an origin, asked by messages.
 */
import * as esbuild from 'esbuild-wasm/esm/browser.js';
import compilerFrame from './compiler-frame.ts?raw';
import { nameOf, type TreeFiles } from './tree-files.js';

export interface Compiled {
  code: string;
  loader: 'js' | 'ts';
  style: string;
  errors: string[];
}

export type CompileRequest = { id: number; language: 'vue' | 'svelte'; path: string; source: string };
export type CompileResponse = { id: number } & Compiled;

type Compiler = (files: TreeFiles, path: string) => Promise<Compiled>;

/** Self-contained builds that both projects publish for exactly this. */
const modules = {
  vue: '/node_modules/@vue/compiler-sfc/dist/compiler-sfc.esm-browser.js',
  svelte: '/node_modules/svelte/compiler/index.js',
} as const;

export function compilerFor(path: string): Compiler | undefined {
  if (path.endsWith('.vue')) return (files, file) => compile('vue', files, file);
  if (path.endsWith('.svelte') || /\.svelte\.[jt]s$/.test(nameOf(path))) {
    return (files, file) => compile('svelte', files, file);
  }
  return undefined;
}

async function compile(language: 'vue' | 'svelte', files: TreeFiles, path: string): Promise<Compiled> {
  if (!(await files.isFile(modules[language]))) {
    return { code: '', loader: 'js', style: '', errors: [`${modules[language]} is not installed`] };
  }
  const host = await hostFor(language, files);
  return host.compile({ language, path, source: await files.readText(path) });
}

/** One frame for each compiler and each tree. */
const hosts = new WeakMap<TreeFiles, Map<string, Promise<CompilerHost>>>();

function hostFor(language: 'vue' | 'svelte', files: TreeFiles): Promise<CompilerHost> {
  const ofTree = hosts.get(files) ?? new Map<string, Promise<CompilerHost>>();
  hosts.set(files, ofTree);
  let host = ofTree.get(language);
  if (!host) {
    host = files.readText(modules[language]).then(CompilerHost.start);
    ofTree.set(language, host);
  }
  return host;
}

class CompilerHost {
  static #present: CompilerHost | undefined;
  readonly #frame = document.createElement('iframe');
  readonly #pending = new Map<number, (compiled: Compiled) => void>();
  readonly #port: MessagePort;
  #nextId = 1;

  private constructor(page: string, compiler: string) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.onmessage = ({ data }: MessageEvent<CompileResponse>) => {
      this.#pending.get(data.id)?.(data);
      this.#pending.delete(data.id);
    };
    this.#frame.hidden = true;
    this.#frame.setAttribute('sandbox', 'allow-scripts');
    this.#frame.srcdoc = page;
    this.#frame.addEventListener('load', () => {
      this.#frame.contentWindow?.postMessage(compiler, '*', [port2]);
    });
    document.body.append(this.#frame);
  }

  /** The frame before it is not needed any more: its tree is not the one that runs. */
  static async start(compiler: string): Promise<CompilerHost> {
    const { code } = await esbuild.transform(compilerFrame, { loader: 'ts' });
    if (CompilerHost.#present) CompilerHost.#present.#frame.remove();
    CompilerHost.#present = new CompilerHost(`<!doctype html><script type="module">${code}</script>`, compiler);
    return CompilerHost.#present;
  }

  compile(request: Omit<CompileRequest, 'id'>): Promise<Compiled> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      this.#pending.set(id, resolve);
      this.#port.postMessage({ id, ...request });
    });
  }
}

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

type Language = CompileRequest['language'];
type Compiler = (files: TreeFiles, path: string) => Promise<Compiled>;

/** Milliseconds for one file, the first of which waits for the compiler itself; a compiler that hangs is no answer. */
const PATIENCE = 60_000;

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

async function compile(language: Language, files: TreeFiles, path: string): Promise<Compiled> {
  if (!(await files.isFile(modules[language]))) {
    return { code: '', loader: 'js', style: '', errors: [`${modules[language]} is not installed`] };
  }
  const host = await hostFor(language, files);
  return host.compile({ language, path, source: await files.readText(path) });
}

/** The compiler of each language, of the tree that was asked for last. */
const hosts = new Map<Language, { files: TreeFiles; host: Promise<CompilerHost> }>();

function hostFor(language: Language, files: TreeFiles): Promise<CompilerHost> {
  const present = hosts.get(language);
  if (present?.files === files) return present.host;
  const discard = (why: string) => {
    if (hosts.get(language)?.host === host) hosts.delete(language);
    void host.then((started) => started.end(why)).catch(() => {});
  };
  void present?.host.then((before) => before.end('Another tree is bundled')).catch(() => {});
  const host: Promise<CompilerHost> = files
    .readText(modules[language])
    .then((compiler) => CompilerHost.start(compiler, discard));
  hosts.set(language, { files, host });
  return host;
}

interface PendingCompile {
  resolve(compiled: Compiled): void;
  reject(error: Error): void;
}

class CompilerHost {
  readonly #frame = document.createElement('iframe');
  readonly #pending = new Map<number, PendingCompile>();
  readonly #port: MessagePort;
  readonly #giveUp: (why: string) => void;
  #nextId = 1;
  /** Why it takes nothing more. */
  #ended: string | undefined;

  private constructor(page: string, compiler: string, giveUp: (why: string) => void) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#giveUp = giveUp;
    port1.onmessage = ({ data }: MessageEvent<CompileResponse>) => {
      this.#pending.get(data.id)?.resolve(data);
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

  /** `giveUp` is called when it does not answer. */
  static async start(compiler: string, giveUp: (why: string) => void): Promise<CompilerHost> {
    const { code } = await esbuild.transform(compilerFrame, { loader: 'ts' });
    return new CompilerHost(`<!doctype html><script type="module">${code}</script>`, compiler, giveUp);
  }

  compile(request: Omit<CompileRequest, 'id'>): Promise<Compiled> {
    if (this.#ended !== undefined) return Promise.reject(new Error(this.#ended));
    const id = this.#nextId++;
    const why = `The ${request.language} compiler gave no answer for ${request.path} in ${PATIENCE / 1000} seconds`;
    const timer = setTimeout(() => this.#giveUp(why), PATIENCE);
    return new Promise<Compiled>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#port.postMessage({ id, ...request });
    }).finally(() => clearTimeout(timer));
  }

  /** Takes the frame away. What was asked of it and not answered fails with `why`. */
  end(why: string): void {
    this.#ended = why;
    this.#frame.remove();
    this.#port.close();
    for (const { reject } of this.#pending.values()) reject(new Error(why));
    this.#pending.clear();
  }
}

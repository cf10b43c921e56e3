/**
 * Inside the compilers' sandboxed frame. The first message brings the compiler's source and a port; requests come
 * through the port. This file is compiled in the tab and placed in the frame as text: it imports types only.
 */
import type { Compiled, CompileRequest } from './compilers.js';

interface VueCompiler {
  parse(source: string, options: object): { descriptor: VueDescriptor; errors: (Error | string)[] };
  compileScript(descriptor: VueDescriptor, options: object): { content: string; lang?: string; bindings?: object };
  compileTemplate(options: object): { code: string; errors: (Error | string)[] };
  compileStyle(options: object): { code: string; errors: Error[] };
  rewriteDefault(source: string, name: string, plugins?: string[]): string;
}
interface VueDescriptor {
  script: { lang?: string } | null;
  scriptSetup: { lang?: string } | null;
  template: { content: string } | null;
  styles: { content: string; scoped?: boolean }[];
}
interface SvelteCompiler {
  compile(source: string, options: object): { js: { code: string } };
  compileModule(source: string, options: object): { js: { code: string } };
}

addEventListener(
  'message',
  async ({ data, ports }) => {
    const [port] = ports;
    if (!port) return;
    const url = URL.createObjectURL(new Blob([data as string], { type: 'text/javascript' }));
    // Vue's is an ES module; Svelte's sets a global.
    const compiler = import(/* @vite-ignore */ url);
    port.onmessage = async ({ data: request }: MessageEvent<CompileRequest>) => {
      port.postMessage({ id: request.id, ...(await compile(request, compiler)) });
    };
  },
  { once: true },
);

async function compile(request: CompileRequest, compiler: Promise<unknown>): Promise<Compiled> {
  try {
    const loaded = await compiler;
    return request.language === 'vue'
      ? compileVue(loaded as VueCompiler, request)
      : compileSvelte((globalThis as unknown as { svelte: SvelteCompiler }).svelte, request);
  } catch (error) {
    return { code: '', loader: 'js', style: '', errors: [messageOf(error)] };
  }
}

function compileVue(vue: VueCompiler, { path, source }: CompileRequest): Compiled {
  const { descriptor, errors } = vue.parse(source, { filename: path });
  const failures = errors.map(messageOf);
  if (failures.length > 0) return { code: '', loader: 'js', style: '', errors: failures };
  const id = `v${hash(path)}`;
  const scoped = descriptor.styles.some((style) => style.scoped);
  const typescript = (descriptor.scriptSetup ?? descriptor.script)?.lang === 'ts';
  let code = 'const component = {};';
  let bindings: object | undefined;
  if (descriptor.script || descriptor.scriptSetup) {
    const script = vue.compileScript(descriptor, { id, inlineTemplate: descriptor.scriptSetup !== null });
    bindings = script.bindings;
    code = vue.rewriteDefault(script.content, 'component', typescript ? ['typescript'] : []);
  }
  if (descriptor.template && !descriptor.scriptSetup) {
    const template = vue.compileTemplate({
      source: descriptor.template.content,
      filename: path,
      id,
      scoped,
      compilerOptions: { bindingMetadata: bindings },
    });
    failures.push(...template.errors.map(messageOf));
    code += `\n${template.code}\ncomponent.render = render;`;
  }
  if (scoped) code += `\ncomponent.__scopeId = 'data-${id}';`;
  const styles = descriptor.styles.map((style) => {
    const compiled = vue.compileStyle({
      source: style.content,
      filename: path,
      id: `data-${id}`,
      scoped: style.scoped,
    });
    failures.push(...compiled.errors.map(messageOf));
    return compiled.code;
  });
  code += '\nexport default component;';
  return { code, loader: typescript ? 'ts' : 'js', style: styles.join('\n'), errors: failures };
}

function compileSvelte(svelte: SvelteCompiler, { path, source }: CompileRequest): Compiled {
  const options = { filename: path.slice(1), generate: 'client', dev: false };
  const { js } = path.endsWith('.svelte')
    ? svelte.compile(source, { ...options, css: 'injected' })
    : svelte.compileModule(source, options);
  return { code: js.code, loader: path.endsWith('.ts') ? 'ts' : 'js', style: '', errors: [] };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function hash(text: string): string {
  let value = 5381;
  for (let index = 0; index < text.length; index++) value = ((value * 33) ^ text.charCodeAt(index)) >>> 0;
  return value.toString(36);
}

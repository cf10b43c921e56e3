/**
 * Node's built-in modules, for packages that import them. What makes sense in a page is there in small; the rest can be
 * imported and says, when it is called, that a page has no such thing.
 */
import type { OnLoadResult } from 'esbuild-wasm';

const sources = import.meta.glob<string>(['./node/*.ts', './node/*.js'], {
  query: '?raw',
  import: 'default',
  eager: true,
});

/** Well-kept packages that are what Node has; loaded when a project needs them. What they import is named here too. */
const packages: Record<string, () => Promise<{ default: string }>> = {
  'base64-js': () => import('base64-js/index.js?raw'),
  buffer: () => import('buffer/index.js?raw'),
  events: () => import('events/events.js?raw'),
  ieee754: () => import('ieee754/index.js?raw'),
  path: () => import('path-browserify/index.js?raw'),
  'safe-buffer': () => import('safe-buffer/index.js?raw'),
  string_decoder: () => import('string_decoder/lib/string_decoder.js?raw'),
};

const names = new Set(
  `assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain events fs
  fs/promises http http2 https inspector module net os path path/posix path/win32 perf_hooks process punycode querystring
  readline repl stream stream/promises stream/web string_decoder sys timers timers/promises tls tty url util util/types v8
  vm wasi worker_threads zlib`.split(/\s+/),
);

export function isBuiltin(name: string): boolean {
  return names.has(name) || Object.hasOwn(packages, name);
}

export async function builtinSource(asked: string): Promise<OnLoadResult> {
  const name = asked.replace('/posix', '');
  const load = packages[name];
  if (load) return { contents: (await load()).default, loader: 'js', resolveDir: '/' };
  const file = `./node/${name.replaceAll('/', '-')}`;
  const typed = sources[`${file}.ts`];
  if (typed !== undefined) return { contents: typed, loader: 'ts', resolveDir: '/' };
  const script = sources[`${file}.js`];
  return { contents: script ?? absent(name), loader: 'js', resolveDir: '/' };
}

/** CommonJS, so that any name can be imported from it. */
function absent(name: string): string {
  return `
const fail = (member) => { throw new Error(\`A page has no node:${name} (\${member} was used)\`); };
module.exports = new Proxy(function () {}, {
  get(target, member) {
    if (member === 'default') return module.exports;
    if (typeof member === 'symbol' || member === '__esModule' || member === 'prototype') return target[member];
    return Object.assign(function () { fail(member); }, { prototype: {} });
  },
});`;
}

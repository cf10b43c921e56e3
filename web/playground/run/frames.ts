/** The parts that run inside the frame beside the project, bundled with it. */
import type { OnLoadResult } from 'esbuild-wasm';

const sources = import.meta.glob<string>('./frame/*.ts', { query: '?raw', import: 'default', eager: true });

export function frameSource(name: string): OnLoadResult {
  const contents = sources[`./frame/${name}.ts`];
  return contents === undefined
    ? { errors: [{ text: `There is no frame part ${name}` }] }
    : { contents, loader: 'ts', resolveDir: '/' };
}

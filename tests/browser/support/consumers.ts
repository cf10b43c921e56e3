/** Bundling for a page the libraries that exported trees are given to, as their users do. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import webpack from 'webpack';
import { consumersFolder, inRoot } from './paths.js';

/** Makes `/consumers/<name>.js` of a module's source, which may import this project's dependencies. */
export function bundle(name: string, source: string): Promise<void> {
  return make(name, source, {
    experiments: { outputModule: true },
    output: { path: consumersFolder, filename: `${name}.js`, library: { type: 'module' } },
  });
}

/** The same as a classic script for workers, which browsers without modules in service workers need. */
export function bundleForWorkers(name: string, source: string): Promise<void> {
  return make(name, source, {
    target: 'webworker',
    output: { path: consumersFolder, filename: `${name}.js`, publicPath: '/consumers/' },
  });
}

async function make(name: string, source: string, kind: webpack.Configuration): Promise<void> {
  mkdirSync(consumersFolder, { recursive: true });
  const entry = join(consumersFolder, `${name}.entry.js`);
  writeFileSync(entry, source);
  // What those libraries could do with streams is not used here.
  const streams = join(consumersFolder, 'stream.cjs');
  const classes = ['Readable', 'Writable', 'Duplex', 'Transform'].map((type) => `${type}: class {}`);
  writeFileSync(streams, `module.exports = { ${classes.join(', ')} };\n`);
  const from = (module: string) => inRoot('node_modules', module);
  const compiler = webpack({
    mode: 'production',
    entry,
    ...kind,
    resolve: {
      fallback: {
        buffer: from('buffer/index.js'),
        events: from('events/events.js'),
        path: from('path-browserify/index.js'),
        stream: streams,
        url: false,
        util: false,
        process: false,
      },
    },
    plugins: [
      new webpack.NormalModuleReplacementPlugin(/^node:/, (resource: { request: string }) => {
        resource.request = resource.request.slice('node:'.length);
      }),
      new webpack.ProvidePlugin({ Buffer: [from('buffer/index.js'), 'Buffer'] }),
    ],
    performance: false,
  });
  const stats = await new Promise<webpack.Stats | undefined>((settle, fail) =>
    compiler.run((error, result) => compiler.close(() => (error ? fail(error) : settle(result)))),
  );
  const errors = stats?.toJson({ all: false, errors: true }).errors ?? [];
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'));
}

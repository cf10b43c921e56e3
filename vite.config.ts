/**
 * The playground: `vite` serves it, `vite build` writes it to dist/.
 *
 * It consumes the package `gantry` as any page would, from its `tsc` output in web/dist; while serving, the compiler
 * watches. No registry host is written here: both the development proxy and the built page's default ask npm.
 */
import { execFileSync, spawn } from 'node:child_process';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin, type ProxyOptions } from 'vite';

const root = fileURLToPath(new URL('.', import.meta.url));
const REGISTRY_PATH = '/-/registry/';

/** The registry that npm is configured with here, or the one that `GANTRY_REGISTRY` names. */
function configuredRegistry(): string {
  if (process.env.GANTRY_REGISTRY) return process.env.GANTRY_REGISTRY;
  // The npm that runs this script: the one in node_modules/.bin, which is first on the path, may be configured elsewhere.
  const own = process.env.npm_execpath;
  const [command, first] = own?.endsWith('.js') ? [process.execPath, [own]] : ['npm', []];
  const words = [...first, 'config', 'get', 'registry'];
  return execFileSync(command, words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

/** The registry that npm uses where nothing is configured. */
function publishedDefaultRegistry(): string {
  const { definitions } = createRequire(import.meta.url)('@npmcli/config/lib/definitions');
  return definitions.registry.default;
}

/** Forwards `/-/registry/x` to `x` at the registry, so that the page needs no CORS and no host. */
function registryProxy(): Record<string, ProxyOptions> {
  const registry = new URL(configuredRegistry());
  const base = registry.pathname.replace(/\/$/, '');
  const Agent = registry.protocol === 'https:' ? HttpsAgent : HttpAgent;
  return {
    [REGISTRY_PATH]: {
      target: registry.origin,
      changeOrigin: true,
      // Without one, every request is a connection and a TLS handshake of its own, all on this process's one thread.
      agent: new Agent({ keepAlive: true, maxSockets: 32 }),
      rewrite: (path) => `${base}/${path.slice(REGISTRY_PATH.length)}`,
    },
  };
}

/** Keeps web/dist current while the playground is served. */
function compilePackage(): Plugin {
  return {
    name: 'gantry:compile-package',
    apply: (_, { command, isPreview }) => command === 'serve' && !isPreview && !process.env.CI,
    configureServer(server) {
      // A process group of its own: the compiler ends with all that it has started or not at all.
      const compiler = spawn(
        `${root}node_modules/.bin/tsc`,
        ['-b', 'web', 'worker', '--watch', '--preserveWatchOutput'],
        {
          cwd: root,
          stdio: ['ignore', 'inherit', 'inherit'],
          detached: true,
        },
      );
      const stop = () => {
        if (compiler.pid === undefined || compiler.exitCode !== null) return;
        try {
          process.kill(-compiler.pid);
        } catch {
          // It has ended by itself.
        }
      };
      server.httpServer?.once('close', stop);
      process.once('exit', stop);
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
        process.once(signal, () => {
          stop();
          // Now without this handler: the server ends as it would have.
          process.kill(process.pid, signal);
        });
      }
    },
  };
}

export default defineConfig(({ command, isPreview }) => {
  const serving = command === 'serve';
  return {
    root,
    // Relative, so that the site works from any folder of a host.
    base: './',
    define: {
      __DEFAULT_REGISTRY__: JSON.stringify(serving ? REGISTRY_PATH : publishedDefaultRegistry()),
    },
    plugins: [compilePackage()],
    worker: { format: 'es' },
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    // The package starts workers and loads wasm relative to its own files: it must not be bundled beforehand.
    optimizeDeps: { exclude: ['gantry', 'esbuild-wasm'] },
    server: { proxy: serving || isPreview ? registryProxy() : {} },
    preview: { proxy: serving || isPreview ? registryProxy() : {} },
    build: { outDir: 'dist', target: 'es2022', chunkSizeWarningLimit: 800 },
  };
});

// npm 10 over memfs. `setImmediate` has to be there before memfs is: without it every file operation waits for a timer
// (npm-in-browser's documentation).
import './npm-in-browser-globals.js';
import memfs from 'memfs';
import { runNpmCli } from 'npm-in-browser';

const { fs } = memfs;
let folder = '';
const at = (path) => `${folder}/${path}`;
let registry = '';

const methods = {
  open: (address, project = 'project') => {
    registry = address;
    folder = `/home/web/${project}`;
    fs.mkdirSync(folder, { recursive: true });
  },
  install: async ({ manifest, lock }) => {
    fs.writeFileSync(at('package.json'), manifest);
    if (lock) fs.writeFileSync(at('package-lock.json'), lock);
    let told = '';
    const words = [lock ? 'ci' : 'install', '--registry', registry, '--os', 'linux', '--cpu', 'wasm32'];
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier', '--no-progress'];
    const stderr = (chunk) => {
      told += chunk;
    };
    try {
      await runNpmCli([...words, ...quiet, '--loglevel=error'], { fs, cwd: folder, stderr });
    } catch (error) {
      throw new Error(`${error.message}; ${told.trim().slice(0, 600)}`);
    }
  },
  readdir: (path) =>
    fs.readdirSync(at(path), { withFileTypes: true }).map((entry) => ({
      name: String(entry.name),
      directory: entry.isDirectory(),
    })),
  readFile: (path) => new Uint8Array(fs.readFileSync(at(path))),
};

self.addEventListener('message', async ({ data: { call, method, words } }) => {
  try {
    self.postMessage({ call, result: await methods[method](...words) });
  } catch (error) {
    self.postMessage({ call, failure: error instanceof Error ? error.message : String(error) });
  }
});

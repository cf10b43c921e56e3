// For QuickJS: walks /project/node_modules, loads react out of it and renders. As little of CommonJS as react needs; the engine
// has none.
import * as os from 'qjs:os';
import * as std from 'qjs:std';

globalThis.process = { env: { NODE_ENV: 'production' } };
const modules = '/project/node_modules/';
const cache = {};

function load(path) {
  if (cache[path]) return cache[path].exports;
  const module = { exports: {} };
  cache[path] = module;
  const folder = path.slice(0, path.lastIndexOf('/'));
  const require = (name) =>
    load(name.startsWith('./') ? folder + name.slice(1) : modules + name + (name.includes('/') ? '' : '/index.js'));
  const wrapped = std.evalScript(`(function (module, exports, require) {${std.loadFile(path)}\n})`);
  wrapped(module, module.exports, require);
  return module.exports;
}

/** Files below a folder, and their bytes. */
function walk(folder) {
  const sum = { files: 0, bytes: 0 };
  for (const name of os.readdir(folder)[0].filter((name) => name !== '.' && name !== '..')) {
    const [{ mode, size }] = os.stat(`${folder}/${name}`);
    const isFolder = (mode & os.S_IFMT) === os.S_IFDIR;
    const { files, bytes } = isFolder ? walk(`${folder}/${name}`) : { files: 1, bytes: size };
    sum.files += files;
    sum.bytes += bytes;
  }
  return sum;
}

console.log(JSON.stringify(walk('/project/node_modules')));
const { createElement } = load(`${modules}react/index.js`);
const server = load(`${modules}react-dom/cjs/react-dom-server-legacy.browser.production.js`);
console.log(server.renderToStaticMarkup(createElement('p', { id: 'a' }, 'from ', createElement('b', null, 'QuickJS'))));

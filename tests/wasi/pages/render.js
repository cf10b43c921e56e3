// For QuickJS: loads react out of /project/node_modules and renders. As little of CommonJS as react needs; the engine has none.
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

const { createElement } = load(`${modules}react/index.js`);
const server = load(`${modules}react-dom/cjs/react-dom-server-legacy.browser.production.js`);
console.log(server.renderToStaticMarkup(createElement('p', { id: 'a' }, 'from ', createElement('b', null, 'QuickJS'))));

// The host of the pages: one folder of addresses for each installer, with the headers that it needs. Everything else
// about the pages is the same. Counts what each page downloaded, which is what the installer weighs.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { gzipSync } from 'node:zlib';

const types = {
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};

const PAGE = '<!doctype html><meta charset="utf-8"><title>bench</title><link rel="icon" href="data:,">';
const SCRIPTS = '<script type="module" src="page.js"></script>';

/**
 * @typedef {{ name: string, headers?: Record<string, string>, folders: Record<string, string> }} Hosted
 * `folders`: file or folder for each prefix of addresses below the installer's own.
 */

export class Site {
  /** Without a final slash. @type {string} */ url = '';
  #server;
  /** @type {Map<string, Hosted>} */ #hosted;
  /** Files that each page has loaded. @type {Map<string, Set<string>>} */ #loaded = new Map();

  /** @param {Hosted[]} hosted */
  constructor(hosted) {
    this.#hosted = new Map(hosted.map((tool) => [slug(tool.name), tool]));
    this.#server = createServer((request, response) => this.#serve(request, response));
  }

  async start() {
    await new Promise((listening) => this.#server.listen(0, '127.0.0.1', () => listening(undefined)));
    this.url = `http://127.0.0.1:${/** @type {any} */ (this.#server.address()).port}`;
    return this;
  }

  /** The page of an installer, and an empty one with the same headers. @param {string} tool */
  addresses(tool) {
    return { page: `${this.url}/${slug(tool)}/`, empty: `${this.url}/${slug(tool)}/empty` };
  }

  /** What an installer's page has downloaded so far, the bench's own scripts left out. @param {string} tool */
  weight(tool) {
    const bodies = [...(this.#loaded.get(slug(tool)) ?? [])].map((file) => readFileSync(file));
    const sum = (sizes) => sizes.reduce((total, size) => total + size, 0);
    const gzip = sum(bodies.map((body) => gzipSync(body, { level: 9 }).length));
    return { files: bodies.length, bytes: sum(bodies.map((body) => body.length)), gzip };
  }

  async stop() {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }

  /** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
  #serve(request, response) {
    const [, name, path = ''] =
      /^\/([^/]+)\/(.*)$/.exec(new URL(request.url ?? '/', 'http://site.test').pathname) ?? [];
    const tool = this.#hosted.get(name ?? '');
    if (!tool) return response.writeHead(404).end();
    if (path === '' || path === 'empty') {
      const headers = { ...tool.headers, 'content-type': 'text/html', 'cache-control': 'no-cache' };
      return response.writeHead(200, headers).end(PAGE + (path ? '' : SCRIPTS));
    }
    const file = fileFor(tool, path);
    if (!file) return response.writeHead(404, tool.headers).end();
    if (path !== 'page.js') this.#loaded.set(name, (this.#loaded.get(name) ?? new Set()).add(file));
    const type = types[extname(file)] ?? 'application/octet-stream';
    // A reloaded page has its scripts from the browser's cache, as on any site.
    const headers = { ...tool.headers, 'content-type': type, 'cache-control': 'max-age=3600' };
    response.writeHead(200, headers).end(readFileSync(file));
  }
}

/** @param {string} name */
const slug = (name) => name.replace(/[^a-z0-9]+/gi, '-').replace(/^-|-$/g, '');

/** @param {Hosted} tool @param {string} path */
function fileFor(tool, path) {
  const prefix = Object.keys(tool.folders).find((start) => path.startsWith(start));
  if (prefix === undefined) return undefined;
  const within = normalize(decodeURIComponent(path.slice(prefix.length)));
  if (within.startsWith('..')) return undefined;
  const file = join(tool.folders[prefix], within);
  return existsSync(file) && statSync(file).isFile() ? file : undefined;
}

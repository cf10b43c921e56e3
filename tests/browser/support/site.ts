/**
 * The host of the pages under test: the built playground at `/`, the packed package at `/package/`, one bundled with it
 * at `/bundled/`, libraries that take exported trees at `/consumers/`, the specs' own pages at `/pages/`, and a registry on the same origin at `/-/registry/`, as a site would put one behind a path.
 */
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer, request as forward, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { bundledFolder, conformanceFolder, consumersFolder, inRoot, packageFolder, siteFolder } from './paths.js';

const types: Record<string, string> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
  '.woff2': 'font/woff2',
};

const folders: Record<string, string> = {
  '/bundled/': bundledFolder,
  '/conformance/': conformanceFolder,
  '/consumers/': consumersFolder,
  '/package/': packageFolder,
  '/pages/': inRoot('tests', 'browser', 'pages'),
};

const REGISTRY_PATH = '/-/registry/';

export class Site {
  /** Without a final slash. */
  readonly url: string;
  /** Pages, or other texts, that exist for one test only, by path; they go before files. */
  readonly pages = new Map<string, string>();
  /** What answers requests below a path, by that path with its final slash; they go before everything else. */
  readonly answering = new Map<string, (address: URL, response: ServerResponse, request: IncomingMessage) => void>();
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(registry: string): Promise<Site> {
    let site: Site | undefined;
    const server = createServer((request, response) => {
      const address = new URL(request.url ?? '/', 'http://site.test');
      const path = address.pathname;
      const answer = [...(site?.answering ?? [])].find(([start]) => path.startsWith(start))?.[1];
      if (answer) answer(address, response, request);
      else if (path.startsWith(REGISTRY_PATH)) passOn(registry + path.slice(REGISTRY_PATH.length), request, response);
      else serve(path, site?.pages.get(path), response);
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    site = new Site(server);
    return site;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }
}

function serve(path: string, page: string | undefined, response: ServerResponse): void {
  if (page !== undefined) {
    response.writeHead(200, { 'content-type': types[extname(path)] ?? types['.html'] }).end(page);
    return;
  }
  const prefix = Object.keys(folders).find((start) => path.startsWith(start));
  const folder = prefix === undefined ? siteFolder : (folders[prefix] as string);
  const within = normalize(decodeURIComponent(path.slice(prefix?.length ?? 1)) || 'index.html');
  const file = join(folder, within);
  if (within.startsWith('..') || !existsSync(file) || !statSync(file).isFile()) {
    response.writeHead(404).end();
    return;
  }
  // The package, and what bundlers make of it, may be loaded from pages of other origins, as from a CDN.
  const isShared = prefix === '/package/' || prefix === '/bundled/';
  const shared = isShared ? { 'access-control-allow-origin': '*' } : {};
  response.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream', ...shared });
  createReadStream(file).pipe(response);
}

function passOn(address: string, request: IncomingMessage, response: ServerResponse): void {
  const { host: _, ...headers } = request.headers;
  const onward = forward(address, { method: request.method ?? 'GET', headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  onward.on('error', () => response.writeHead(502).end());
  request.pipe(onward);
}

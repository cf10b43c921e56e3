// A registry on loopback for a universe that a test changes as it goes: whole and abbreviated documents, and tarballs.
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';

/** Modes that archives have: those of other systems, too. */
const MODES = [0o644, 0o755, 0o600, 0o444, 0o777, 0o664, 0o000, 0o711];

/** A tar archive of these files, gzipped; their modes differ, always in the same way. */
function archive(files) {
  const blocks = [];
  for (const [path, bytes] of Object.entries(files)) {
    const content = Buffer.from(bytes);
    const header = Buffer.alloc(512);
    const mode = MODES[content.reduce((sum, byte) => sum + byte, path.length) % MODES.length];
    header.write(path, 0);
    header.write(`${mode.toString(8).padStart(7, '0')}\0`, 100);
    header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
    header.write(`${'0'.repeat(11)}\0`, 136);
    header.write('        ', 148);
    header.write('0', 156);
    header.write('ustar\x0000', 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    blocks.push(header, content, Buffer.alloc((512 - (content.length % 512)) % 512));
  }
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]), { level: 1 });
}

/** The tarball of a package of these fields, as the universe has them. */
export function packed({ later, carries = {}, files: more = {}, shrinkwrap, deprecated, ...fields }, lock) {
  const files = { 'package/package.json': JSON.stringify({ license: 'MIT', ...fields }) };
  if (fields.bin) files['package/cli.js'] = `#!/usr/bin/env node\n// ${fields.name}@${fields.version}\n`;
  if (lock) files['package/npm-shrinkwrap.json'] = JSON.stringify(lock);
  for (const [path, bytes] of Object.entries(more)) files[`package/${path}`] = bytes;
  for (const [carried, more] of Object.entries(carries)) {
    files[`package/node_modules/${carried}/package.json`] = JSON.stringify({ name: carried, ...more });
  }
  return archive(files);
}

/** No document is kept: what the registry has may change before the next step. Of what is not kept npm knows no integrity. */
function sendAnew(_request, response, { body, isTarball }) {
  response.statusCode = body === undefined ? 404 : 200;
  response.setHeader('cache-control', isTarball ? 'public, immutable, max-age=31557600' : 'no-store');
  response.setHeader('content-type', isTarball ? 'application/octet-stream' : 'application/json');
  response.end(body ?? '{"error":"Not found"}');
}

/** What npm's own registry leaves out of abbreviated documents. */
const ONLY_IN_WHOLE = ['scripts', 'license'];

export class UniverseRegistry {
  #server;
  #send;
  #universe = {};
  #documents = new Map();
  #tarballs = new Map();
  #isPublished = false;

  /** `send` answers a request with what was found. */
  constructor(send = sendAnew) {
    this.#send = send;
  }

  async start() {
    this.#server = createServer((request, response) => this.#answer(request, response));
    // Between two runs on a busy machine more may pass than the five seconds of Node's.
    this.#server.keepAliveTimeout = 120_000;
    await new Promise((settle) => this.#server.listen(0, '127.0.0.1', settle));
    this.url = `http://127.0.0.1:${this.#server.address().port}/`;
    return this;
  }

  stop() {
    this.#server.closeAllConnections();
    return new Promise((settle) => this.#server.close(settle));
  }

  /** Serves this universe from now on, without what is to be published later. */
  serve(universe) {
    this.#universe = universe;
    this.#isPublished = false;
    this.#documents.clear();
    this.#tarballs.clear();
  }

  /** Makes all documents and tarballs now, so that no request waits for one to be made. */
  prepare() {
    for (const name of Object.keys(this.#universe)) for (const isWhole of [false, true]) this.#document(name, isWhole);
  }

  /** Publishes what was held back. Tags stay where they are. */
  publish() {
    this.#isPublished = true;
    this.#documents.clear();
  }

  #tarball(name, version) {
    const id = `${name}@${version}`;
    if (!this.#tarballs.has(id)) {
      const fields = this.#universe[name].versions[version];
      this.#tarballs.set(id, packed({ name, version, ...fields }, this.#shrinkwrap(name, version)));
    }
    return this.#tarballs.get(id);
  }

  /** The lock that a tarball brings along: of what its `shrinkwrap` says, `{ path: version }`. */
  #shrinkwrap(name, version) {
    const { shrinkwrap, dependencies } = this.#universe[name].versions[version];
    if (!shrinkwrap) return undefined;
    const packages = { '': { name, version, dependencies } };
    for (const [path, wanted] of Object.entries(shrinkwrap)) {
      const inside = path.replace(/.*node_modules\//, '');
      const above = path.replace(/\/?node_modules\/(@[^/]+\/)?[^/]+$/, '');
      // What was published with a shrinkwrap of its own is another matter.
      const known = this.#universe[inside]?.versions[wanted];
      if (!known || known.shrinkwrap || !(above in packages)) continue;
      const { dist, ...fields } = this.#manifest(inside, wanted);
      packages[path] = { version: wanted, resolved: dist.tarball, integrity: dist.integrity };
      for (const kind of ['dependencies', 'peerDependencies', 'optionalDependencies', 'bin', 'os', 'cpu']) {
        if (fields[kind]) packages[path][kind] = fields[kind];
      }
    }
    return { name, version, lockfileVersion: 3, requires: true, packages };
  }

  #manifest(name, version) {
    const { later, carries, files, shrinkwrap, ...fields } = this.#universe[name].versions[version];
    const tarball = this.#tarball(name, version);
    const file = name.replace(/.*\//, '');
    const dist = {
      tarball: `${this.url}${name}/-/${file}-${version}.tgz`,
      integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
    };
    const manifest = { name, version, license: 'MIT', ...fields, dist };
    // As packages are published.
    if (fields.optionalDependencies) {
      manifest.dependencies = { ...fields.dependencies, ...fields.optionalDependencies };
    }
    if (shrinkwrap) manifest._hasShrinkwrap = true;
    if (fields.scripts?.postinstall) manifest.hasInstallScript = true;
    return manifest;
  }

  #document(name, isWhole) {
    const key = `${isWhole} ${name}`;
    if (this.#documents.has(key)) return this.#documents.get(key);
    const known = Object.hasOwn(this.#universe, name) ? this.#universe[name] : undefined;
    if (!known) return undefined;
    const visible = Object.keys(known.versions).filter((each) => this.#isPublished || !known.versions[each].later);
    if (visible.length === 0) return undefined;
    const versions = Object.fromEntries(visible.map((version) => [version, this.#manifest(name, version)]));
    const document = { name, 'dist-tags': { ...known.tags }, versions };
    if (!isWhole) {
      for (const manifest of Object.values(versions)) for (const key of ONLY_IN_WHOLE) delete manifest[key];
    } else {
      document.time = Object.fromEntries(visible.map((version) => [version, '2024-01-01T00:00:00.000Z']));
    }
    const text = JSON.stringify(document);
    this.#documents.set(key, text);
    return text;
  }

  #answer(request, response) {
    const [name, ...rest] = decodeURIComponent(request.url.slice(1)).split(/(?<!^@[^/]*)\//);
    this.#send(request, response, { body: this.#find(name, rest, request), isTarball: rest[0] === '-' });
  }

  #find(name, rest, request) {
    if (rest.length === 0) {
      const isWhole = !request.headers.accept?.includes('application/vnd.npm.install-v1+json');
      return this.#document(name, isWhole);
    }
    const text = this.#document(name, true);
    if (text === undefined) return undefined;
    const { versions } = JSON.parse(text);
    if (rest[0] === '-') {
      const file = name.replace(/.*\//, '');
      const version = rest[1]?.slice(file.length + 1, -'.tgz'.length);
      return Object.hasOwn(versions, version) ? this.#tarball(name, version) : undefined;
    }
    return Object.hasOwn(versions, rest[0]) ? JSON.stringify(versions[rest[0]]) : undefined;
  }
}

/**
 * Storage of an origin that the site keeps, for a browser whose own cannot be used: WebKitGTK 2.54 and before has OPFS, but
 * nothing behind its synchronous access handles. `pages/storage-stand-in.js` asks for it.
 *
 * Only what the tests need: no quota, and access handles that are left open end with the next page.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Site } from './site.js';

const PATH = '/-/storage/';

class Failure extends Error {
  constructor(
    readonly kind: string,
    message: string,
  ) {
    super(message);
  }
}

class StoredFile {
  bytes = Buffer.alloc(0);

  write(bytes: Buffer, at: number): void {
    this.truncate(Math.max(this.bytes.length, at + bytes.length));
    bytes.copy(this.bytes, at);
  }

  truncate(size: number): void {
    if (size === this.bytes.length) return;
    const { buffer: memory, byteOffset } = this.bytes;
    const room = memory.byteLength - byteOffset;
    // Room to grow, so that a file that is appended to is not copied for each write.
    const grown = size <= room ? Buffer.from(memory, byteOffset, size) : Buffer.alloc(size * 2).subarray(0, size);
    if (size <= room) grown.fill(0, Math.min(size, this.bytes.length));
    else this.bytes.copy(grown);
    this.bytes = grown;
  }
}

type Folder = Map<string, Folder | StoredFile>;

export class StorageStandIn {
  readonly #site: Site;
  readonly #root: Folder = new Map();
  /** Files that an access handle is open on, by path. */
  readonly #open = new Map<string, { handle: string; file: StoredFile }>();
  #handles = 0;

  constructor(site: Site) {
    this.#site = site;
    site.answering.set(PATH, (address, response, request) => void this.#answer(address, response, request));
  }

  /** What is open, by path. */
  get handles(): ReadonlyMap<string, string> {
    return new Map([...this.#open].map(([path, { handle }]) => [path, handle]));
  }

  /** What a page has left open ends with it: all of these that it has not closed itself. */
  closeHandles(handles = this.handles): void {
    for (const [path, handle] of handles) {
      if (this.#open.get(path)?.handle === handle) this.#open.delete(path);
    }
  }

  stop(): void {
    this.#site.answering.delete(PATH);
  }

  async #answer({ pathname, searchParams }: URL, response: ServerResponse, request: IncomingMessage): Promise<void> {
    const options = Object.fromEntries(searchParams);
    if (pathname === `${PATH}worker`) {
      const modules = ['/pages/storage-stand-in.js', options.script].map((url) => `import ${JSON.stringify(url)};\n`);
      response.writeHead(200, { 'content-type': 'text/javascript' }).end(modules.join(''));
      return;
    }
    try {
      const result = this.#operate(pathname.slice(PATH.length), options, await buffer(request));
      const body = Buffer.isBuffer(result) ? result : JSON.stringify(result ?? null);
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(body);
    } catch (error) {
      const { kind = 'UnknownError', message } = error as Failure;
      response.writeHead(400).end(`${kind}\n${message}`);
    }
  }

  #operate(operation: string, options: Record<string, string>, body: Buffer): unknown {
    const path = options.path ?? '';
    const at = Number(options.at);
    switch (operation) {
      case 'list':
        return [...this.#folder(path)].map(([name, entry]) => [name, entry instanceof Map ? 'directory' : 'file']);
      case 'directory':
        return void this.#entry(path, options.create === 'true' ? () => new Map() : undefined, true);
      case 'file':
        return void this.#entry(path, options.create === 'true' ? () => new StoredFile() : undefined, false);
      case 'remove':
        return this.#remove(path, options.recursive === 'true');
      case 'content':
        return Buffer.from(this.#file(path).bytes);
      case 'open':
        return this.#openFile(path);
      case 'read':
        return Buffer.from(this.#opened(path, options).bytes.subarray(at, at + Number(options.length)));
      case 'write':
        return this.#opened(path, options).write(body, at);
      case 'truncate':
        return this.#opened(path, options).truncate(Number(options.size));
      case 'size':
        return this.#opened(path, options).bytes.length;
      case 'flush':
        return void this.#opened(path, options);
      case 'close':
        if (this.#open.get(path)?.handle === options.handle) this.#open.delete(path);
        return;
    }
    throw new Failure('NotSupportedError', operation);
  }

  /** What is at a path, made if need be; it must be a folder, or must not be one. */
  #entry(path: string, make: (() => Folder | StoredFile) | undefined, isFolder: boolean): Folder | StoredFile {
    const end = path.lastIndexOf('/');
    if (end < 0) return this.#root;
    const folder = this.#folder(path.slice(0, end));
    const name = decodeURIComponent(path.slice(end + 1));
    const entry = folder.get(name) ?? make?.();
    if (!entry) throw new Failure('NotFoundError', path);
    if (entry instanceof Map !== isFolder) throw new Failure('TypeMismatchError', path);
    folder.set(name, entry);
    return entry;
  }

  #folder(path: string): Folder {
    return this.#entry(path, undefined, true) as Folder;
  }

  #file(path: string): StoredFile {
    return this.#entry(path, undefined, false) as StoredFile;
  }

  #remove(path: string, recursive: boolean): void {
    const end = path.lastIndexOf('/');
    const folder = this.#folder(path.slice(0, end));
    const name = decodeURIComponent(path.slice(end + 1));
    const entry = folder.get(name);
    if (!entry) throw new Failure('NotFoundError', path);
    if (entry instanceof Map && entry.size > 0 && !recursive) throw new Failure('InvalidModificationError', path);
    const isOpen = [...this.#open.keys()].some((open) => open === path || open.startsWith(`${path}/`));
    if (isOpen) throw new Failure('NoModificationAllowedError', path);
    folder.delete(name);
  }

  #openFile(path: string): number {
    const file = this.#file(path);
    if (this.#open.has(path)) throw new Failure('NoModificationAllowedError', path);
    const handle = ++this.#handles;
    this.#open.set(path, { handle: String(handle), file });
    return handle;
  }

  #opened(path: string, { handle }: Record<string, string>): StoredFile {
    const open = this.#open.get(path);
    if (!open || open.handle !== handle) throw new Failure('InvalidStateError', `${path} is closed`);
    return open.file;
  }
}

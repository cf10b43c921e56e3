// In WebKitGTK: storage of the page's origin that the site keeps, in place of the browser's (support/storage-stand-in.ts).
// For pages, which load it before anything else, and for the module workers that they start.

const SITE = new URL('/-/storage/', import.meta.url).href;

const failure = (text) => {
  const [name, message] = text.split('\n');
  return name === 'TypeError' ? new TypeError(message) : new DOMException(message, name);
};

const address = (operation, path, options = {}) => `${SITE}${operation}?${new URLSearchParams({ path, ...options })}`;

/** What is asked without waiting. */
async function ask(operation, path, options, read = (response) => response.json()) {
  const response = await fetch(address(operation, path, options), { method: 'POST' });
  if (!response.ok) throw failure(await response.text());
  return read(response);
}

/** What a worker waits for. */
function askAndWait(operation, path, options, body = null) {
  const request = new XMLHttpRequest();
  request.open('POST', address(operation, path, options), false);
  request.responseType = 'arraybuffer';
  request.send(body);
  const bytes = new Uint8Array(request.response);
  if (request.status !== 200) throw failure(new TextDecoder().decode(bytes));
  return bytes;
}

const number = (bytes) => Number(new TextDecoder().decode(bytes));
const view = (buffer) =>
  ArrayBuffer.isView(buffer)
    ? new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)
    : new Uint8Array(buffer);
const nameOf = (path) => decodeURIComponent(path.slice(path.lastIndexOf('/') + 1));
const below = (path, name) => `${path}/${encodeURIComponent(name)}`;

/** An object of the browser's own class, as scripts expect it, with members of our own. */
function like(type, members) {
  const properties = Object.getOwnPropertyDescriptors(members);
  return Object.create(type.prototype, properties);
}

function directory(path) {
  async function* entries() {
    for (const [name, kind] of await ask('list', path)) {
      yield [name, kind === 'directory' ? directory(below(path, name)) : file(below(path, name))];
    }
  }
  return like(FileSystemDirectoryHandle, {
    kind: 'directory',
    name: nameOf(path),
    path,
    async getDirectoryHandle(name, { create = false } = {}) {
      await ask('directory', below(path, name), { create });
      return directory(below(path, name));
    },
    async getFileHandle(name, { create = false } = {}) {
      await ask('file', below(path, name), { create });
      return file(below(path, name));
    },
    async removeEntry(name, { recursive = false } = {}) {
      await ask('remove', below(path, name), { recursive });
    },
    async isSameEntry(other) {
      return other.path === path;
    },
    entries,
    async *keys() {
      for await (const [name] of entries()) yield name;
    },
    async *values() {
      for await (const [, handle] of entries()) yield handle;
    },
    [Symbol.asyncIterator]: entries,
  });
}

function file(path) {
  return like(FileSystemFileHandle, {
    kind: 'file',
    name: nameOf(path),
    path,
    async isSameEntry(other) {
      return other.path === path;
    },
    async getFile() {
      const bytes = await ask('content', path, {}, (response) => response.arrayBuffer());
      return new File([bytes], nameOf(path));
    },
    async createSyncAccessHandle() {
      return accessHandle(path, String(await ask('open', path)));
    },
  });
}

function accessHandle(path, handle) {
  let cursor = 0;
  const wait = (operation, options, body) => askAndWait(operation, path, { ...options, handle }, body);
  return like(FileSystemSyncAccessHandle, {
    read(buffer, { at = cursor } = {}) {
      const target = view(buffer);
      const bytes = wait('read', { at, length: target.length });
      target.set(bytes);
      cursor = at + bytes.length;
      return bytes.length;
    },
    write(buffer, { at = cursor } = {}) {
      const bytes = view(buffer).slice();
      wait('write', { at }, bytes);
      cursor = at + bytes.length;
      return bytes.length;
    },
    truncate(size) {
      wait('truncate', { size });
      cursor = Math.min(cursor, size);
    },
    getSize: () => number(wait('size')),
    flush: () => void wait('flush'),
    close: () => void wait('close'),
  });
}

Object.defineProperty(StorageManager.prototype, 'getDirectory', { value: async () => directory('') });

// Module workers begin with this script, too: the site makes one that imports both. Others have no storage.
const NativeWorker = Worker;
self.Worker = class extends NativeWorker {
  constructor(script, options) {
    const own = new URL(script, location.href).href;
    super(options?.type === 'module' ? `${SITE}worker?${new URLSearchParams({ script: own })}` : own, options);
  }
};

// Stands before a worker's own script (support/storage-watch.ts): tells what the worker does to storage, and stops it for
// ever in the midst of the operation that it is told to stop in. A write is half done then.

const ask = (question) => {
  const request = new XMLHttpRequest();
  request.open('GET', `/-/storage/${question}`, false);
  request.send();
  return request.responseText;
};
const about = (operation) => new URLSearchParams({ worker: self.name, operation });

/** `{ tell }`, or `{ worker, operation, occurrence }`: a worker's name, and which of its operations it stops in. */
const plan = JSON.parse(ask('plan'));
const isMeant = plan.worker === self.name;
let occurrences = 0;

/** What an operation is called; `bytes` are those of a write. */
function called(name, kind, bytes) {
  if (name.endsWith('.writer')) return undefined;
  if (name.startsWith('pack-')) return `pack: ${kind}`;
  if (name.startsWith('metadata-')) return `documents: ${kind}`;
  if (name === 'journal') {
    // The kind of the first record, behind its frame of 20 bytes.
    if (kind !== 'write') return `journal: ${kind}`;
    return bytes.length < 21 ? 'journal: header' : `journal: ${bytes[20] < 3 ? 'packages' : 'project'}`;
  }
  return name.startsWith('journal-') ? `next journal: ${kind}` : `other: ${kind}`;
}

function reach(operation, half) {
  if (operation === undefined) return;
  if (plan.tell) ask(`operation?${about(operation)}`);
  if (!isMeant || operation !== plan.operation || ++occurrences < plan.occurrence) return;
  half();
  try {
    // It is never answered.
    ask(`stopped?${about(operation)}`);
  } catch {
    // The worker is being ended, which gives up the request a moment before.
  }
  Atomics.wait(new Int32Array(new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }).buffer), 0, 0);
}

const names = new WeakMap();
const { createSyncAccessHandle } = FileSystemFileHandle.prototype;
FileSystemFileHandle.prototype.createSyncAccessHandle = async function (...words) {
  const handle = await createSyncAccessHandle.apply(this, words);
  names.set(handle, this.name);
  reach(called(this.name, 'opening'), () => {});
  return handle;
};
for (const kind of ['write', 'flush', 'truncate']) {
  const original = FileSystemSyncAccessHandle.prototype[kind];
  FileSystemSyncAccessHandle.prototype[kind] = function (...words) {
    const [bytes, options] = words;
    reach(called(names.get(this) ?? '', kind, bytes), () => {
      if (kind === 'write') original.call(this, bytes.subarray(0, bytes.length >> 1), options);
    });
    return original.apply(this, words);
  };
}
const { removeEntry } = FileSystemDirectoryHandle.prototype;
FileSystemDirectoryHandle.prototype.removeEntry = function (name, ...words) {
  reach(called(name, 'removal'), () => {});
  return removeEntry.call(this, name, ...words);
};

// Runs `gantry.wasm` under @bjorn3/browser_wasi_shim, over folders in memory. It needs nothing of Node.js, and is given the
// shim: a worker of a page imports it from an address.
const decoder = new TextDecoder();

/** The host over a copy of the shim's module. */
export function hostOver({ ConsoleStdout, Directory, File, OpenFile, PreopenDirectory, WASI }) {
  /** What is written to a console, as text. */
  function collector() {
    let text = '';
    const console = new ConsoleStdout((bytes) => {
      text += decoder.decode(bytes);
    });
    return { console, text: () => text };
  }

  /**
   * Runs a compiled module; `folders` maps names to the shim's `Map` of contents. `change` may replace the host's functions;
   * it is also given a function that gives the command's memory. `more` are folders that are open already. Gives status and
   * output.
   */
  function runInMemory(module, words, folders, change = (functions) => functions, more = []) {
    const [output, errors] = [collector(), collector()];
    const opened = Object.entries(folders).map(([name, contents]) => new PreopenDirectory(name, contents));
    const descriptors = [new OpenFile(new File([])), output.console, errors.console, ...opened, ...more];
    const wasi = new WASI(['gantry.wasm', ...words], [], descriptors, { debug: false });
    const functions = change(wasi.wasiImport, () => wasi.inst.exports.memory);
    const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: functions });
    try {
      return { status: wasi.start(instance), stdout: output.text(), stderr: errors.text() };
    } catch (error) {
      return { status: 70, stdout: output.text(), stderr: `${errors.text()}${error.stack ?? error}` };
    }
  }

  /** A folder's contents out of files by path. */
  function memoryFolder(files) {
    const contents = new Map();
    for (const [path, bytes] of Object.entries(files)) {
      const parts = path.split('/');
      const name = parts.pop();
      let folder = contents;
      for (const part of parts) {
        if (!folder.has(part)) folder.set(part, new Directory(new Map()));
        folder = folder.get(part).contents;
      }
      folder.set(name, new File(bytes));
    }
    return contents;
  }

  /** Paths of all files and empty folders below, sorted. */
  function pathsIn(contents, prefix = '') {
    const paths = [];
    for (const [name, entry] of contents) {
      const isFull = entry instanceof Directory && entry.contents.size > 0;
      if (isFull) paths.push(...pathsIn(entry.contents, `${prefix}${name}/`));
      else paths.push(`${prefix}${name}`);
    }
    return paths.sort();
  }

  /** Bytes of a file, or undefined. */
  function fileIn(contents, path) {
    let entry = { contents };
    for (const part of path.split('/')) entry = entry?.contents?.get(part);
    return entry?.data;
  }

  /** A copy of a folder's contents that shares nothing with it. */
  function copyOf(contents) {
    const copied = (entry) =>
      entry instanceof Directory ? new Directory(copyOf(entry.contents)) : new File(entry.data.slice());
    return new Map([...contents].map(([name, entry]) => [name, copied(entry)]));
  }

  return { runInMemory, memoryFolder, pathsIn, fileIn, copyOf };
}

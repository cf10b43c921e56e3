// The parts of the store bench that need a worker: opening a journal by the product's own module, reading synchronously,
// writing OPFS files.

/** A pool for a coordinator that installs nothing. */
const noPool = { size: 1, open: async () => {}, unpack: async () => {}, flush: async () => {}, close: async () => {} };

const tasks = {
  async open({ options: { store, project, ...options } }) {
    const { Coordinator, compile, instantiate, openStoreFolder } = await import(
      new URL('package/dist/wasm.js', location.href).href
    );
    await instantiate(await compile());
    const seconds = [];
    // The first pays for code that has not run yet; the second is the figure.
    for (let time = 0; time < 2; time++) {
      const begun = performance.now();
      const coordinator = await Coordinator.open(options, noPool, await openStoreFolder(store));
      const opened = performance.now();
      if (project !== undefined) await coordinator.project(project);
      seconds.push({ open: (opened - begun) / 1000, project: (performance.now() - opened) / 1000 });
      await coordinator.close();
    }
    return { first: seconds[0], second: seconds[1] };
  },

  async files({ folder, inFlight, files }) {
    const root = await (await navigator.storage.getDirectory()).getDirectoryHandle(folder, { create: true });
    const begun = now();
    /** Each folder is made once. @type {Map<string, Promise<FileSystemDirectoryHandle>>} */
    const folders = new Map([['', Promise.resolve(root)]]);
    const folderOf = (path) => {
      if (!folders.has(path)) {
        const at = path.lastIndexOf('/');
        const parent = folderOf(path.slice(0, Math.max(0, at)));
        folders.set(
          path,
          parent.then((handle) => handle.getDirectoryHandle(path.slice(at + 1), { create: true })),
        );
      }
      return folders.get(path);
    };
    let next = 0;
    const loop = async () => {
      while (next < files.length) {
        const { path, bytes } = files[next++];
        const at = path.lastIndexOf('/');
        const parent = await folderOf(path.slice(0, at));
        const handle = await parent.getFileHandle(path.slice(at + 1), { create: true });
        const access = await handle.createSyncAccessHandle();
        access.write(bytes);
        access.close();
      }
    };
    await Promise.all(Array.from({ length: inFlight }, loop));
    return { begun, ended: now() };
  },

  /** Seconds for each read, each of a file that was not read before. The first fifth of the files is warming up. */
  async reader({ store, project: name, way, paths }) {
    const { openProject } = await import(new URL('package/dist/sync.js', location.href).href);
    const project = await openProject({ store, project: name });
    const { fs } = project;
    const warming = Math.floor(paths.length / 5);
    let begun;
    for (const [index, path] of paths.entries()) {
      if (index === warming) begun = performance.now();
      if (way.includes('promises')) await fs.promises.readFile(path);
      else if (way.includes('text')) fs.readFileSync(path, 'utf8');
      else fs.readFileSync(path);
    }
    const seconds = (performance.now() - begun) / 1000 / (paths.length - warming);
    project.close();
    return { seconds };
  },

  async pack({ folder, files }) {
    const root = await (await navigator.storage.getDirectory()).getDirectoryHandle(folder, { create: true });
    const begun = now();
    const handle = await root.getFileHandle('pack', { create: true });
    const access = await handle.createSyncAccessHandle();
    let at = 0;
    for (const { bytes } of files) at += access.write(bytes, { at });
    access.flush();
    access.close();
    return { begun, ended: now() };
  },
};

/** Milliseconds on a clock that all workers share. */
const now = () => performance.timeOrigin + performance.now();

/** The task; the message after it is the word to begin. */
let task;
addEventListener('message', async ({ data }) => {
  if (!task) {
    task = data;
    postMessage({ ready: true });
    return;
  }
  try {
    postMessage(await tasks[task.kind](task));
  } catch (error) {
    postMessage({ failure: String(error) });
  }
});

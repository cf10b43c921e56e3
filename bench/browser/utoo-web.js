// @utoo/web as its documentation shows it: a project in OPFS, dependencies resolved to a lock, the lock installed. The
// lock is kept beside the manifest, as an application would, and installed again after a reload.
import { Project } from '@utoo/web';
import threadWorkerUrl from '@utoo/web/esm/threadWorkerInline';
import workerUrl from '@utoo/web/esm/workerInline';

/** @param {import('./page.js').Settings} settings @returns {Promise<import('./page.js').Installer>} */
export async function open({ registry, project: name = 'project' }) {
  const folder = `/${name}`;
  const wasmUrl = new URL('utoo.wasm', location.href).href;
  const project = new Project({ cwd: folder, workerUrl, threadWorkerUrl, wasmUrl, logFilter: 'error' });
  await project.mount();
  const at = (path) => `${folder}/${path}`;
  const readText = (name) => project.readFile(at(name), 'utf8').catch(() => undefined);

  return {
    install: async ({ manifest, lock }) => {
      const kept = (await readText('package.json')) === manifest ? await readText('package-lock.json') : undefined;
      if (!kept) {
        await project.mkdir(folder, { recursive: true });
        await project.writeFile(at('package.json'), manifest);
      }
      const chosen = lock ?? kept ?? (await project.deps({ registry }));
      await project.install(chosen);
      if (chosen !== kept) await project.writeFile(at('package-lock.json'), chosen);
    },
    readdir: async (path) => {
      const entries = await project.readdir(at(path));
      return entries.map((entry) => ({ name: entry.name, directory: entry.isDirectory() }));
    },
    readFile: (path) => project.readFile(at(path)),
  };
}

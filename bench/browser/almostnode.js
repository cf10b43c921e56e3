// almostnode's package manager over its virtual file system, on the page's main thread as in its documentation. Its
// rewriting of modules to CommonJS is off: that is a compiler's work, and loads one from a content delivery network.
import { PackageManager, VirtualFS } from 'almostnode';

/** @param {import('./page.js').Settings} settings @returns {Promise<import('./page.js').Installer>} */
export async function open({ registry, project = 'project' }) {
  const folder = `/${project}`;
  const files = new VirtualFS();
  files.mkdirSync(folder, { recursive: true });
  // It puts a slash between this and the name.
  const manager = new PackageManager(files, { cwd: folder, registry: registry.replace(/\/$/, '') });
  const options = { includeDev: true, transform: false };
  const at = (path) => `${folder}/${path}`;
  return {
    install: async ({ manifest, lock, added }) => {
      files.writeFileSync(at('package.json'), manifest);
      // It has no option for a lock: one beside the manifest is all that can be done.
      if (lock) files.writeFileSync(at('package-lock.json'), lock);
      if (added) await manager.install(`${added.name}@${added.range}`, options);
      else await manager.installFromPackageJson(options);
    },
    readdir: async (path) =>
      files
        .readdirSync(at(path))
        .map((name) => ({ name, directory: files.statSync(at(`${path}/${name}`)).isDirectory() })),
    readFile: async (path) => files.readFileSync(at(path)),
  };
}

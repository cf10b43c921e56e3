// Gantry as its README shows it. It resolves for Linux on wasm32, its default in a page.
/** @param {import('./page.js').Settings} settings @returns {Promise<import('./page.js').Installer>} */
export async function open({ registry, workers, project: name }) {
  const { Gantry } = await import(new URL('package/dist/index.js', location.href).href);
  const gantry = await Gantry.open({ registry, workers });
  let project;
  return {
    install: async ({ manifest, lock, offline }) => {
      const named = name && { project: name };
      project = await gantry.install({
        packageJson: manifest,
        ...named,
        ...(lock && { lockfile: lock, frozen: true }),
        ...(offline && { offline }),
      });
    },
    readdir: async (path) => {
      const entries = await project.fs.readdir(path, { withFileTypes: true });
      return entries.map((entry) => ({ name: entry.name, directory: entry.isDirectory() }));
    },
    readFile: (path) => project.fs.readFile(path),
  };
}

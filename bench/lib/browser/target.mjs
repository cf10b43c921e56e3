// What is installed in pages: for which platform, and which package is added to which project.
/** The platform that installs in a page are for. */
export const TARGET = { os: 'linux', cpu: 'wasm32' };

/** The same in npm's words. */
export const targetFlags = Object.entries(TARGET).map(([name, value]) => `--${name}=${value}`);

/** The package that is added to each project: not in its tree, without dependencies. */
const ADDITIONS = {
  lodash: { name: 'react', range: '^19.1.0' },
  'vite-react': { name: 'lodash', range: '^4.18.0' },
  next15: { name: 'lodash', range: '^4.18.0' },
  // lodash is in the trees of these.
  'webpack-jest': { name: 'zod', range: '^4.0.0' },
  cra5: { name: 'zod', range: '^4.0.0' },
};

/** A project's manifest with one package more, and which. @param {string} project @param {string} text its manifest */
export function addition(project, text) {
  const { name, range } = ADDITIONS[project];
  const manifest = JSON.parse(text);
  manifest.dependencies = { ...manifest.dependencies, [name]: range };
  return { name, range, manifest: `${JSON.stringify(manifest, null, 2)}\n` };
}

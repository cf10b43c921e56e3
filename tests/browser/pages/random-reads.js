// How a tab of the random test reads projects (random-tab.js). Each read looks at what it gets: files are whole, and of the
// versions that the tree is said to have.
import { openProject } from '/package/dist/read.js';
import { checkTree, ownerOf, split } from './random-contents.js';

const projects = new Map();
const handles = [];
let gantry;

/** From now on reads are of this store; those of before are forgotten. */
export function readFrom(opened) {
  projects.clear();
  handles.length = 0;
  gantry = opened;
}

/** What an install gave is what its project is read through. */
export function keep(project) {
  projects.set(project.name, project);
}

/** Projects as `gantry/read` has them. They stay open, whatever becomes of the store. */
const stored = new Map();

export async function projectOf(name, isFresh, isStored) {
  if (isStored) {
    if (!stored.has(name)) stored.set(name, openProject({ project: name }));
    return stored.get(name);
  }
  if (!isFresh && projects.has(name)) return projects.get(name);
  const project = await gantry.project(name);
  if (project) keep(project);
  return project;
}

async function filesOf(fs) {
  if (!(await fs.exists('node_modules'))) return [];
  const entries = await fs.readdir('node_modules', { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => `${parentPath}/${name}`.replace(/^\//, ''));
}

export const reads = {
  async why({ project: name, isStored, query }) {
    const project = await projectOf(name, false, isStored);
    return (await project?.why(query))?.map(({ version }) => version);
  },
  async digest({ project: name, isFresh, isStored }) {
    return (await projectOf(name, isFresh, isStored))?.treeDigest();
  },
  /** All of a tree, at once. */
  async readMany({ project: name, isFresh, isStored }) {
    const project = await projectOf(name, isFresh, isStored);
    if (!project) return undefined;
    const paths = await filesOf(project.fs);
    if (paths.length === 0) return 0;
    const found = await project.fs.readMany(paths);
    const files = paths.map((path, index) => [path, found[index]]);
    const lock = files.find(([path]) => path === 'node_modules/.package-lock.json')?.[1];
    if (lock) checkTree(new TextDecoder().decode(lock), files);
    return files.length;
  },
  /** File by file, which may be of several trees. */
  async readFiles({ project: name, isFresh, isStored, at }) {
    const project = await projectOf(name, isFresh, isStored);
    if (!project) return undefined;
    const paths = (await filesOf(project.fs)).filter((path) => !path.endsWith('.package-lock.json'));
    const chosen = paths.slice(Math.floor(at * paths.length)).slice(0, 8);
    const codes = [];
    await Promise.all(
      chosen.map(async (path) => {
        try {
          ownerOf(await project.fs.readFile(path), split(path).within);
          await project.fs.stat(path);
          await project.fs.realpath(path);
          await project.fs.readRange(path, 3, 1000);
        } catch (error) {
          if (!error.code) throw error;
          codes.push(`${error.code}`);
        }
      }),
    );
    const unexpected = codes.find((code) => code !== 'ENOENT');
    if (unexpected) throw Object.assign(new Error(`reading file by file: ${codes}`), { code: unexpected });
    return { files: chosen.length, missing: codes.length };
  },
  async links({ project: name, isFresh, isStored }) {
    const project = await projectOf(name, isFresh, isStored);
    if (!project || !(await project.fs.exists('node_modules/.bin'))) return undefined;
    const names = await project.fs.readdir('node_modules/.bin');
    for (const link of names) {
      const path = `node_modules/.bin/${link}`;
      const target = await project.fs.readlink(path);
      const real = await project.fs.realpath(path);
      if (!real.endsWith(target.replace('..', ''))) throw new Error(`${path} is ${target} and ${real}`);
    }
    return names.length;
  },
  async openHandle({ project: name, at, isFresh, isStored }) {
    const project = await projectOf(name, isFresh, isStored);
    if (!project) return undefined;
    const paths = (await filesOf(project.fs)).filter((path) => !/package(-lock)?\.json$/.test(path));
    if (paths.length === 0) return undefined;
    const path = paths[Math.floor(at * paths.length)];
    const handle = await project.fs.open(path);
    handles.push({ handle, path, owner: undefined });
    return path;
  },
  async readHandles() {
    for (const each of handles) {
      const { size } = await each.handle.stat();
      const { bytesRead, buffer } = await each.handle.read(new Uint8Array(size + 5), 0, size + 5, 0);
      if (bytesRead !== size) throw new Error(`${each.path}: ${bytesRead} of ${size}`);
      const owner = ownerOf(buffer.subarray(0, size), split(each.path).within);
      each.owner ??= owner;
      if (each.owner !== owner) throw new Error(`a handle on ${each.path} was of ${each.owner} and is of ${owner}`);
    }
    return handles.length;
  },
  async closeHandles() {
    for (const { handle } of handles.splice(0)) await handle.close();
  },
};

// A worker that reads a project by itself, for random-tab.js.
import { checkTree } from './random-contents.js';

let project;
const actions = {
  async open(name) {
    const { openProject } = await import('/package/dist/sync.js');
    project?.close();
    project = undefined;
    project = await openProject({ project: name });
    return project.lockfile;
  },
  async refresh() {
    if (!project) return undefined;
    await project.refresh();
    return project.lockfile;
  },
  read() {
    if (!project) return undefined;
    const { fs } = project;
    if (!fs.existsSync('node_modules')) return 0;
    const entries = fs.readdirSync('node_modules', { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = `${entry.parentPath}/${entry.name}`;
        return [path.replace(/^\//, ''), fs.readFileSync(path)];
      });
    checkTree(fs.readFileSync('node_modules/.package-lock.json', 'utf8'), files);
    return files.length;
  },
  close() {
    project?.close();
    project = undefined;
  },
};

addEventListener('message', async ({ data: { id, action, argument } }) => {
  try {
    postMessage({ id, result: await actions[action](argument) });
  } catch (error) {
    postMessage({ id, error: { code: error?.code, message: `${error?.message}`, stack: `${error?.stack}` } });
  }
});

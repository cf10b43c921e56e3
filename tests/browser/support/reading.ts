/** What workers of the user's read, in every browser. */
import type { PackageModule } from './in-page.js';
import { inWorker } from './in-worker.js';

/** Everything `fs` answers, in a form that can be sent. */
export const readAll = inWorker(async ({ openProject }) => {
  const project = await openProject();
  const { fs } = project;
  const { readFileSync } = fs;
  const code = (ask: () => unknown) => {
    try {
      ask();
      return 'none';
    } catch (error) {
      return (error as { code?: string }).code;
    }
  };
  const file = '/node_modules/left/index.js';
  const descriptor = fs.openSync(file);
  const buffer = new Uint8Array(6);
  const answers = {
    method: project.method,
    packages: Object.keys(JSON.parse(project.lockfile).packages),
    text: readFileSync('node_modules/left/index.js', 'utf8'),
    bytes: readFileSync(file).length,
    parts: [
      fs.readSync(descriptor, buffer, 0, 6, 7),
      new TextDecoder().decode(buffer),
      fs.readSync(descriptor, buffer),
      fs.readSync(descriptor, buffer),
      new TextDecoder().decode(buffer),
      fs.fstatSync(descriptor).size,
    ],
    names: fs.readdirSync('/node_modules'),
    below: fs.readdirSync('/node_modules/left', { recursive: true }),
    types: fs
      .readdirSync('/node_modules/.bin', { withFileTypes: true })
      .map((entry) => [entry.name, entry.parentPath, entry.isSymbolicLink()]),
    real: fs.realpathSync('/node_modules/.bin/right'),
    target: fs.readlinkSync('/node_modules/.bin/right'),
    mode: fs.statSync('/node_modules/executable/run.sh').mode,
    link: fs.lstatSync('/node_modules/.bin/right').isSymbolicLink(),
    exists: [fs.existsSync(file), fs.existsSync('/x'), fs.existsSync(`${file}/x`)],
    absent: fs.statSync('/x', { throwIfNoEntry: false }),
    promised: await fs.promises.readFile(file, 'utf8'),
    many: (await fs.promises.readMany([file, '/x'])).map((bytes) => bytes?.length),
    codes: [
      code(() => readFileSync('/x')),
      code(() => readFileSync('/node_modules')),
      code(() => fs.readdirSync(file)),
      code(() => fs.readlinkSync(file)),
      code(() => fs.writeFileSync(file, '')),
      code(() => fs.openSync(file, 'r+')),
      code(() => fs.accessSync(file, fs.constants.X_OK)),
    ],
    closed: '' as unknown,
  };
  fs.closeSync(descriptor);
  const afterClose = code(() => fs.readSync(descriptor, buffer));
  project.close();
  answers.closed = [afterClose, code(() => readFileSync(file))];
  return answers;
});

const text = 'module.exports = "left 1.1.0"\n';
/** What {@link readAll} gives, but for the method. */
export const ANSWERS = {
  packages: ['', 'node_modules/executable', 'node_modules/left', 'node_modules/right'],
  text,
  bytes: text.length,
  parts: [6, 'export', 6, 6, '.expor', text.length],
  names: ['.bin', '.package-lock.json', 'executable', 'left', 'right'],
  types: [['right', '/node_modules/.bin', true]],
  real: '/node_modules/right/cli.js',
  target: '../right/cli.js',
  mode: 0o100755,
  link: true,
  exists: [true, false, false],
  promised: text,
  many: [text.length, undefined],
  codes: ['ENOENT', 'EISDIR', 'ENOTDIR', 'EINVAL', 'EROFS', 'EROFS', 'EACCES'],
  closed: ['EBADF', 'CLOSED'],
};

/** In the page: with one pack, which installs append to, a worker reads a project while it and another are installed; what it saw. */
export async function readBesideInstalls({ Gantry }: PackageModule, registry: string) {
  const gantry = await Gantry.open({ registry, workers: 1 });
  const install = (dependencies: Record<string, string>, project = 'default') =>
    gantry.install({ project, packageJson: { name: 'p', dependencies } });
  await install({ left: '1.0.0' });
  // Answers each message with what it reads, in the same turn.
  const script = `
    import { openProject } from '${location.origin}/package/dist/sync.js';
    const project = await openProject();
    const changes = [];
    project.onDidChange(({ added, removed, replaced }) => changes.push({ added, removed, replaced }));
    onmessage = async ({ data }) => {
      if (data === 'refresh') await project.refresh();
      const names = project.fs.readdirSync('/node_modules');
      const text = project.fs.readFileSync('/node_modules/left/index.js', 'utf8');
      postMessage({ names: names.join(), text, changes: changes.splice(0) });
    };
    postMessage('ready');`;
  const worker = new Worker(URL.createObjectURL(new Blob([script], { type: 'text/javascript' })), { type: 'module' });
  const answer = () =>
    new Promise<unknown>((resolve) => {
      worker.onmessage = ({ data }) => resolve(data);
    });
  await answer();
  const ask = (question: string) => {
    worker.postMessage(question);
    return answer();
  };
  const seen = [await ask('read')];
  // Reading goes on all the while.
  let installing = true;
  const installs = (async () => {
    await install({ left: '1.1.0', right: '1.0.0' });
    await install({ executable: '1.0.0', 'with-script': '1.0.0' }, 'other');
    installing = false;
  })();
  let reads = 0;
  const during = new Set<string>();
  while (installing) {
    during.add(((await ask('read')) as { text: string }).text);
    reads++;
  }
  await installs;
  seen.push(await ask('read'), await ask('refresh'));
  const code = (promise: Promise<unknown>) =>
    promise.then(
      () => 'done',
      (error) => error.code,
    );
  const cleared = [await code(gantry.clear())];
  seen.push(await ask('read'));
  worker.terminate();
  // The browser lets go of the worker's lock in its own time.
  for (let time = 0; time < 50 && cleared.at(-1) !== 'done'; time++) {
    await new Promise((resume) => setTimeout(resume, 50));
    cleared.push(await code(gantry.clear()));
  }
  const { packages } = await install({ left: '1.0.0' });
  await gantry.close();
  return { seen, during: [...during], reads, cleared: [cleared[0], cleared.at(-1)], packages };
}

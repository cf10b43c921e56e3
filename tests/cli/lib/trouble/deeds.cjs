// A script of a random package: does what the words on its line say. All of it comes to the same however often it is done, and
// in whatever order packages do it, since that is nobody's choice. Fails where COURSE_FAIL names its package.
const fs = require('node:fs');
const path = require('node:path');
const { spawn, spawnSync } = require('node:child_process');

const { npm_package_name: name, npm_lifecycle_event: event, COURSE_FAIL: failing, COURSE_COMMAND: command } = process.env;
const project = process.cwd().replace(/\/node_modules\/.*/, '');
const modules = path.join(project, 'node_modules');
const lock = path.join(project, 'package-lock.json');

const wait = (milliseconds) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
const shell = (line, ...words) => spawnSync('sh', ['-c', line, 'sh', ...words], { stdio: 'inherit' });
const gantry = (...words) => spawnSync(command, words, { cwd: project, stdio: 'inherit' });
const remove = (place) => fs.rmSync(place, { recursive: true, force: true });

/** Does something whose object another package may have taken away, or done already. */
function attempt(act) {
  try {
    act();
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR', 'EEXIST'].includes(error.code)) throw error;
  }
}

/** Folders of all packages. */
function packages(folder = modules) {
  const found = [];
  attempt(() => {
    for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
      if (!entry.isDirectory() || entry.name.startsWith('.')) continue;
      const place = path.join(folder, entry.name);
      if (entry.name.startsWith('@')) found.push(...packages(place));
      else found.push(place, ...packages(path.join(place, 'node_modules')));
    }
  });
  return found;
}

/** Does something to a file of all packages that have it. */
function toAll(file, act) {
  for (const place of packages()) {
    attempt(() => {
      fs.accessSync(path.join(place, file));
      act(path.join(place, file));
    });
  }
}

const rewrite = (file) => fs.writeFileSync(file, 'changed\n');

const DEEDS = {
  write: () => fs.writeFileSync(`built-${event}`, 'built\n'),
  append() {
    if (!fs.readFileSync('appended.txt', 'utf8').includes('more')) fs.appendFileSync('appended.txt', 'more\n');
  },
  chmod: () => fs.chmodSync('appended.txt', 0o750),
  rename: () => attempt(() => fs.renameSync('renamed.txt', 'new-name.txt')),
  replace() {
    fs.writeFileSync('next', 'replaced\n');
    fs.renameSync('next', 'replaced.txt');
  },
  remove: () => remove('removed.txt'),
  link: () => attempt(() => fs.symlinkSync('appended.txt', 'link')),
  'link hard': () => attempt(() => fs.linkSync('appended.txt', 'hard.txt')),
  deep() {
    fs.mkdirSync('out/of/it', { recursive: true });
    fs.writeFileSync('out/of/it/file', '');
  },
  lock() {
    fs.mkdirSync('locked', { recursive: true });
    fs.chmodSync('locked', 0o555);
  },
  manifest: () =>
    fs.writeFileSync('package.json', JSON.stringify({ ...JSON.parse(fs.readFileSync('package.json')), built: true })),
  print() {
    for (let line = 0; line < 20; line++) fs.writeSync(1, `${'x'.repeat(20_000)}\n`);
  },
  close: () => shell('exec 1>&- 2>&- 0<&-; sleep 0.03'),
  nap: () => wait(30),
  sleep: () => wait(150),
  fork: () => shell('(sleep 0.02; echo a > forked) & (sleep 0.05; echo b > forked-too) & wait'),
  background: () => spawn('sleep', ['0.3'], { detached: true, stdio: 'inherit' }).unref(),
  stop: () => shell('(sleep 0.05; kill -CONT $1) & kill -STOP $1', `${process.pid}`),

  'write into all': () => toAll('shared.txt', rewrite),
  'write into all, and put times back': () =>
    toAll('timely.txt', (file) => {
      const { atime, mtime } = fs.statSync(file);
      rewrite(file);
      fs.utimesSync(file, atime, mtime);
    }),
  'chmod all': () => toAll('mode.txt', (file) => fs.chmodSync(file, 0o777)),
  'replace all': () =>
    toAll('swapped.txt', (file) => {
      rewrite(`${file}-${process.pid}`);
      fs.renameSync(`${file}-${process.pid}`, file);
    }),
  'remove all': () => toAll('dropped.txt', remove),

  'remove commands': () => remove(path.join(modules, '.bin')),
  'remove modules': () => remove(modules),
  'remove itself': () => remove(process.cwd()),
  'remove another': () => packages().slice(0, 1).forEach(remove),
  'remove the workspace': () =>
    fs
      .readdirSync(project)
      .filter((entry) => entry.startsWith('.gantry-'))
      .forEach((entry) => {
        remove(path.join(project, entry));
      }),
  'remove the lock': () => remove(lock),
  'move itself': () => attempt(() => fs.renameSync(process.cwd(), `${process.cwd()}-moved`)),
  'move another': () =>
    packages()
      .slice(0, 1)
      .forEach((place) => {
        attempt(() => fs.renameSync(place, `${place}-moved`));
      }),
  'move modules': () => attempt(() => fs.renameSync(modules, `${modules}-moved`)),
  'link modules'() {
    DEEDS['move modules']();
    attempt(() => fs.symlinkSync('node_modules-moved', modules));
  },
  'have a file for modules'() {
    remove(modules);
    fs.writeFileSync(modules, '');
  },
  'chmod modules': () => attempt(() => fs.chmodSync(modules, 0o555)),
  'empty the hidden lock': () =>
    attempt(() => fs.writeFileSync(path.join(modules, '.package-lock.json'), '{"lockfileVersion":3,"packages":{}}')),
  'have a folder for the hidden lock': () => attempt(() => fs.mkdirSync(path.join(modules, '.package-lock.json'))),
  'have a folder for the lock'() {
    remove(lock);
    fs.mkdirSync(lock);
  },
  'cut the lock': () => fs.writeFileSync(lock, '{'),
  install: () => gantry('install'),
  rebuild: () => gantry('rebuild', '--ignore-scripts'),
  verify: () => gantry('store', 'verify'),
  'kill itself': () => process.kill(process.pid, 'SIGKILL'),
  'end who runs it': () => process.kill(process.ppid, 'SIGTERM'),
};

if (failing === `${name}!`) process.exit(3);
for (const deed of process.argv.slice(2)) DEEDS[deed]();
if (failing === name) process.exit(4);

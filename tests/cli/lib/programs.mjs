// The programs under test and beside the test: each run has an environment of its own, with nothing of this user's npm.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const built = (variable, name) => resolve(root, process.env[variable] || join('target', 'release', name));
export const gantryCommand = built('GANTRY_BIN', 'gantry');
export const registryCommand = built('GANTRY_REGISTRY_BIN', 'gantry-registry');
export const projectsFolder = join(root, 'tests', 'projects');
/** The npm of package-lock.json: others write other fields (npm 10 leaves `libc` out of locks), so it is not the user's. */
const npmScript = join(root, 'node_modules', 'npm', 'bin', 'npm-cli.js');

/** A temporary folder that is removed with the test. */
export function temporaryFolder(test) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-cli-')));
  test.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Certificates of this machine are of no use here, and Node.js reads them each time that npm starts (a seventh of its time). */
const leftOut = ['NODE_ENV', 'NODE_EXTRA_CA_CERTS'];

/** This process's environment without npm's variables, with empty configuration files and caches below `folder`. */
function isolatedEnvironment(folder) {
  const environment = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (!/^(npm_|gantry_)/i.test(name) && !leftOut.includes(name)) environment[name] = value;
  }
  const empty = (name) => {
    const path = join(folder, name);
    writeFileSync(path, '', { flag: 'a' });
    return path;
  };
  return {
    ...environment,
    GANTRY_STORE_DIR: join(folder, 'store'),
    npm_config_userconfig: empty('user.npmrc'),
    npm_config_globalconfig: empty('global.npmrc'),
    npm_config_cache: join(folder, 'npm-cache'),
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
    npm_config_fetch_retries: '0',
  };
}

/** A place to work in: `folder` for caches, projects by name, programs that run there. */
export class Workspace {
  constructor(test, registry) {
    this.folder = temporaryFolder(test);
    this.registry = registry;
    this.npmScript = npmScript;
    this.environment = { ...isolatedEnvironment(this.folder), npm_config_registry: registry };
  }

  /** A new project with these files; values that are no text are written as JSON. */
  project(name, files) {
    const folder = join(this.folder, name);
    mkdirSync(folder, { recursive: true });
    for (const [file, contents] of Object.entries(files)) {
      const isText = typeof contents === 'string' || Buffer.isBuffer(contents);
      writeFileSync(join(folder, file), isText ? contents : `${JSON.stringify(contents, undefined, 2)}\n`);
    }
    return folder;
  }

  /** Runs the command; resolves to exit status, output and the JSON lines of standard output. */
  gantry(...words) {
    return this.#run(gantryCommand, words, this.folder);
  }

  /** The same in a project's folder. */
  gantryIn(project, ...words) {
    return this.#run(gantryCommand, words, project);
  }

  /** Runs npm in a project. */
  npm(project, ...words) {
    return this.#run(process.execPath, [this.npmScript, ...words], project);
  }

  #run(command, words, cwd) {
    const result = spawnSync(command, words, {
      cwd,
      env: this.environment,
      encoding: 'utf8',
      input: '',
      timeout: 300_000,
      maxBuffer: 1 << 28,
    });
    if (result.error) throw result.error;
    return new Finished([command, ...words].join(' '), result);
  }
}

/** What a program left behind. */
export class Finished {
  constructor(command, { status, stdout, stderr }) {
    this.command = command;
    this.status = status;
    this.stdout = stdout;
    this.stderr = stderr;
  }

  /** Standard output as JSON, one value a line. */
  get lines() {
    return this.stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  }

  /** Throws unless the program ended well; gives itself back. */
  succeeded() {
    if (this.status === 0) return this;
    throw new Error(
      `${this.command}: exit status ${this.status}\n${this.stdout.slice(-4000)}\n${this.stderr.slice(-4000)}`,
    );
  }
}

/**
 * Starts a replay registry (of the recording, unless the words name fixtures) that lives until `owner`'s `after`;
 * resolves to its address once it listens.
 */
export async function startRegistry(owner, ...words) {
  // It ends when its standard input closes: with this process at the latest, however that ends.
  const child = spawn(registryCommand, ['--until-stdin-closes', ...words], { stdio: ['pipe', 'pipe', 'inherit'] });
  owner.after(() => child.stdin.end());
  let text = '';
  return new Promise((settle, fail) => {
    child.on('error', fail);
    child.on('exit', (code) => fail(new Error(`gantry-registry ended with status ${code}: ${text}`)));
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
      if (text.includes('\n')) settle(JSON.parse(text).url);
    });
  });
}

/** Has a replay registry run while the tests of a suite do; `started` is told its address before the first. */
export function registryForSuite(started, ...words) {
  let end;
  const owner = {
    after(stop) {
      end = stop;
    },
  };
  before(async () => started(await startRegistry(owner, ...words)));
  after(() => end?.());
}

/** The same with fixtures. Its address is in `registry` of what this gives from the first test on. */
export function fixturesForSuite(set = 'basic') {
  const suite = { registry: '' };
  const started = (registry) => {
    suite.registry = registry;
  };
  registryForSuite(started, '--fixtures', set);
  return suite;
}

/** A control request to a replay registry: its counts and log, and the faults it is to play. */
export async function control(registry, method, action, body) {
  const answer = await fetch(`${registry}-/gantry/${action}`, { method, body: body && JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${action}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

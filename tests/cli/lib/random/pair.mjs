// A scenario played by both programs: gantry as a command, npm as its own Arborist, which does what npm's command would have it
// do and is many times faster.
import { execFile, fork } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listing } from '../pair.mjs';
import { damage, edit, write } from './files.mjs';

const program = fileURLToPath(new URL('arborist.mjs', import.meta.url));

/** How npm ends by an error that it does not know itself. */
export const CRASHED = 'npm crashed';
/** What hangs for so many milliseconds, does. */
const PATIENCE = 60_000;

/** npm, in a process of its own that is started anew where it ends. */
class Npm {
  #child;

  constructor(environment) {
    this.environment = environment;
  }

  /** Has npm do it; resolves to the code of its error, if there is one. */
  run(asked) {
    this.#child ??= fork(program, { env: this.environment, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    const child = this.#child;
    return new Promise((settle) => {
      const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE);
      const ended = (_, signal) => {
        this.#child = undefined;
        conclude(`${CRASHED}: ${signal ? 'it hangs' : 'what it throws is caught by nobody'}`);
      };
      const answered = ({ code }) => conclude(code);
      const conclude = (code) => {
        clearTimeout(timer);
        child.off('exit', ended).off('message', answered);
        settle(code);
      };
      child.once('exit', ended).once('message', answered).send(asked);
    });
  }

  stop() {
    this.#child?.disconnect();
  }
}

function gantry(binary, path, { registry, store, environment }, words) {
  const all = [...words, '--ignore-scripts', '--omit-lockfile-registry-resolved=false', '--json'];
  const env = { ...environment, GANTRY_STORE_DIR: store, npm_config_registry: registry };
  return new Promise((settle) => {
    execFile(binary, all, { cwd: path, env, maxBuffer: 1 << 26, timeout: 120_000 }, (error, stdout, stderr) => {
      if (!error) return settle(undefined);
      const last = stdout.trim().split('\n').at(-1);
      try {
        settle(JSON.parse(last).code ?? last);
      } catch {
        settle(`${error.code ?? error.signal} ${stderr}`);
      }
    });
  });
}

/** Errors of both that mean the same. */
const SAME_ERRORS = {
  ERESOLVE: ['RESOLVE_PEER_CONFLICT'],
  ETARGET: ['RESOLVE_NO_MATCHING_VERSION'],
  E404: ['RESOLVE_PACKAGE_NOT_FOUND', 'REGISTRY_NOT_FOUND'],
  EOVERRIDE: ['RESOLVE_OVERRIDE_CONFLICT'],
  EBADPLATFORM: ['RESOLVE_PLATFORM'],
  EBADENGINE: ['RESOLVE_ENGINE'],
  'no workspaces found': ['WORKSPACE_UNKNOWN'],
  // To npm ci any lock that it cannot load is none.
  EUSAGE: ['LOCK_OUT_OF_SYNC', 'LOCK_MISSING', 'RESOLVE_OVERRIDE_CONFLICT'],
};

function sameFailure(ours, theirs) {
  if (ours === undefined || theirs === undefined) return ours === theirs;
  if (theirs.includes('Unable to resolve reference')) return ours === 'RESOLVE_OVERRIDE_REFERENCE';
  return SAME_ERRORS[theirs]?.includes(ours) ?? false;
}

/** The files and links of an install: paths, modes, and what is in them. Manifests and locks are compared elsewhere. */
const isInstalled = (line) =>
  !/(^|\/)\.package-lock\.json /.test(line) &&
  (line.includes('node_modules/') || !/(^|\/)(package(-lock)?\.json|npm-shrinkwrap\.json|yarn\.lock) /.test(line));
const installed = (folder) => (existsSync(folder) ? listing(folder) : []).filter(isInstalled);

/** Where both play. */
export class Players {
  constructor(registry, binary) {
    this.registry = registry;
    this.binary = binary;
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-random-')));
    this.environment = { PATH: process.env.PATH, HOME: this.folder, npm_config_fetch_retries: '0' };
    this.npm = new Npm(this.environment);
    this.count = 0;
  }

  stop() {
    this.npm.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /**
   * Plays a scenario; resolves to the first difference, if there is one: `{ step, run, what, ours, theirs }`. How npm's runs
   * ended is in `outcomes` then.
   */
  async play(scenario) {
    this.count += 1;
    const place = join(this.folder, `${this.count}`);
    const sides = ['gantry', 'npm'].map((program) => join(place, program, 'project'));
    try {
      this.registry.serve(scenario.universe);
      for (const side of sides) {
        for (const [path, content] of Object.entries(scenario.files))
          write(join(side, path), content, this.registry.url);
      }
      this.outcomes = [];
      for (const [index, step] of scenario.steps.entries()) {
        const difference = await this.#step(place, sides, scenario, step);
        if (difference) return { step: index, run: step.run, ...difference };
      }
      return undefined;
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
  }

  async #step(place, sides, scenario, step) {
    const registry = this.registry.url;
    if (!step.run) {
      if (step.publish) this.registry.publish();
      for (const side of sides) change(side, step, registry);
      return undefined;
    }
    const words = [...step.run, ...scenario.options];
    const [ours, theirs] = sides;
    const environment = { ...this.environment };
    const failedOurs = await gantry(this.binary, ours, { registry, store: join(place, 'store'), environment }, words);
    const failedTheirs = await this.npm.run({ path: theirs, registry, cache: join(place, 'cache'), words });
    this.outcomes.push(failedTheirs ?? 'done');
    if (!sameFailure(failedOurs, failedTheirs)) {
      return { what: 'outcome', ours: failedOurs ?? 'done', theirs: failedTheirs ?? 'done' };
    }
    return compare(ours, theirs, Object.keys(scenario.files));
  }
}

/** What a step does without running anything, in one of both projects. */
function change(folder, step, registry) {
  const path = (name) => join(folder, name);
  if (step.remove) rmSync(path(step.remove), { recursive: true, force: true });
  else if (step.edit && existsSync(path(step.edit))) edit(path(step.edit), step.fields);
  else if (step.write) write(path(step.write), step.content, registry);
  else if (step.rename && existsSync(path(step.rename))) renameSync(path(step.rename), path(step.to));
  else if (step.damage) damage(folder, step);
}

/** A file's text; a lock of yarn has absolute folders. */
function text(folder, file) {
  const path = join(folder, file);
  return existsSync(path) ? readFileSync(path, 'utf8').replaceAll(`file:${folder}`, 'file:') : '(none)\n';
}

const LOCKS = ['package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock'];

function compare(ours, theirs, files) {
  const manifests = files.filter((file) => file.endsWith('package.json'));
  for (const file of [...LOCKS, ...manifests, 'node_modules/.package-lock.json']) {
    const [our, their] = [text(ours, file), text(theirs, file)];
    if (our !== their) return { what: file, ours: our, theirs: their };
  }
  const [our, their] = [installed(ours).join('\n'), installed(theirs).join('\n')];
  if (our !== their) return { what: 'tree', ours: our, theirs: their };
  return undefined;
}

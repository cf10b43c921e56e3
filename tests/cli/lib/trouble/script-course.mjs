// A random course of scripts, as a seed decides it: a project whose packages run random scripts, which may fail, is changed by random
// commands, which may be ended from outside; a neighbour that runs none shares the store. What has to hold: every command ends,
// and says with a code why it failed; one whose script fails or that is interrupted leaves the project as it was; one that ends
// well leaves the tree that a fresh store makes of the same lock; a killed one is finished by the next; whatever scripts do, the
// neighbour and the store have what was published, and the project can be installed.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gantryCommand } from '../programs.mjs';
import { rangeOf } from '../random/packages.mjs';
import { runCommand } from './command.mjs';
import { differences, leftoversOf, References, TroubledProject } from './project.mjs';
import { RandomCourse } from './random-course.mjs';
import { isOfOthers, makeScripted } from './scripted-packages.mjs';

const ALLOWED = ['SCRIPT_FAILED', 'CANCELLED', 'LOCK_OUT_OF_SYNC', 'LOCK_MISSING', 'TREE_UNKNOWN'];
/** What scripts that reach for the project may bring about, too. */
const ALLOWED_IN_RUINS = [...ALLOWED, 'DISK_IO', 'DISK_DENIED', 'LOCK_JSON', 'PROJECT_BUSY', 'MANIFEST_MISSING'];
/** Before it listens to these, they end a command. */
const INTERRUPTIONS = ['SIGINT', 'SIGTERM'];

const json = (value) => `${JSON.stringify(value, undefined, 2)}\n`;
const isDone = ({ status, lines }) => status === 0 || lines.some(({ type }) => type === 'result');

export class ScriptCourse extends RandomCourse {
  #reach;
  #project;
  #neighbour;
  #references;
  #commands = 0;
  /** Whether scripts of a command that was killed, or of `rebuild`, may have changed the store. */
  #mayBeDamaged = false;

  /** `reach`: one of REACHES. */
  constructor(seed, reach) {
    super(seed);
    this.#reach = reach;
  }

  async begin(test) {
    await this.start(test, makeScripted(this.dice, this.#reach));
    const { folder, environment } = this.workspace;
    environment.COURSE_COMMAND = gantryCommand;
    const make = (name, settings) =>
      new TroubledProject(name, join(folder, name, 'in'), { 'package.json': this.#manifest(), '.npmrc': settings });
    this.#project = make('project', 'dangerously-allow-all-scripts=true\n');
    this.#neighbour = make('neighbour', 'ignore-scripts=true\n');
    this.#references = new References(join(folder, 'references'), environment);
    for (const [name, { versions }] of Object.entries(this.universe)) {
      for (const [version, { scripts }] of Object.entries(versions)) {
        if (scripts) this.note(`${name}@${version}: ${JSON.stringify(scripts)}`);
      }
    }
    this.note(this.#project.read('package.json'));
    await this.#run(this.#neighbour, ['install']);
  }

  #manifest() {
    const names = this.dice.some(Object.keys(this.universe), this.dice.between(2, 6));
    const cut = this.dice.between(0, names.length);
    const ranges = (some) => Object.fromEntries(some.map((name) => [name, rangeOf(this.dice, this.universe, name)]));
    const [dependencies, optionalDependencies] = [names.slice(0, cut), names.slice(cut)].map(ranges);
    return json({ name: 'project', version: '1.0.0', dependencies, optionalDependencies });
  }

  /** Runs a command; what its scripts have left running is over when this resolves. */
  async #run(project, words, { failing = '', ...ending } = {}) {
    this.#commands++;
    const mark = `course-${process.pid}-${this.#commands}`;
    const environment = { ...this.workspace.environment, COURSE_FAIL: failing, COURSE_MARK: mark };
    const outcome = await runCommand(project.folder, environment, { words, ...ending });
    const { status, endedBy, lines, milliseconds } = outcome;
    const last = lines.at(-1);
    const error = last?.type === 'error' ? last : undefined;
    const warnings = new Set(lines.filter(({ type }) => type === 'warning').map(({ code }) => code));
    const circumstances = [ending.signal && `${ending.signal} after ${ending.after} ms`, failing && `${failing} fails`];
    const result = [endedBy ?? error?.code ?? status, error?.package, `${milliseconds} ms`, ...warnings];
    const line = [[project.name, ...words].join(' '), ...circumstances].filter(Boolean).join(', ');
    this.note(`${line} → ${result.filter((part) => part != null).join(', ')}`);
    if (outcome.isLate) this.problem('it did not end');
    if (/panicked/.test(outcome.stderr)) this.problem(outcome.stderr);
    if (ending.signal || last?.code === 'CANCELLED') await this.#quiet(mark);
    return { ...outcome, error, code: error?.code, warnings };
  }

  /** Waits for what a command has started and left running. */
  async #quiet(mark) {
    const runs = () => spawnSync('ps', ['axeww'], { encoding: 'utf8', maxBuffer: 1 << 28 }).stdout.includes(mark);
    for (let looks = 0; runs(); looks++) {
      if (looks > 200) return this.problem('a script does not end');
      await pause(20);
    }
    return undefined;
  }

  async play() {
    this.round++;
    const dice = this.dice;
    const project = this.#project;
    const action = dice.weighted({ install: 5, ci: 4, add: 4, uninstall: 2, update: 2, rebuild: 1.5, edit: 1 });
    if (action === 'edit') {
      project.write('package.json', this.#manifest());
      this.note('edited');
      return;
    }
    const call = this.#call(action);
    const before = project.state;
    const beside = dice.chance(0.2) ? this.#run(this.#neighbour, ['ci']) : undefined;
    const outcome = await this.#run(project, call.words, call);
    await beside;
    await this.#judge({ ...call, action, before }, outcome);
    if (this.problems.length === 0) await this.#verify();
    if (this.problems.length === 0 && dice.chance(0.3)) await this.#judgeNeighbour();
    if (this.problems.length === 0 && dice.chance(0.35)) await this.#settle();
  }

  #call(action) {
    const dice = this.dice;
    const name = dice.one(Object.keys(this.universe));
    const words = {
      add: [
        'install',
        `${name}@${rangeOf(dice, this.universe, name)}`,
        ...dice.some(['--save-optional'], dice.between(0, 1)),
      ],
      uninstall: ['uninstall', name],
    }[action] ?? [action];
    const isIgnoring = dice.chance(0.12);
    if (isIgnoring) words.push('--ignore-scripts');
    if (dice.chance(0.2)) words.push('--foreground-scripts');
    const signal = dice.weighted({ none: 6, SIGINT: 1, SIGTERM: 1, SIGKILL: 2 });
    const failing = dice.chance(0.25) ? `${dice.one(Object.keys(this.universe))}${dice.one(['', '!'])}` : '';
    const ending = signal === 'none' ? {} : { signal, after: dice.between(0, dice.one([60, 300, 900])) };
    return { words, isIgnoring, failing, ...ending };
  }

  /** Whether a command may have ended so, and whether the project is what it may have made of it. */
  async #judge({ words, action, isIgnoring, failing, signal, before }, outcome) {
    const { endedBy, code, error, warnings, stderr } = outcome;
    const project = this.#project;
    const reachesForAll = this.#reach === 'project';
    const wasTorn = project.isTorn;
    if (action === 'rebuild') {
      this.#mayBeDamaged ||= this.#reach !== 'own';
      project.isAltered = true;
    }
    if (endedBy === 'SIGKILL') {
      project.isTorn = true;
      this.#mayBeDamaged ||= this.#reach !== 'own';
    } else if (isDone(outcome)) {
      if (action === 'rebuild') return;
      project.isTorn = reachesForAll;
      project.isAltered = isIgnoring || (project.isAltered && action !== 'ci');
      const isWhole = !(failing && warnings.has('SCRIPT_FAILED')) && !project.isAltered && !reachesForAll;
      if (isWhole) await this.#compare(project);
    } else if (!INTERRUPTIONS.includes(endedBy) || endedBy !== signal) {
      const allowed = reachesForAll ? ALLOWED_IN_RUINS : ALLOWED;
      if (!allowed.includes(code)) this.problem(`${words.join(' ')}: ${JSON.stringify(error)} ${stderr}`);
      if (code === 'SCRIPT_FAILED' && !failing && !reachesForAll) this.problem(error.message);
    }
    if (reachesForAll) project.isTorn = true;
    const isToBeAsBefore = !isDone(outcome) && endedBy !== 'SIGKILL' && action !== 'rebuild' && !reachesForAll;
    if (isToBeAsBefore && !wasTorn) {
      const [old, now] = [before, project.state].map((state) => state.filter((line) => !isOfOthers(line)));
      const changes = differences(old, now);
      if (changes.length > 0) this.problem(`${words.join(' ')}: not as it was:\n${changes.join('\n')}`);
    }
  }

  /** Whether the store has what was published. */
  async #verify() {
    const verified = await this.#run(this.#neighbour, ['store', 'verify']);
    if (verified.status === 0) return;
    if (!this.#mayBeDamaged) this.problem(`store verify: ${JSON.stringify(verified.error)}`);
    // It is out of the store now.
    const again = await this.#run(this.#neighbour, ['store', 'verify']);
    if (again.status !== 0) this.problem(`store verify, again: ${JSON.stringify(again.error)}`);
    this.#project.isAltered = true;
    this.#mayBeDamaged = false;
  }

  async #judgeNeighbour() {
    if (await this.#succeed(this.#neighbour, 'ci')) await this.#compare(this.#neighbour);
  }

  async #succeed(project, ...words) {
    const { status, error } = await this.#run(project, words);
    if (status !== 0) this.problem(`${project.name} ${words.join(' ')}: ${JSON.stringify(error)}`);
    return status === 0;
  }

  /** Where nothing fails everything can be installed. */
  async #settle() {
    const project = this.#project;
    if (this.#reach === 'project') return this.#clearUp();
    if (!(await this.#succeed(project, 'install'))) return undefined;
    project.isTorn = false;
    if (!project.isAltered) await this.#compare(project);
    return undefined;
  }

  /** What scripts that reach for the project leave has to be cleared up by hand, but no more than that. */
  async #clearUp() {
    const project = this.#project;
    const { folder } = project;
    execFileSync('chmod', ['-R', 'u+w', folder]);
    rmSync(join(folder, 'node_modules-moved'), { recursive: true, force: true });
    try {
      JSON.parse(project.lock ?? '{}');
    } catch {
      rmSync(join(folder, 'package-lock.json'), { recursive: true });
    }
    const settings = project.read('.npmrc');
    project.write('.npmrc', 'ignore-scripts=true\n');
    if ((await this.#succeed(project, 'install')) && (await this.#succeed(project, 'ci'))) await this.#compare(project);
    project.write('.npmrc', settings);
  }

  /** Whether a tree is what its lock stands for. */
  async #compare(project) {
    const leftovers = leftoversOf(project);
    if (leftovers.length > 0) this.problem(`${project.name}: left over: ${leftovers.join('\n')}`);
    if (project.lock === undefined) return;
    // Which packages are there when a script runs depends on what was there before.
    const isOpen = project === this.#project && this.#reach === 'others';
    const found = (await this.#references.differences(project)).filter((line) => !(isOpen && isOfOthers(line)));
    if (found.length > 0) this.problem(`${project.name} is not what its lock says:\n${found.join('\n')}`);
  }

  async finish() {
    this.round++;
    const project = this.#project;
    await this.#settle();
    if (this.#reach !== 'project' && (await this.#succeed(project, 'ci'))) {
      project.isAltered = false;
      await this.#compare(project);
    }
    await this.#judgeNeighbour();
    await this.#verify();
    const temporary = join(this.workspace.environment.GANTRY_STORE_DIR, 'v1', 'temporary');
    const left = existsSync(temporary) ? readdirSync(temporary) : [];
    if (left.length > 0) this.problem(`left over in the store: ${left}`);
  }
}

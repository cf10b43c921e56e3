// A random course of the command, as a seed decides it: projects that share a store, a registry that fails, commands that run at
// the same time and are ended from outside, files that are damaged meanwhile. What has to hold of it: every command ends, and
// fails only with a code that something explains; one that fails or is interrupted leaves its project as it was; one that ends
// well leaves the tree that a fresh store and a registry without faults make of the same lock, and nothing else; a killed one is
// finished by the next; and nothing is damaged in the store but what the course damaged. How long everything takes is not decided
// by the seed: two plays of one differ in what comes first.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { makePackages, rangeOf } from '../random/packages.mjs';
import { allowedCodes } from './allowed.mjs';
import { isAsking, isInstall, makeCall } from './calls.mjs';
import { runCommand } from './command.mjs';
import { Damage } from './damage.mjs';
import { makeTrouble } from './faults.mjs';
import { differences, leftoversOf, References, TroubledProject } from './project.mjs';
import { RandomCourse } from './random-course.mjs';

/** How the network is waited for: so that everything that hangs is over soon. */
const IMPATIENT = {
  npm_config_fetch_timeout: '700',
  npm_config_fetch_retries: '1',
  npm_config_fetch_retry_mintimeout: '1',
  npm_config_fetch_retry_maxtimeout: '50',
};

const wait = (milliseconds) => new Promise((settle) => setTimeout(settle, milliseconds));
const json = (value) => `${JSON.stringify(value, undefined, 2)}\n`;

/** Whether a command has done all it was to do: also where it was interrupted when that was so already. */
const isDone = ({ outcome: { status, lines } }) =>
  status === 0 || (lines.at(-1)?.code === 'CANCELLED' && lines.some(({ type }) => type === 'result'));

export class Course extends RandomCourse {
  #projects;
  #references;
  #damage;
  /** Folders of packages in the store that the course damaged, and that may be damaged still. */
  #damaged = new Set();
  /** Whether files of the store were changed in place, which no install notices. */
  #isChanged = false;

  async begin(test) {
    const dice = this.dice;
    await this.start(test, makePackages(dice));
    Object.assign(this.workspace.environment, IMPATIENT);
    const { folder, environment } = this.workspace;
    this.#projects = Array.from(
      { length: dice.between(1, 2) },
      (_, index) => new TroubledProject(`project${index}`, join(folder, `project${index}`), this.#manifests()),
    );
    this.#references = new References(join(folder, 'references'), environment);
    this.#damage = new Damage(dice, environment.GANTRY_STORE_DIR);
    for (const { name, manifests } of this.#projects) this.note(`${name}: ${manifests.join(', ')}`);
  }

  #dependencies() {
    const names = this.dice.some(Object.keys(this.universe), this.dice.between(1, 4));
    return Object.fromEntries(names.map((name) => [name, rangeOf(this.dice, this.universe, name)]));
  }

  #manifests() {
    const manifest = (name, more) => json({ name, version: '1.0.0', ...more, dependencies: this.#dependencies() });
    if (this.dice.chance(0.7)) return { 'package.json': manifest('project') };
    return {
      'package.json': manifest('project', { workspaces: ['packages/*'] }),
      'packages/one/package.json': manifest('one'),
      'packages/two/package.json': manifest('two'),
    };
  }

  async play() {
    this.round++;
    const dice = this.dice;
    if (dice.chance(0.15)) {
      this.registry.publish();
      this.note('published');
    }
    if (dice.chance(0.2)) this.#edit(dice.one(this.#projects));
    if (dice.chance(0.25)) this.#damageSome();
    await this.#callSome();
    if (this.#isChanged && this.problems.length === 0 && dice.chance(0.6)) await this.#mend();
  }

  /** A change of a manifest by hand. */
  #edit(project) {
    const path = this.dice.one(project.manifests);
    project.write(path, json({ ...JSON.parse(project.read(path)), dependencies: this.#dependencies() }));
    project.isEdited = true;
    this.note(`${project.name}: ${path} was edited`);
  }

  #damageSome() {
    const dice = this.dice;
    const project = dice.one(this.#projects);
    const kind = dice.weighted({ tree: 5, lose: 2, change: 0.7, mirror: 2, notes: 0.5 });
    const done = this.#damage[kind](project);
    if (done === undefined) return;
    this.note(`${kind === 'tree' ? `${project.name}: ` : ''}${done.said}`);
    if (done.isAltered) project.isAltered = true;
    if (done.folder) this.#damaged.add(done.folder);
    if (kind === 'change') this.#isChanged = true;
  }

  async #callSome() {
    const dice = this.dice;
    const calls = Array.from({ length: dice.chance(0.55) ? 1 : dice.between(2, 3) }, () =>
      makeCall(dice, this.universe, this.#projects),
    );
    const trouble = makeTrouble(dice);
    if (trouble) {
      this.registry.fail(trouble.fault, trouble.share);
      this.note(`registry: ${JSON.stringify(trouble.fault)} ${trouble.share}`);
    }
    const before = new Map(this.#projects.map((project) => [project, project.state]));
    await Promise.all(calls.map((call) => this.#call(call)));
    this.registry.healthy();
    const circumstances = { trouble, calls, isDamaged: this.#damaged.size > 0 };
    for (const call of calls) this.#judge(call, circumstances);
    for (const project of this.#projects) {
      const own = calls.filter((call) => call.project === project && !call.action.startsWith('store'));
      await this.#judgeProject(project, own, { before: before.get(project), trouble });
    }
  }

  async #call(call) {
    await wait(call.delay);
    call.outcome = await runCommand(call.project.folder, this.workspace.environment, call);
    const { status, endedBy, lines, milliseconds } = call.outcome;
    const ending = call.signal ? `, ${call.signal} after ${call.after} ms` : '';
    const { type, code, package: named } = lines.at(-1) ?? {};
    const result = type === 'error' ? `${code} ${named}` : status;
    const warnings = lines.filter((line) => line.type === 'warning').map((line) => line.code);
    const told = [endedBy ?? result, `${milliseconds} ms`, ...new Set(warnings)].join(', ');
    this.note(`${call.project.name} ${call.words.join(' ')}${ending} → ${told}`);
  }

  /** Whether a command may have ended so. */
  #judge(call, circumstances) {
    const { status, endedBy, isLate, lines, otherLines, stderr } = call.outcome;
    const what = `${call.project.name} ${call.words.join(' ')}: `;
    if (isLate) return this.problem(`${what}it did not end`);
    if (/panicked/.test(stderr) || otherLines.length > 0) this.problem(`${what}${stderr} ${otherLines}`);
    if (endedBy !== null) {
      if (endedBy !== call.signal) this.problem(`${what}${endedBy}`);
      return undefined;
    }
    if (status === 0) return undefined;
    const error = lines.at(-1);
    if (error?.type !== 'error') return this.problem(`${what}exit status ${status} without an error: ${stderr}`);
    const { allowed, isOfPackage } = allowedCodes(call, circumstances);
    if (!allowed.has(error.code)) return this.problem(`${what}${JSON.stringify(error)}`);
    const name = error.package?.replace(/(?<!^)@.*/, '');
    if (isOfPackage(error.code) && !(name in this.universe))
      this.problem(`${what}no package in ${JSON.stringify(error)}`);
    return undefined;
  }

  /** Whether a project is what these commands may have made of what it was. */
  async #judgeProject(project, calls, { before, trouble }) {
    const killed = calls.filter(({ outcome }) => outcome.endedBy === 'SIGKILL');
    const succeeded = calls.filter((call) => isInstall(call) && isDone(call));
    const written = calls.filter((call) => call.action === 'install --lockfile-only' && isDone(call));
    const [only] = calls;
    if (killed.some(isAsking)) project.isTorn = true;
    else if (succeeded.length > 0) {
      const isWhole = succeeded.some(({ action }) => action === 'ci');
      if (calls.length === 1) {
        project.isTorn = false;
        if (only.action !== 'ci') project.isEdited = false;
        if (isWhole) project.isAltered = false;
      }
      const leftovers = leftoversOf(project);
      if (leftovers.length > 0) this.problem(`${project.name}: left over: ${leftovers.join('\n')}`);
      const isSaidToBeNone = trouble?.fault.status === 404 || calls.some(({ isStale }) => isStale);
      const isLeftOut = calls.some(isAsking) && isSaidToBeNone;
      if (written.length === 0 && !(isLeftOut && (await this.#isOutOfStep(project)))) await this.#compare(project);
      if (calls.length === 1) this.#judgeManifest(only);
    } else if (written.length > 0) {
      project.isEdited = true;
    } else if (!project.isTorn) {
      const changes = differences(before, project.state);
      if (changes.length > 0) this.problem(`${project.name} is not as it was:\n${changes.join('\n')}`);
    }
  }

  /**
   * As npm, an install leaves out what is in a cycle with what the registry says it does not have, and says nothing; the lock
   * that it writes is refused by `ci`, also by npm's. The next install mends it.
   */
  async #isOutOfStep(project) {
    if (!(await this.#references.isRefused(project))) return false;
    project.isEdited = true;
    return true;
  }

  /** Whether a tree is what its lock stands for. */
  async #compare(project) {
    // As npm, `dedupe` makes no lock where there is none.
    if (project.isAltered || this.#isChanged || project.lock === undefined) return;
    const found = await this.#references.differences(project);
    if (found.length > 0) this.problem(`${project.name} is not what its lock says:\n${found.join('\n')}`);
  }

  #judgeManifest({ project, action, name }) {
    const { dependencies = {}, devDependencies = {} } = JSON.parse(project.read('package.json'));
    const isThere = name in dependencies || name in devDependencies;
    if (action === 'add' && !isThere) this.problem(`${project.name}: ${name} was added, and is not in package.json`);
    if (action === 'uninstall' && isThere) this.problem(`${project.name}: ${name} was removed, and is in package.json`);
  }

  async #run(project, ...words) {
    const call = { project, words, delay: 0 };
    await this.#call(call);
    const { lines } = call.outcome;
    return { ...call.outcome, last: lines.at(-1) };
  }

  /** Has the store looked through, and what was damaged in it put right in every project. */
  async #mend() {
    await this.#verify();
    for (const project of this.#projects) {
      if (project.isTorn || project.isEdited || project.lock === undefined) {
        project.isAltered = true;
        continue;
      }
      const { status, last } = await this.#run(project, 'ci');
      if (status !== 0) this.problem(`${project.name} cannot be mended: ${JSON.stringify(last)}`);
      else project.isAltered = false;
      await this.#compare(project);
    }
  }

  async #verify() {
    const [project] = this.#projects;
    const first = await this.#run(project, 'store', 'verify');
    if (first.status !== 0 && !(first.last?.code === 'STORE_CORRUPT' && this.#damaged.size > 0))
      this.problem(`store verify: ${JSON.stringify(first.last)}`);
    if (this.#damaged.size === 0) return;
    const second = await this.#run(project, 'store', 'verify');
    if (second.status !== 0) this.problem(`store verify, again: ${JSON.stringify(second.last)}`);
    this.#damaged.clear();
    // What was changed in place is so in projects that have links to it.
    if (this.#isChanged) for (const each of this.#projects) each.isAltered = true;
    this.#isChanged = false;
  }

  /** At the end everything can be put right, and is whole. */
  async finish() {
    this.round++;
    await this.#verify();
    for (const project of this.#projects) {
      const { status, last } = await this.#run(project, 'install');
      if (status !== 0) return this.problem(`${project.name} cannot be installed: ${JSON.stringify(last)}`);
      const leftovers = leftoversOf(project);
      if (leftovers.length > 0) this.problem(`${project.name}: left over: ${leftovers.join('\n')}`);
      await this.#compare(project);
      // What was changed by hand stays until then.
      const again = await this.#run(project, 'ci');
      if (again.status !== 0) return this.problem(`${project.name}: ${JSON.stringify(again.last)}`);
      project.isAltered = false;
      await this.#compare(project);
    }
    await this.#verify();
    const [project] = this.#projects;
    const pruned = await this.#run(project, 'store', 'prune');
    if (pruned.status !== 0) this.problem(`store prune: ${JSON.stringify(pruned.last)}`);
    const asked = this.registry.requests;
    for (const project of this.#projects) {
      const { status, last } = await this.#run(project, 'ci', '--offline');
      if (status !== 0) this.problem(`${project.name}, offline: ${JSON.stringify(last)}`);
      await this.#compare(project);
    }
    if (this.registry.requests > asked) this.problem('the registry was asked offline');
    const temporary = join(this.workspace.environment.GANTRY_STORE_DIR, 'v1', 'temporary');
    const left = existsSync(temporary) ? readdirSync(temporary) : [];
    if (left.length > 0) this.problem(`left over in the store: ${left}`);
    return undefined;
  }
}

// A random course of the command on a ground that fails it: a seed decides what a project depends on, how it is changed, and which
// strain of its ground each change is made under. The same change is made without any strain in a copy of the project, with a
// store of its own, and tells what has to come of it. What has to hold: a command fails only with a code that its strain explains,
// says which file it is about and what to do; what the user has is of before or of after, and nothing else; once the strain is
// over the same command comes to exactly what it comes to without; another project that shares the store stays as it is; and
// nothing temporary is left.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makePackages } from '../random/packages.mjs';
import { runCommand, runOnTerminal } from './command.mjs';
import { differences, leftoversOf, TroubledProject } from './project.mjs';
import { RandomCourse } from './random-course.mjs';
import { checkFailure } from './refusals.mjs';
import { makeChange, makeProject, makeSources, withSpecial } from './sources.mjs';

/** What commands rewrite of the user's. */
const isOfInstalls = (line) =>
  /(^|\/)(node_modules\/|\.gantry-)|^(packages\/\w+\/)?package\.json |^package-lock\.json /.test(line);
const isOfTree = (line) => /(^|\/)node_modules\//.test(line);

export class GroundCourse extends RandomCourse {
  #ground;
  #sources;
  #project;
  #neighbour;
  #neighbourly;
  #calm;

  constructor(seed, ground) {
    super(seed);
    this.#ground = ground;
  }

  end() {
    this.#ground.end();
  }

  async begin(test) {
    const dice = this.dice;
    await this.start(test, withSpecial(makePackages(dice)));
    const { folder, environment } = this.workspace;
    this.#ground.begin(dice, folder);
    this.#sources = makeSources(folder);
    environment.GANTRY_STORE_DIR = this.#ground.store;
    environment.HOME = folder;
    this.#calm = { ...environment, GANTRY_STORE_DIR: join(folder, 'calm', 'store') };
    mkdirSync(this.#calm.GANTRY_STORE_DIR, { recursive: true });
    mkdirSync(environment.GANTRY_STORE_DIR, { recursive: true });
    const make = (name) =>
      new TroubledProject(name, this.#ground.project(name), makeProject(dice, this.universe, this.#sources));
    [this.#project, this.#neighbour] = [make('project'), make('neighbour')];
    this.#ground.settle();
    await this.#succeed(this.#neighbour, 'install');
    this.#neighbourly = this.#neighbour.state;
    if (dice.chance(0.7)) {
      await this.#succeed(this.#project, 'install');
      this.#project.write('node_modules/.cache/mine', 'mine');
    }
    this.#ground.settle();
  }

  async #run(folder, environment, words, strain) {
    const call = { words, ...this.#ground.spawning };
    const disturb = strain?.disturb && ((child) => strain.disturb(child));
    const outcome = strain?.isOnTerminal
      ? await runOnTerminal(folder, environment, { ...call, after: strain.after, scratch: this.workspace.folder })
      : await runCommand(folder, environment, { ...call, disturb });
    const { type, code } = outcome.lines.at(-1) ?? {};
    return {
      ...outcome,
      error: type === 'error' ? outcome.lines.at(-1) : undefined,
      code: type === 'error' ? code : undefined,
    };
  }

  /** Runs a command that has to end well. */
  async #succeed(project, ...words) {
    const outcome = await this.#run(project.folder, this.workspace.environment, words);
    if (outcome.status !== 0) this.problem(`${project.name} ${words.join(' ')}: ${told(outcome)}`);
    return outcome;
  }

  /** What a change comes to where nothing is in its way. */
  async #imagine(words, ...more) {
    const folder = join(this.workspace.folder, 'calm', 'project');
    rmSync(folder, { recursive: true, force: true });
    spawnSync('cp', ['-a', this.#project.folder, folder]);
    const outcome = await this.#run(folder, this.#calm, words);
    for (const words of outcome.status === 0 ? more : []) await this.#run(folder, this.#calm, words);
    const project = new TroubledProject('calm', folder, {});
    return { ...outcome, state: project.state };
  }

  async play() {
    this.round++;
    const dice = this.dice;
    const [project, neighbour] = [this.#project, this.#neighbour];
    const { words } = makeChange(
      dice,
      this.universe,
      this.#sources,
      project.manifests.some((path) => path.startsWith('packages/')),
    );
    const strain = this.#ground.strain(dice, [project, neighbour]) ?? { codes: [], begin() {}, end() {} };
    const isBeside = dice.chance(0.2);
    const expected = await this.#imagine(words, ...(strain.isDamaging ? [['ci']] : []));
    const before = project.state;
    const { environment } = this.workspace;
    strain.begin();
    const beside = isBeside ? this.#run(neighbour.folder, environment, ['ci'], strain) : undefined;
    const outcome = await this.#run(project.folder, environment, words, strain);
    const besides = await beside;
    strain.end();
    this.note(`${words.join(' ')} (${told(expected)}); ${strain.said}; → ${told(outcome)}, ${outcome.milliseconds} ms`);
    if (strain.deeds) this.note(strain.deeds.slice(0, 60).join('; '));
    this.#judge(words, outcome, expected, strain);
    if (besides) {
      this.note(`neighbour ci → ${told(besides)}`);
      this.#judge(['neighbour ci'], besides, { status: 0 }, strain);
    }
    this.#judgeFiles(outcome, expected, before, strain);
    const isTorn = besides && besides.status !== 0 && strain.isTearing;
    if (!isTorn && !strain.isTearing) this.#judgeNeighbour();
    if (this.problems.length > 0) return;
    await this.#settle(words, outcome, expected, strain);
    const isLeftOver = strain.isTearing && leftoversOf(neighbour).length > 0;
    if (isTorn || isLeftOver || strain.isDamaging) await this.#succeed(neighbour, 'ci');
    this.#judgeNeighbour();
  }

  /** Whether a command may have ended so. */
  #judge(words, outcome, expected, strain) {
    const fail = (text) => this.problem(`${words.join(' ')}: ${text}: ${told(outcome)} ${outcome.stderr}`);
    const { status, endedBy, isLate, otherLines, stderr, error } = outcome;
    if (isLate) return fail('it did not end');
    if (/panicked/.test(stderr) || (!strain.isSilent && otherLines.length > 0)) fail(`it printed ${otherLines}`);
    if (endedBy !== null) return strain.endings?.includes(endedBy) ? undefined : fail('it was ended');
    if (status === 0) return expected.status === 0 ? undefined : fail(`it came to more than ${told(expected)}`);
    if (error === undefined) {
      if (status === expected.status) return undefined;
      const isTold = strain.isSilent || strain.isTearing;
      return isTold && strain.codes.includes('CANCELLED') && [129, 130, 143].includes(status)
        ? undefined
        : fail('no error was told');
    }
    if (error.code !== expected.code && !strain.codes.includes(error.code)) fail('nothing explains this code');
    for (const problem of checkFailure(outcome, this.workspace.folder)) fail(problem);
    return undefined;
  }

  /** Whether what the user has is of before or of after. */
  #judgeFiles({ status }, expected, before, strain) {
    const after = this.#project.state;
    const kept = differences(
      before.filter((line) => !isOfInstalls(line)),
      after.filter((line) => !isOfInstalls(line)),
    );
    if (kept.length > 0) this.problem(`files of the user were changed:\n${kept.join('\n')}`);
    const lines = (state, pattern) => state.filter((line) => pattern.test(line)).join('\n');
    for (const pattern of [
      /^package\.json /,
      /^package-lock\.json /,
      /^packages\/one\/package\.json /,
      /^packages\/two\/package\.json /,
    ]) {
      const now = lines(after, pattern).replace(/ \d+ /, ' ');
      const may = [before, expected.state].map((state) => lines(state, pattern).replace(/ \d+ /, ' '));
      if (!may.includes(now)) this.problem(`${now || pattern} is neither of ${may}`);
    }
    if (status === 0 || strain.isTearing || strain.isDamaging) return;
    const tree = (state) => state.filter(isOfTree);
    const changes = [before, expected.state].map((state) => differences(tree(state), tree(after)));
    if (changes.every((list) => list.length > 0))
      this.problem(`the tree is half made: from before\n${changes[0].join('\n')}\nto after\n${changes[1].join('\n')}`);
    const left = leftoversOf(this.#project);
    if (left.length > 0) this.problem(`left over after a failure: ${left.join('\n')}`);
  }

  #judgeNeighbour() {
    const changes = differences(this.#neighbourly, this.#neighbour.state);
    if (changes.length > 0) this.problem(`the neighbour was changed:\n${changes.join('\n')}`);
  }

  /** Without the strain the command comes to what it comes to elsewhere. */
  async #settle(words, outcome, expected, strain) {
    const project = this.#project;
    if (strain.isDamaging) {
      const first = await this.#run(project.folder, this.workspace.environment, ['store', 'verify']);
      if (first.status !== 0 && first.code !== 'STORE_CORRUPT') this.problem(`store verify: ${told(first)}`);
      await this.#succeed(project, 'store', 'verify');
    }
    let { status } = outcome;
    // Once, where it was done: doing some of them again makes another lock.
    if (status !== 0) {
      const again = await this.#run(project.folder, this.workspace.environment, words);
      if (again.status !== expected.status || again.code !== expected.code)
        this.problem(`${words.join(' ')}, again: ${told(again)} instead of ${told(expected)}`);
      status = again.status;
    }
    if (strain.isDamaging && expected.status === 0 && status === 0) {
      // A tree that is damaged is put right by that alone.
      const clean = await this.#run(project.folder, this.workspace.environment, ['ci']);
      if (clean.status !== 0 && project.lock !== undefined) this.problem(`ci: ${told(clean)}`);
    }
    // What could not be removed under a strain the next command removes, whatever it does.
    if (strain.isTearing && leftoversOf(project).length > 0) await this.#succeed(project, 'install', '--dry-run');
    const changes = differences(expected.state, project.state);
    if (changes.length > 0) this.problem(`it did not come to what it does elsewhere:\n${changes.join('\n')}`);
  }

  #leftInStore() {
    const root = join(this.workspace.environment.GANTRY_STORE_DIR, 'v1');
    const temporary = join(root, 'temporary');
    const removed = readdirSync(root).filter((name) => /removed-|^\./.test(name));
    return [...(existsSync(temporary) ? readdirSync(temporary) : []), ...removed];
  }

  /** At the end everything is whole. */
  async finish() {
    this.round++;
    await this.#succeed(this.#project, 'store', 'verify');
    await this.#succeed(this.#project, 'install');
    const left = this.#leftInStore();
    if (left.length > 0) this.problem(`left over in the store: ${left}`);
    await this.#succeed(this.#neighbour, 'ci');
    this.#judgeNeighbour();
    await this.#succeed(this.#project, 'store', 'prune');
  }
}

function told({ status, endedBy, error }) {
  return error ? `${status} ${JSON.stringify(error)}` : String(endedBy ?? status);
}

/** What a store is looked at for now and then: that it is whole, needs nobody, and has what its projects need and no more. */
import type { Dice } from '../../../cli/lib/random/dice.mjs';
import type { FaultyRegistry } from '../../../cli/lib/random/faulty-registry.mjs';
import { LACKING } from './allowed.js';
import { manifestOf, packagesOf } from './locks.js';
import type { NativeTrees } from './native-trees.js';
import type { Projects } from './projects.js';
import { type Report, short } from './report.js';
import type { Outcome, Tab } from './tab.js';

interface Parts {
  dice: Dice;
  registry: FaultyRegistry;
  report: Report;
  projects: Projects;
  native: NativeTrees;
  tabs: readonly Tab[];
}

/** Packages that are damaged in one project each are found one by one. */
const MOST_REPAIRS = 10;
/** How often a prune is tried while workers that were ended let go of the store. */
const MOST_PRUNES = 40;

export class Upkeep {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get #tab(): Tab {
    const { dice, tabs } = this.#parts;
    return dice.one(tabs.filter(({ isOpen }) => isOpen));
  }

  /** Afterwards nothing is damaged. */
  async run(isDamaged: boolean): Promise<void> {
    const { dice, report, tabs } = this.#parts;
    const verified = await this.#tab.run('verify');
    report.note(`verify → ${verified.code ?? short(verified.result)}`);
    if (!verified.result) return report.problem(`verify: ${JSON.stringify(verified)}`);
    const { damaged } = verified.result;
    if (damaged.length > 0 && !isDamaged) return report.problem(`damaged: ${damaged}`);
    if (damaged.length > 0) await this.mend();
    if (dice.chance(0.5)) await this.#installOffline();
    for (const tab of tabs) await this.endReader(tab);
    await this.#prune(isDamaged);
  }

  /** Installs what was damaged again. */
  async mend(): Promise<void> {
    const { report, projects, native } = this.#parts;
    report.note('mending');
    const tab = this.#tab;
    for (const [project, { lockfile }] of projects.known) {
      const parameters = { project, packageJson: manifestOf(lockfile), lockfile, frozen: true };
      let digest: Outcome<string | undefined> = {};
      for (let repairs = 0; repairs < MOST_REPAIRS; repairs++) {
        const outcome = await tab.run('install', parameters);
        if (!outcome.result) report.problem(`mending ${project}: ${JSON.stringify(outcome)}`);
        digest = await tab.run('digest', { project, isFresh: true });
        if (!LACKING.includes(digest.code ?? '')) break;
      }
      if (digest.result !== (await native.digest(lockfile)))
        report.problem(`${project} is not mended: ${JSON.stringify(digest)}`);
      else projects.set(project, { lockfile, digest: digest.result });
    }
    const verified = await tab.run('verify');
    if (verified.result?.projects.length !== 0) report.problem(`mended, and not whole: ${JSON.stringify(verified)}`);
  }

  async endReader(tab: Tab): Promise<void> {
    if (tab.hasReader) await tab.run('endReader');
    tab.hasReader = false;
  }

  async #installOffline(): Promise<void> {
    const { registry, report, projects } = this.#parts;
    for (const [project, { lockfile, digest }] of projects.known) {
      const asked = registry.requests;
      const tab = this.#tab;
      const parameters = { project, packageJson: manifestOf(lockfile), lockfile, frozen: true, offline: true };
      const outcome = await tab.run('install', parameters);
      const after = await tab.run('digest', { project, isFresh: true });
      report.note(`${tab.name} offline ${project} → ${outcome.code ?? short(outcome.result)}`);
      const isSame = after.result === digest && outcome.result?.packages === outcome.result?.reused;
      if (!outcome.result || !isSame || registry.requests !== asked)
        report.problem(`offline, ${project}: ${JSON.stringify(outcome)} ${JSON.stringify(after)}`);
    }
  }

  async #prune(isDamaged: boolean): Promise<void> {
    const { report, projects } = this.#parts;
    const tab = this.#tab;
    let pruned = await tab.run('prune');
    for (let tries = 1; tries < MOST_PRUNES && pruned.code === 'STORE_LOCKED'; tries++) pruned = await tab.run('prune');
    report.note(`${tab.name} prune → ${pruned.code ?? short(pruned.result)}`);
    if (!pruned.result) return report.problem(`prune: ${JSON.stringify(pruned)}`);
    if (pruned.result.damaged > 0 && !isDamaged) report.problem(`prune found damage: ${JSON.stringify(pruned)}`);
    const usage = await tab.run('usage');
    const entries = [...projects.known.values()].flatMap(({ lockfile }) => Object.values(packagesOf(lockfile)));
    const needed = new Set(entries.map(({ integrity }) => integrity)).size;
    if (usage.result?.packages !== needed)
      report.problem(`${needed} packages are needed, and after a prune there is ${JSON.stringify(usage)}`);
    const again = await tab.run('prune');
    if (again.result?.packages !== 0) report.problem(`pruned again: ${JSON.stringify(again)}`);
    const { result: files = [] } = await tab.run('files');
    const left = files.filter((name) => !isOfStore(name, files));
    if (left.length > 0) report.problem(`files are left: ${left}`);
  }
}

/** Whether a store has such a file; one that ends in `.writer` stands beside what it is for. */
function isOfStore(name: string, files: readonly string[]): boolean {
  const [file = '', writer] = name.split('.');
  return /^(pack-\d+|journal(-\d+)?|metadata-.*|store-[0-9a-f]+)$/.test(file) && (!writer || files.includes(file));
}

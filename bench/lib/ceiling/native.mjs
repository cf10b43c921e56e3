// The native half of the registry bench: Gantry's resolve phase, and a program that only fetches the same documents. Both
// are processes of their own, started and measured in the same way.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { measure } from '../process.mjs';
import { trusting } from '../tools.mjs';
import { foldersFor, wipeAll } from '../workspace.mjs';
import { LISTS } from './lists.mjs';
import { fault, listOf, seen } from './requests.mjs';

/** What the product has under way at once (crates/cli). */
export const PRODUCT_IN_FLIGHT = 128;

/**
 * Who is measured, on one list. `clients`: independent HTTP/2 clients.
 * @typedef {{ who: 'gantry' | 'gantry-again' | 'ceiling', list: string, stack?: 'product' | 'http2', inFlight?: number,
 *   clients?: number }} Contender
 */

export class NativeRuns {
  /** @param {{ workspace: import('../workspace.mjs').Workspace, tools: import('../tools.mjs').Tool[], program: string }} options */
  constructor({ workspace, tools, program }) {
    this.workspace = workspace;
    this.tools = tools;
    this.program = program;
    /** Files with the lists, by project and list. @type {Map<string, { file: string, requests: number }>} */
    this.lists = new Map();
  }

  /** What resolving a project asks for, learned once. @param {string} project @param {string} manifest
   * @param {import('../registry.mjs').Registry} registry */
  async learn(project, manifest, registry) {
    const lengths = {};
    for (const [index, list] of Object.keys(LISTS).entries()) {
      const { usage, output } = await this.#gantry({ who: 'gantry', list }, project, manifest, registry);
      if (usage.status !== 0) throw new Error(`gantry cannot resolve ${project}: ${output.trim().slice(-1000)}`);
      const { log = [] } = await registry.counts({ log: true });
      const missing = log.filter(({ miss }) => miss).map(({ path }) => path);
      if (missing.length > 0) throw new Error(`not in the recording: ${missing.join(' ')} (npm run bench -- record)`);
      const file = join(this.workspace.folder, `${project}-${index}.json`);
      writeFileSync(file, JSON.stringify(listOf(log)));
      this.lists.set(`${project} ${list}`, { file, requests: log.length });
      lengths[list] = log.length;
    }
    return lengths;
  }

  /** One sample. @param {Contender} contender @param {string} project @param {string} manifest
   * @param {import('../registry.mjs').Registry} registry */
  async take(contender, project, manifest, registry) {
    const wanted = this.lists.get(`${project} ${contender.list}`);
    if (!wanted) throw new Error(`${project} was not learned`);
    const { usage, output } = await (contender.who === 'ceiling'
      ? this.#ceiling(contender, await this.#fileFor(contender, wanted.file, registry), registry)
      : this.#gantry(contender, project, manifest, registry));
    if (usage.status !== 0) return { rejected: `exit status ${usage.status}: ${output.trim().slice(-400)}` };
    const counts = await registry.counts({ log: true });
    const rejected = fault(counts, wanted.requests, contender);
    if (rejected) return { rejected };
    const client = contender.who === 'ceiling' ? JSON.parse(output) : undefined;
    const { wall, user, system, maxRss } = usage;
    return { sample: { wall, cpu: user + system, maxRss, ...seen(counts), client } };
  }

  /** @param {Contender} contender */
  async #gantry({ who, list }, project, manifest, registry) {
    const tool = this.tools.find(({ name }) => name === who);
    const folders = foldersFor(this.workspace, who, project);
    wipeAll(this.workspace, folders, manifest);
    this.workspace.emptyTrash();
    const { fields, isKept } = LISTS[list];
    const command = [...tool.command('resolve', folders, registry.url), '--lock-fields', fields];
    const environment = { ...tool.environment(folders, registry.url), ...trusting(registry.certificate) };
    const run = () => measure({ command, cwd: folders.project, environment }, this.workspace.folder);
    if (isKept) {
      const { usage, output } = await run();
      if (usage.status !== 0) throw new Error(`gantry cannot resolve ${project}: ${output.trim().slice(-1000)}`);
      rmSync(join(folders.project, 'package-lock.json'));
      command.push('--prefer-online');
    }
    await registry.reset();
    return run();
  }

  /** The list as this registry is to be asked for it: its documents name its own address, and so does their tag.
   * @param {Contender} contender @param {string} file @param {import('../registry.mjs').Registry} registry */
  async #fileFor({ list }, file, registry) {
    if (!LISTS[list].isKept) return file;
    const own = file.replace(/json$/, `${new URL(registry.url).port}.json`);
    if (!existsSync(own)) {
      writeFileSync(own, JSON.stringify(await tagged(JSON.parse(readFileSync(file, 'utf8')), registry)));
    }
    return own;
  }

  /** @param {Contender} contender */
  async #ceiling({ stack = 'product', inFlight = PRODUCT_IN_FLIGHT, clients = 1 }, file, registry) {
    const command = [this.program, '--list', file, '--registry', registry.url, '--in-flight', String(inFlight)];
    command.push('--stack', stack, '--clients', String(clients));
    if (registry.certificate) command.push('--certificate', registry.certificate);
    await registry.reset();
    return measure({ command, cwd: this.workspace.folder, environment: {} }, this.workspace.folder);
  }
}

/** The same list, each with the tag of what is kept of it. @param {import('./requests.mjs').Wanted[]} list
 * @param {import('../registry.mjs').Registry} registry */
async function tagged(list, { url }) {
  const withTags = [];
  for (const wanted of list) {
    const answer = await fetch(`${url}${wanted.path}`, { headers: { accept: wanted.accept } });
    await answer.arrayBuffer();
    const tag = answer.headers.get('etag');
    if (!answer.ok || !tag) throw new Error(`${wanted.path}: status ${answer.status}, tag ${tag}`);
    withTags.push({ ...wanted, tag });
  }
  return withTags;
}

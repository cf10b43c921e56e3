// Inputs as files: made by the native program, or put together from the recording, as far as there is one.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleParts } from '../../micro/page/bundle.js';
import { recordingFolder, say } from '../paths.mjs';
import { run } from '../process.mjs';
import { projectManifest, projectNames, recordingStamp } from '../record.mjs';
import { Registry } from '../registry.mjs';

/** An input: its label, where it comes from, its file, what it holds, whether it is left out of the charts.
 * @typedef {{ label: string, origin: 'generated' | 'recorded', file: string, items?: number, bytes?: number,
 *   onlyInTable?: boolean }} Input */

const FORMS = { abbreviated: 'application/vnd.npm.install-v1+json', full: 'application/json' };
/** Documents fetched from the replay registry at once. */
const FETCHES = 16;
const ENDING = '.json.gz';

export class Inputs {
  #program;
  #folder;
  #count = 0;

  /** @param {string} program @param {string} folder where files go */
  constructor(program, folder) {
    this.#program = program;
    this.#folder = folder;
  }

  #file = () => join(this.#folder, `input-${this.#count++}`);

  /** Has one made. @param {string} label @param {(string | number)[]} words @returns {Promise<Input>} */
  async generated(label, ...words) {
    const file = this.#file();
    await this.#run('generate', ...words.map(String), file);
    return { label, origin: 'generated', file };
  }

  /** @param {string} label @param {import('../../micro/page/bundle.js').Item[]} items @returns {Input} */
  #recorded(label, items) {
    const file = this.#file();
    writeFileSync(file, Buffer.concat(bundleParts(items)));
    return { label, origin: 'recorded', file };
  }

  /**
   * Recorded documents, as the registry gives them out.
   * @param {string} label @param {keyof FORMS} form @param {string[]} names
   */
  async packuments(label, form, names) {
    return this.#recorded(label, await documents(form, names));
  }

  /** Recorded tarballs, at most so many bytes, picked from all over the recording. @param {number} most */
  tarballs(most) {
    const root = join(recordingFolder, 'tarballs');
    const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.tgz'));
    const digest = (path) => createHash('sha256').update(path).digest('hex');
    const shuffled = paths.map((path) => [digest(path), path]).sort(([one], [other]) => (one < other ? -1 : 1));
    const items = [];
    let size = 0;
    for (const [, name] of shuffled) {
      const bytes = readFileSync(join(root, name));
      if (size + bytes.length > most) continue;
      size += bytes.length;
      items.push({ name, bytes });
    }
    return this.#recorded(`${items.length} tarballs`, items);
  }

  /** What the recorded projects ask for, a file each. @returns {Promise<Input[]>} */
  async projects() {
    const inputs = [];
    const all = await documents('abbreviated', recordedNames());
    for (const project of projectNames) {
      const root = { name: 'package.json', bytes: Buffer.from(projectManifest(project)) };
      const { file: whole } = this.#recorded(project, [root, ...all]);
      const file = this.#file();
      await this.#run('needed', whole, file);
      inputs.push({ label: project, origin: /** @type {const} */ ('recorded'), file });
    }
    return inputs;
  }

  /** @param {string[]} words */
  async #run(...words) {
    await run({ command: [this.#program, ...words], cwd: this.#folder, environment: {} });
  }
}

/** Whether there is a recording; says so if there is none. @param {string} bench */
export function hasRecording(bench) {
  if (recordingStamp()) return true;
  say(bench, 'no recording (npm run bench -- record): only generated inputs');
  return false;
}

/** Names of all packages that are recorded. */
export function recordedNames() {
  const root = join(recordingFolder, 'packuments');
  const paths = existsSync(root) ? readdirSync(root, { recursive: true, encoding: 'utf8' }) : [];
  const files = paths.filter((path) => path.endsWith(ENDING));
  return files.map((path) => decodeURIComponent(path.slice(0, -ENDING.length))).sort();
}

/** @param {keyof FORMS} form @param {string[]} names */
async function documents(form, names) {
  const registry = await Registry.start();
  try {
    const items = new Array(names.length);
    let next = 0;
    const fetchOthers = async () => {
      while (next < names.length) {
        const at = next++;
        const address = registry.url + names[at].replace('/', '%2f');
        const answer = await fetch(address, { headers: { accept: FORMS[form] } });
        if (!answer.ok) throw new Error(`the registry answered ${answer.status} to ${names[at]}`);
        items[at] = { name: names[at], bytes: Buffer.from(await answer.arrayBuffer()) };
      }
    };
    await Promise.all(Array.from({ length: FETCHES }, fetchOthers));
    return items;
  } finally {
    await registry.close();
  }
}

// What every host of the WASI bench installs: one project, its lock, and its tarballs as files beside it.
//
// There are two locks of the same tree. One says where the registry has the tarballs. The other names each by `file:`, below
// the project's own folder, so that an install reads them from there and asks nobody. The trees differ in one file, the hidden
// lock, which repeats those addresses: hence a digest for each.
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { targetFlags } from '../browser/target.mjs';
import { compare, readJudge } from '../correctness.mjs';
import { measure, run } from '../process.mjs';
import { projectManifest } from '../record.mjs';
import { allTools } from '../tools.mjs';
import { contents, expectOnly, foldersFor, wipeAll } from '../workspace.mjs';

/** Where tarballs come from in the timed part. @typedef {'files' | 'registry'} Source */

/** Folder of the tarballs in the project. */
export const TARBALLS = 'tarballs';

const LOCK = 'package-lock.json';

export class Project {
  /** Folder with the manifest, the locks by source (`files.json`, `registry.json`) and the tarballs. @type {string} */ folder;
  /** @type {Record<Source, string>} */ digests = { files: '', registry: '' };
  /** @type {string[]} file names of the tarballs */ tarballs = [];
  /** @type {number} compressed, all tarballs together */ bytes = 0;
  /** @type {number} */ packages = 0;
  /** @type {number} */ files = 0;
  /** What Gantry installed, by npm's judgement. @type {import('../correctness.mjs').Verdict | undefined} */ verdict;
  /** @type {string} */ name = '';
  /** @type {import('../workspace.mjs').Workspace} */ workspace;
  /** @type {import('../registry.mjs').Registry} */ registry;
  #gantry = tool('gantry');

  /**
   * Makes lock, tarballs and digests; npm installs from the lock and judges. Throws where anything is not recorded.
   * @param {string} name of bench/projects @param {import('../workspace.mjs').Workspace} workspace
   * @param {import('../registry.mjs').Registry} registry
   */
  static async prepare(name, workspace, registry) {
    const project = new Project();
    project.name = name;
    project.workspace = workspace;
    project.registry = registry;
    project.folder = workspace.folderFor('inputs', name);
    const manifest = projectManifest(name);
    writeFileSync(join(project.folder, 'package.json'), manifest);
    const folders = foldersFor(workspace, 'resolving', name);
    wipeAll(workspace, folders, manifest);
    await project.#runTool(project.#gantry, 'install', folders);
    const lock = readFileSync(join(folders.project, LOCK), 'utf8');
    writeFileSync(join(project.folder, 'registry.json'), lock);
    await project.#takeTarballs(JSON.parse(lock), folders.project);
    await project.#judge(folders, manifest, lock);
    for (const source of /** @type {Source[]} */ (['registry', 'files'])) {
      const place = project.place('reference', source);
      const { result } = await project.installNatively(place, source);
      Object.assign(project, { packages: result.packages, files: result.files });
      project.digests[source] = await project.digestOf(place.project);
    }
    workspace.moveAside(join(workspace.folder, 'reference'));
    workspace.emptyTrash();
    return project;
  }

  /** Fetches the tarballs of what is `installed`, which leaves out other platforms', and writes the lock that names them. */
  async #takeTarballs(lock, installed) {
    mkdirSync(join(this.folder, TARBALLS));
    for (const [path, entry] of Object.entries(lock.packages)) {
      if (!entry.integrity || !entry.resolved) continue;
      const [algorithm, digest] = entry.integrity.split(' ')[0].split('-');
      const file = `${algorithm}-${Buffer.from(digest, 'base64').toString('hex')}.tgz`;
      const address = entry.resolved;
      entry.resolved = `file:${TARBALLS}/${file}`;
      if (this.tarballs.includes(file) || !existsSync(join(installed, path))) continue;
      const answer = await fetch(address);
      if (!answer.ok) throw new Error(`${path} is not recorded: ${answer.status}`);
      const bytes = Buffer.from(await answer.arrayBuffer());
      writeFileSync(join(this.folder, TARBALLS, file), bytes);
      this.tarballs.push(file);
      this.bytes += bytes.length;
    }
    writeFileSync(join(this.folder, 'files.json'), `${JSON.stringify(lock, null, 2)}\n`);
  }

  /** Has npm install from the lock, and compares Gantry's tree with npm's and with the tarballs. */
  async #judge(folders, manifest, lock) {
    const npm = foldersFor(this.workspace, 'judge', this.name);
    wipeAll(this.workspace, npm, manifest);
    writeFileSync(join(npm.project, LOCK), lock);
    await this.#runTool(tool('npm'), 'frozen', npm);
    this.verdict = compare(readJudge(npm.project), folders.project);
    const { packages, exact, sampled, files } = this.verdict;
    if (exact !== packages || files !== sampled)
      throw new Error(`not what npm installs: ${exact} of ${packages} packages, ${files} of ${sampled} files`);
    for (const done of ['judge', 'resolving']) this.workspace.moveAside(join(this.workspace.folder, done));
  }

  async #runTool(installer, mode, folders) {
    const command = [...installer.command(mode, folders, this.registry.url), ...targetFlags];
    const environment = installer.environment(folders, this.registry.url);
    const { usage, output } = await measure({ command, cwd: folders.project, environment }, this.workspace.folder);
    if (usage.status !== 0) throw new Error(`${installer.name} (${mode}) failed: ${output.trim().slice(-1000)}`);
  }

  /**
   * Folders that did not exist: a project with nothing installed, and an empty store.
   * @param {string} name of whoever installs @param {Source} source @returns {Place}
   */
  place(name, source) {
    const folders = foldersFor(this.workspace, name, this.name);
    this.workspace.moveAside(join(this.workspace.folder, name));
    this.workspace.emptyTrash();
    wipeAll(this.workspace, folders, projectManifest(this.name));
    cpSync(join(this.folder, `${source}.json`), join(folders.project, LOCK));
    if (source === 'files') cpSync(join(this.folder, TARBALLS), join(folders.project, TARBALLS), { recursive: true });
    const own = ['package.json', LOCK, ...(source === 'files' ? [TARBALLS] : [])];
    expectOnly(folders.project, own);
    expectOnly(folders.cache, []);
    return { ...folders, prepared: `project: ${contents(folders.project)}; store: ${contents(folders.cache)}` };
  }

  /**
   * One measured run of the native command, by default the one that is built. Gives what it printed as its result.
   * @param {Place} place @param {Source} source @param {string} [program]
   */
  async installNatively(place, source, program) {
    const command = this.#gantry.command('frozen', place, this.registry.url);
    const words = [...command, '--json', ...targetFlags, ...(source === 'files' ? ['--offline'] : [])];
    if (program) words[0] = program;
    const environment = this.#gantry.environment(place, this.registry.url);
    return measured({ command: words, cwd: place.project, environment }, this.workspace.folder);
  }

  /** The native command's digest of what is installed. @param {string} folder */
  async digestOf(folder) {
    const [program] = this.#gantry.command('frozen', { home: '', cache: '', project: folder }, '');
    const digest = await run({ command: [program, 'digest', '--prefix', folder], cwd: folder, environment: {} });
    return digest.trim();
  }
}

/** @typedef {import('../tools.mjs').Folders & { prepared: string }} Place `prepared`: what there was, in words */

/**
 * Runs a command that prints events and its result as JSON, one a line.
 * @param {import('../process.mjs').Invocation} invocation @param {string} scratch
 * @returns {Promise<{ usage: import('../process.mjs').Usage, result: any }>}
 */
export async function measured(invocation, scratch) {
  const { usage, output } = await measure(invocation, scratch);
  const last = output.trim().split('\n').at(-1) ?? '';
  if (usage.status !== 0 || !last.startsWith('{')) throw new Error(`${invocation.command[0]}: ${output.slice(-1500)}`);
  return { usage, result: JSON.parse(last) };
}

/** @param {string} name */
function tool(name) {
  const found = allTools({ copy: '' }).find((one) => one.name === name);
  if (!found) throw new Error(`there is no tool ${name}`);
  return found;
}

// Projects as the native command installs them, and their tarballs as a host fetches them for `gantry.wasm`.
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { projectsFolder, Workspace } from '../../cli/lib/programs.mjs';
import { memoryFolder } from './shim-host.mjs';

/** What `gantry.wasm` installs for unless told otherwise. */
const TARGET = ['--os', 'linux', '--cpu', 'wasm32'];

/** A workspace with one installed project: its files without `node_modules`, its lock and its digest. */
export class Prepared extends Workspace {
  /** `files` are the project's; a name is that of one of tests/projects. */
  constructor(test, registry, files) {
    super(test, registry);
    if (typeof files === 'string')
      cpSync(join(projectsFolder, files), join(this.folder, 'native'), { recursive: true });
    const given = typeof files === 'string' ? {} : files;
    for (const file of Object.keys(given)) mkdirSync(join(this.folder, 'native', dirname(file)), { recursive: true });
    this.native = this.project('native', given);
    this.gantry('install', '--prefix', this.native, '--ignore-scripts', ...TARGET).succeeded();
    this.lock = readFileSync(join(this.native, 'package-lock.json'), 'utf8');
    this.digest = this.digestOf(this.native);
    for (const name of ['tarballs', 'wasi-store']) mkdirSync(join(this.folder, name), { recursive: true });
  }

  /** The native command's digest of a project. */
  digestOf(project) {
    return this.gantry('digest', '--prefix', project).succeeded().stdout.trim();
  }

  /** A copy of the project with nothing installed. */
  fresh(name = 'project') {
    const folder = join(this.folder, name);
    rmSync(folder, { recursive: true, force: true });
    const isInstalled = (path) => path.split('/').includes('node_modules');
    cpSync(this.native, folder, { recursive: true, filter: (path) => !isInstalled(path.slice(this.native.length)) });
    return folder;
  }

  /** Folders as a host opens them. */
  folders(project, store = join(this.folder, 'wasi-store')) {
    mkdirSync(store, { recursive: true });
    return { '/project': project, '/store': store, '/tarballs': join(this.folder, 'tarballs') };
  }

  /** Asks `run` what is missing, fetches it and puts it where it is looked for; resolves to the list. */
  async feed(run, project) {
    const words = ['ci', '--print-missing', '--prefix', '/project', '--registry', this.registry];
    const missing = JSON.parse((await run(words, this.folders(project))).succeeded().stdout);
    for (const { url, file } of missing) {
      const answer = await fetch(url);
      if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
      writeFileSync(join(this.folder, 'tarballs', file), Buffer.from(await answer.arrayBuffer()));
    }
    return missing;
  }
}

/** The words that install the project. */
export const CI = ['ci', '--offline', '--json', '--prefix', '/project'];

/** Gives files the modes that preview 1 has not, and makes the links that the command left to the host. */
export function completeTree(project, result) {
  const { executables, links } = result.lines.at(-1);
  for (const path of executables) chmodSync(join(project, path), 0o755);
  for (const { path, target } of links) symlinkSync(target, join(project, path));
}

/** A folder's files, for the hosts in memory. */
export function folderInMemory(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name));
  return memoryFolder(Object.fromEntries(paths.map((path) => [path.slice(folder.length + 1), readFileSync(path)])));
}

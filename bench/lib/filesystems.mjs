// File systems to measure on. As root on Linux: a tmpfs, and ext4, btrfs and xfs in images, mounted in a namespace of
// their own that ends with this process (filesystems.sh). Always: the one of a folder that is there anyway.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { benchFolder } from './paths.mjs';
import { run } from './process.mjs';
import { fileSystemName } from './workspace.mjs';

/** @typedef {{ name: string, what: string, folder: string, prefix: string[] }} Place
 * `prefix`: words before a command that is to see the folder. */

export class FileSystems {
  /** @type {Place[]} */ places = [];
  /** @type {{ name: string, why: string }[]} */ missing = [];
  /** @type {import('node:child_process').ChildProcess | undefined} */ #holder;
  /** @type {string[]} */ #folders = [];

  /** @param {string} [folder] on the file system to measure besides the mounted ones */
  static async provide(folder = tmpdir()) {
    const all = new FileSystems();
    await all.#mount();
    const own = mkdtempSync(join(folder, 'gantry-bench-'));
    all.#folders.push(own);
    const name = fileSystemName(own);
    all.places.push({ name: `${name} (disk)`, what: `${name} where temporary files go`, folder: own, prefix: [] });
    return all;
  }

  async #mount() {
    const images = ['tmpfs', 'ext4', 'btrfs', 'xfs'];
    const root = process.platform === 'linux' && process.getuid?.() === 0;
    if (!root || !existsSync('/usr/bin/unshare') || !existsSync('/usr/bin/nsenter')) {
      const why = root ? 'unshare and nsenter (util-linux) are not installed' : 'mounting needs root on Linux';
      this.missing = images.map((name) => ({ name, why }));
      return;
    }
    const base = mkdtempSync(join(tmpdir(), 'gantry-bench-fs-'));
    this.#folders.push(base);
    const script = join(benchFolder, 'lib', 'filesystems.sh');
    const words = ['--mount', '--propagation', 'private', script, base];
    const child = spawn('unshare', words, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#holder = child;
    for await (const line of createInterface({ input: child.stdout })) {
      const [kind, name, rest] = line.split('\t');
      if (kind === 'ready') return;
      if (kind === 'missing') this.missing.push({ name, why: rest });
      // unshare becomes the script: its process is the one in the namespace.
      const prefix = ['/usr/bin/nsenter', `--mount=/proc/${child.pid}/ns/mnt`, '--'];
      const what = name === 'tmpfs' ? 'memory' : 'an image on tmpfs, mounted through a loop device';
      if (kind === 'mounted') this.places.push({ name, what, folder: rest, prefix });
    }
    throw new Error('mounting file systems ended before it was done');
  }

  /** Standard output of a program that works on a place. @param {Place} place @param {string[]} command */
  async run({ prefix }, command) {
    return run({ command: [...prefix, ...command], cwd: benchFolder, environment: { PATH: '/usr/bin:/bin' } });
  }

  /** Unmounts and removes everything. */
  async close() {
    const child = this.#holder;
    if (child) {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.stdin?.end();
      await ended;
    }
    for (const folder of this.#folders) rmSync(folder, { recursive: true, force: true });
  }
}

/** What the native command makes of a lock, with one store for all. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { nativeEnvironment, PAGE_TARGET } from '../native.js';
import { gantryCommand } from '../paths.js';
import { manifestOf } from './locks.js';

/** Not synchronous as other comparisons are: the registry is in this process. */
const run = promisify(execFile);

export class NativeTrees {
  readonly #folder = mkdtempSync(join(tmpdir(), 'gantry-random-'));
  readonly #known = new Map<string, Promise<string>>();
  readonly #registry: string;

  constructor(registry: string) {
    this.#registry = registry;
  }

  /** The digest of the tree that `gantry ci` makes of a lock. */
  digest(lockfile: string): Promise<string> {
    const known = this.#known.get(lockfile) ?? this.#make(lockfile);
    this.#known.set(lockfile, known);
    return known;
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #make(lockfile: string): Promise<string> {
    const project = mkdtempSync(join(this.#folder, 'project-'));
    writeFileSync(join(project, 'package.json'), JSON.stringify(manifestOf(lockfile)));
    writeFileSync(join(project, 'package-lock.json'), lockfile);
    const env = nativeEnvironment(this.#folder, this.#registry);
    const target = ['--os', PAGE_TARGET.os, '--cpu', PAGE_TARGET.cpu];
    await run(gantryCommand, ['ci', '--prefix', project, ...target], { env });
    const { stdout } = await run(gantryCommand, ['digest', '--prefix', project], { env });
    rmSync(project, { recursive: true, force: true });
    return stdout.trim();
  }
}

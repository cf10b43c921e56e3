// One project twice: gantry and npm change it step by step and come to the same.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Workspace } from './programs.mjs';

const json = (value) => `${JSON.stringify(value, null, 2)}\n`;

/** Every file and link of a folder: path, mode and what is in it, or what a link says. */
export function listing(folder, prefix = '') {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      const name = `${prefix}${entry.name}`;
      if (entry.isSymbolicLink()) return [`${name} -> ${readlinkSync(path)}`];
      if (entry.isDirectory()) return listing(path, `${name}/`);
      const content = createHash('sha256').update(readFileSync(path)).digest('base64url').slice(0, 16);
      return [`${name} ${(lstatSync(path).mode & 0o777).toString(8)} ${content}`];
    })
    .sort();
}

/** The same project twice, one for each program, and steps that change both. */
export class Pair {
  constructor(context, registry, files) {
    this.workspace = new Workspace(context, registry);
    this.options = ['--ignore-scripts'];
    this.folders = ['gantry', 'npm'].map((program) => join(this.workspace.folder, program, 'project'));
    for (const folder of this.folders) mkdirSync(folder, { recursive: true });
    this.write(files);
  }

  write(files) {
    for (const folder of this.folders) {
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        const isData = typeof content === 'string' || content instanceof Uint8Array;
        writeFileSync(join(folder, path), isData ? content : json(content));
      }
    }
  }

  remove(path) {
    for (const folder of this.folders) rmSync(join(folder, path), { recursive: true, force: true });
  }

  /**
   * Runs both, each in its own project or in a folder inside of it, which must come to the same lock, the same tree and the
   * same hidden lock. Gives what gantry has said.
   */
  same(step, command = 'install', words = [], inside = '') {
    const [ours, theirs] = this.folders;
    const run = this.workspace.gantryIn(join(ours, inside), command, ...this.options, ...words).succeeded();
    this.workspace.npm(join(theirs, inside), command, ...this.options, ...words).succeeded();
    const text = (folder, path) =>
      existsSync(join(folder, path)) ? readFileSync(join(folder, path), 'utf8') : undefined;
    for (const path of ['package.json', 'package-lock.json']) {
      assert.equal(text(ours, path), text(theirs, path), `${step}: ${path}`);
    }
    const hidden = 'node_modules/.package-lock.json';
    assert.equal(text(ours, hidden), text(theirs, hidden), `${step}: hidden lock`);
    assert.deepEqual(listing(ours), listing(theirs), `${step}: tree`);
    return run;
  }

  /**
   * Runs both, which must print the same, paths of the project aside, and end the same. `read` makes what is compared of what
   * npm prints. Gives what gantry has printed.
   */
  print(step, line, inside = '', read = (text) => text) {
    const [ours, theirs] = this.folders.map((folder, index) => {
      const place = join(folder, inside);
      const run = index ? this.workspace.npm(place, ...line) : this.workspace.gantryIn(place, ...line);
      return { status: run.status, stdout: run.stdout.replaceAll(folder, '/project'), stderr: run.stderr };
    });
    const told = `${step}: ${line.join(' ')}`;
    assert.equal(ours.stdout, read(theirs.stdout), `${told}\n${ours.stderr}`);
    assert.equal(ours.status, theirs.status, told);
    return ours;
  }

  /** Runs both, which must fail; ours with `code`. */
  fail(step, code, command = 'install', words = []) {
    const [ours, theirs] = this.folders;
    const run = this.workspace.gantry(command, ...words, '--prefix', ours, '--json');
    assert.notEqual(run.status, 0, `${step}: gantry fails`);
    assert.equal(run.lines.at(-1).code, code, step);
    assert.notEqual(this.workspace.npm(theirs, command, '--ignore-scripts', ...words).status, 0, `${step}: npm fails`);
    return run.lines.at(-1);
  }
}

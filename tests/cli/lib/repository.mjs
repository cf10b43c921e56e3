// Git repositories, and a host that serves them.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const NOBODY = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@test',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@test',
};

/** A repository, without anything in it yet. */
export class Repository {
  constructor(folder) {
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
    this.git('init', '--quiet', '--initial-branch=main');
  }

  git(...words) {
    const environment = { ...process.env, ...NOBODY, GIT_CONFIG_GLOBAL: '/dev/null' };
    return execFileSync('git', words, { cwd: this.folder, env: environment, encoding: 'utf8' }).trim();
  }

  write(files) {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(this.folder, path)), { recursive: true });
      writeFileSync(join(this.folder, path), typeof content === 'string' ? content : JSON.stringify(content));
    }
  }

  commit(message, tag) {
    this.git('add', '--all');
    this.git('commit', '--quiet', '--message', message);
    if (tag) this.git('tag', tag);
    return this.git('rev-parse', 'HEAD');
  }
}

/** Starts the host; it ends with the test. */
export async function startHost(context, folder) {
  const program = fileURLToPath(new URL('git-host.mjs', import.meta.url));
  const child = spawn(process.execPath, [program, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
  context.after(() => child.stdin.end());
  const [line] = await new Promise((settle) => child.stdout.setEncoding('utf8').once('data', (text) => settle([text])));
  return { ...JSON.parse(line), asked: () => JSON.parse(readFileSync(join(folder, 'asked.json'), 'utf8')) };
}

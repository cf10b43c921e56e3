// The JavaScript side's dependencies: `npm ci` with whatever registry npm is configured with, only when needed. It is the
// user's npm. The one in node_modules, which comes first on the path of npm's scripts, is for comparing and recording.
import { existsSync, statSync } from 'node:fs';
import { inRoot } from './paths.mjs';
import { run, timed } from './process.mjs';
import { contentDigest, unlessFresh } from './stamp.mjs';

/** Runs npm itself: the one that runs this script, else the one on the path. */
export function npm(args, options) {
  const own = process.env.npm_execpath;
  return own?.endsWith('.js') ? run(process.execPath, [own, ...args], options) : run('npm', args, options);
}

const modified = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** Brings node_modules in line with package-lock.json. */
export async function installDependencies() {
  const lock = inRoot('package-lock.json');
  const installed = inRoot('node_modules', '.package-lock.json');
  // A tree that somebody installed by hand after the lock was written is as good as ours.
  if (existsSync(installed) && modified(installed) >= modified(lock)) return;
  const step = { words: [contentDigest(lock)], outputs: [installed] };
  await unlessFresh('npm-ci', step, () => {
    const command = existsSync(lock) ? 'ci' : 'install';
    return timed('npm', `npm ${command} done`, () =>
      npm([command, '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']),
    );
  });
}

/** Before all specs: the playground built, the npm package packed and unpacked, as their users get them. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { inRoot, packageFolder, siteFolder } from './paths.js';

// biome-ignore lint/style/noDefaultExport: Playwright's rule for global setup
export default function setUp(): void {
  const run = (command: string, words: string[]) =>
    execFileSync(command, words, { cwd: inRoot(), stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' });
  run(inRoot('node_modules/.bin/tsc'), ['-b', 'web', 'worker']);
  // In a process of its own: a build sets NODE_ENV, which installs heed.
  run(inRoot('node_modules/.bin/vite'), ['build', '--logLevel', 'warn', '--outDir', siteFolder, '--emptyOutDir']);

  rmSync(packageFolder, { recursive: true, force: true });
  mkdirSync(packageFolder, { recursive: true });
  const [packed] = JSON.parse(run('npm', ['pack', './web', '--json', '--pack-destination', packageFolder]));
  run('tar', ['-xzf', `${packageFolder}/${packed.filename}`, '-C', packageFolder, '--strip-components=1']);
}

/** The native command, for comparison: the same project, the same target, in an environment of its own. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gantryCommand } from './paths.js';

export interface NativeInstall {
  lockfile: string;
  digest: string;
}

/** What a page installs for unless told otherwise. */
export const PAGE_TARGET = { os: 'linux', cpu: 'wasm32' };

/** Installs a project; `files` are others of its files, by path. */
export function installNatively(
  packageJson: string,
  registry: string,
  files: Record<string, string | Uint8Array> = {},
): NativeInstall {
  return inNativeInstall(packageJson, registry, files, (project, digest) => ({
    lockfile: readFileSync(join(project, 'package-lock.json'), 'utf8'),
    digest: digest(),
  }));
}

/** Installs a project for as long as `use` runs, which gets its folder. */
export function inNativeInstall<T>(
  packageJson: string,
  registry: string,
  files: Record<string, string | Uint8Array>,
  use: (project: string, digest: () => string) => T,
): T {
  return inNativeProject(packageJson, registry, files, (project, gantry) => {
    const target = ['--os', PAGE_TARGET.os, '--cpu', PAGE_TARGET.cpu];
    gantry('install', '--ignore-scripts', '--json', ...target);
    return use(project, () => gantry('digest').trim());
  });
}

/** A project for as long as `use` runs, which gets its folder and the command to run in it. */
export function inNativeProject<T>(
  packageJson: string,
  registry: string,
  files: Record<string, string | Uint8Array>,
  use: (project: string, gantry: (command: string, ...words: string[]) => string) => T,
): T {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-browser-'));
  try {
    const project = join(folder, 'project');
    for (const [path, content] of Object.entries({ ...files, 'package.json': packageJson })) {
      mkdirSync(dirname(join(project, path)), { recursive: true });
      writeFileSync(join(project, path), content);
    }
    const env = nativeEnvironment(folder, registry);
    const run = (command: string, ...words: string[]) =>
      execFileSync(gantryCommand, [command, '--prefix', project, ...words], { cwd: project, env, encoding: 'utf8' });
    return use(project, run);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** An environment without settings of npm but for a registry; the store is in a folder, which exists. */
export function nativeEnvironment(folder: string, registry: string): NodeJS.ProcessEnv {
  const empty = join(folder, 'npmrc');
  writeFileSync(empty, '');
  const inherited = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name) && name !== 'NODE_ENV');
  return {
    ...Object.fromEntries(inherited),
    npm_config_userconfig: empty,
    npm_config_globalconfig: empty,
    npm_config_registry: registry,
    GANTRY_STORE_DIR: join(folder, 'store'),
  };
}

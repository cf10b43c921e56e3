/** What of an install's options goes to the coordinator. */
import { checkInstall, checkOutdated, type InstallOptions, type OutdatedOptions } from './call-options.js';
import { textsIn } from './options.js';
import { packageJsonText } from './package-json.js';
import type { ChangeParameters, DependencyChanges, DependencyKind, InstallParameters, Parameters } from './protocol.js';
import { workspacesIn } from './workspaces.js';

/** The project of calls that name none. */
export const DEFAULT_PROJECT = 'default';

/** Throws `INVALID_OPTION` where an option cannot be used. */
export function installParameters(call: 'install' | 'explain', options: InstallOptions): InstallParameters {
  checkInstall(call, options);
  return parametersOf(options);
}

/** The same of what is outdated. */
export function outdatedParameters(options: OutdatedOptions): Parameters<'outdated'> {
  checkOutdated(options);
  const packages = options.packages === undefined ? [] : textsIn('packages', options.packages);
  return { request: parametersOf(options), packages, all: options.all ?? false };
}

function parametersOf(options: InstallOptions): InstallParameters {
  const { lockfile, target, omit, frozen, offline, preferOffline, preferOnline, lockFields, timing } = options;
  const parameters: InstallParameters = {
    project: options.project ?? DEFAULT_PROJECT,
    packageJson: packageJsonText(options.packageJson),
    ...workspacesIn(options),
  };
  if (lockfile === null) parameters.anew = true;
  else if (lockfile !== undefined) parameters.lockfile = lockfile;
  if (options.lockfileName) parameters.lockfileName = options.lockfileName;
  if (options.lockfileVersion !== undefined) parameters.lockfileVersion = options.lockfileVersion;
  if (target) parameters.target = target;
  if (omit) parameters.omit = textsIn('omit', omit) as DependencyKind[];
  if (frozen !== undefined) parameters.frozen = frozen;
  if (offline !== undefined) parameters.offline = offline;
  if (preferOffline !== undefined) parameters.preferOffline = preferOffline;
  if (preferOnline !== undefined) parameters.preferOnline = preferOnline;
  if (lockFields !== undefined) parameters.lockFields = lockFields;
  if (timing) parameters.timing = timing;
  if (options.before !== undefined) parameters.before = options.before;
  if (options.files) parameters.files = readFiles(options.files);
  if (options.npmrc) parameters.npmrc = options.npmrc;
  if (options.environment) parameters.environment = { ...options.environment };
  const changes = changesIn(options);
  if (changes) parameters.changes = changes;
  return parameters;
}

/** What is to change of the dependencies; `undefined` if nothing is. */
function changesIn({ add, remove, update, saveAs, savePrefix }: DependencyChanges): ChangeParameters | undefined {
  if (add === undefined && remove === undefined && update === undefined) return undefined;
  const changes: ChangeParameters = {};
  if (add !== undefined) changes.add = textsIn('add', add);
  if (remove !== undefined) changes.remove = textsIn('remove', remove);
  if (update !== undefined) changes.update = update === true || textsIn('update', update);
  if (saveAs !== undefined) changes.saveAs = saveAs;
  if (savePrefix !== undefined) changes.savePrefix = savePrefix;
  return changes;
}

/** What an install can make use of: manifests and tarballs. A page may hand over all it has without sending all of it. */
function readFiles(files: Readonly<Record<string, string | Uint8Array>>): Record<string, Uint8Array> {
  const encoder = new TextEncoder();
  const entries = Object.entries(files).filter(([path]) => /(^|\/)package\.json$|\.(tgz|tar\.gz|tar)$/i.test(path));
  return Object.fromEntries(
    entries.map(([path, content]) => [path, typeof content === 'string' ? encoder.encode(content) : content]),
  );
}

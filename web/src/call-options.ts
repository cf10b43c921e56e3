/** What the options of each call may be. `undefined`: looked at where it is used, or by the coordinator. */
import type { InstallOptions, OpenOptions } from './gantry.js';
import {
  type Checks,
  checkOptions,
  flag,
  listener,
  milliseconds,
  record,
  signal,
  text,
  textOrNull,
  workers,
} from './options.js';

const OPEN: Checks<OpenOptions> = {
  registry: undefined,
  store: text,
  storage: text,
  scopes: record,
  token: text,
  tokens: record,
  replaceRegistryHost: text,
  wasmUrl: undefined,
  workers,
  timeout: milliseconds,
  signal,
  onWaiting: listener,
  fetchTimeout: undefined,
  fetchRetries: undefined,
  fetchRetryFactor: undefined,
  fetchRetryMintimeout: undefined,
  fetchRetryMaxtimeout: undefined,
};

const INSTALL: Checks<InstallOptions> = {
  packageJson: undefined,
  lockfile: textOrNull,
  lockfileName: text,
  lockfileVersion: undefined,
  project: text,
  target: record,
  omit: undefined,
  frozen: flag,
  offline: flag,
  preferOffline: flag,
  preferOnline: flag,
  lockFields: text,
  before: text,
  timing: flag,
  files: record,
  npmrc: text,
  environment: record,
  onEvent: listener,
  signal,
  add: undefined,
  remove: undefined,
  update: undefined,
  saveAs: text,
  savePrefix: text,
  workspace: undefined,
  workspaces: flag,
  includeWorkspaceRoot: flag,
};

export function checkOpen(options: OpenOptions): void {
  checkOptions<OpenOptions>('Gantry.open', options, OPEN);
}

/** All that `open` takes will do, so that one object can be given to both. */
export function checkRemove(options: object): void {
  checkOptions<OpenOptions>('Gantry.remove', options, OPEN);
}

export function checkInstall(call: 'install' | 'explain', options: InstallOptions): void {
  checkOptions<InstallOptions>(`gantry.${call}`, options, INSTALL);
}

/** Which part of a project with workspaces an install is for: npm's options, and what of them goes to the coordinator. */
import { textsIn } from './options.js';

/**
 * A part of a project with workspaces, by npm's rules. The whole project is resolved all the same, and the lock is that of the
 * whole project. What is added, removed and updated by name is so for the part; of the tree only what the part needs is brought
 * up to date, and everything else stays as the last install of this project left it. `frozen` takes everything else away.
 */
export interface WorkspaceChoice {
  /**
   * Workspaces, each by its name (`@team/kit`), its folder (`packages/kit`) or a folder that workspaces are in (`packages`). Fails
   * with `WORKSPACE_UNKNOWN` if none is found; a warning tells of a single one that is not.
   */
  workspace?: string | readonly string[];
  /** `true`: all workspaces without the project itself. `false`: the project without what only its workspaces need. */
  workspaces?: boolean;
  /** With the workspaces that are chosen also the project itself. */
  includeWorkspaceRoot?: boolean;
}

/** The same for the coordinator. */
export interface WorkspaceParameters {
  workspace?: string[];
  workspaces?: boolean;
  includeWorkspaceRoot?: boolean;
}

/** What of an install's options chooses a part. */
export function workspacesIn(options: WorkspaceChoice): WorkspaceParameters {
  const { workspace, workspaces, includeWorkspaceRoot } = options;
  const parameters: WorkspaceParameters = {};
  if (workspace !== undefined) parameters.workspace = textsIn('workspace', workspace);
  if (workspaces !== undefined) parameters.workspaces = workspaces;
  if (includeWorkspaceRoot !== undefined) parameters.includeWorkspaceRoot = includeWorkspaceRoot;
  return parameters;
}

// `npm run bench -- record`: provides the recording and the peers.

import { gantryCommand } from '../lib/paths.mjs';
import { providePeers } from '../lib/peers.mjs';
import { projectNames, record } from '../lib/record.mjs';
import { allTools } from '../lib/tools.mjs';
import { Workspace } from '../lib/workspace.mjs';

/** @param {{ projects?: string, tools?: string, fs?: string }} options */
export async function main({ projects, fs, tools: only }) {
  providePeers();
  const workspace = Workspace.create(fs);
  try {
    const scratch = workspace.folderFor('record');
    const tools = allTools({ copy: gantryCommand() });
    const chosen = only ? tools.filter((tool) => tool.name === 'npm' || only.split(',').includes(tool.name)) : tools;
    await record(chosen, scratch, { projects: projects?.split(',') ?? projectNames });
  } finally {
    workspace.remove();
  }
}

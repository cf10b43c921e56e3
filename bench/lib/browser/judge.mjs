// npm as the judge of installs in a page: it installs each project for the pages' platform, alone and with one package
// more, against the registry that the pages ask. Its lock is what "from npm's lock" starts from.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJudge } from '../correctness.mjs';
import { measure } from '../process.mjs';
import { projectManifest } from '../record.mjs';
import { allTools, trusting } from '../tools.mjs';
import { foldersFor, wipeAll } from '../workspace.mjs';
import { addition, targetFlags } from './target.mjs';

/**
 * @typedef {object} BrowserJudge
 * @property {string} manifest
 * @property {string} lock npm's
 * @property {import('../correctness.mjs').Judge} plain
 * @property {{ name: string, range: string, manifest: string }} addition
 * @property {import('../correctness.mjs').Judge} withAddition
 */

/** @param {string} project @param {import('../workspace.mjs').Workspace} workspace @param {import('../registry.mjs').Registry} registry
 * @returns {Promise<BrowserJudge>} */
export async function judgeInPage(project, workspace, registry) {
  const npm = allTools({ copy: '' }).find(({ name }) => name === 'npm');
  const folders = foldersFor(workspace, 'judge', project);
  const manifest = projectManifest(project);
  const added = addition(project, manifest);
  const install = async (text) => {
    writeFileSync(join(folders.project, 'package.json'), text);
    const command = [...npm.command('install', folders, registry.url), ...targetFlags];
    const environment = { ...npm.environment(folders, registry.url), ...trusting(registry.certificate) };
    const { usage, output } = await measure({ command, cwd: folders.project, environment }, workspace.folder);
    if (usage.status !== 0)
      throw new Error(
        `npm, the judge of ${project}, failed (npm run bench -- record records what it needs): ${output.trim().slice(-1000)}`,
      );
    return readJudge(folders.project);
  };
  wipeAll(workspace, folders, manifest);
  mkdirSync(folders.cache, { recursive: true });
  const plain = await install(manifest);
  const lock = readFileSync(join(folders.project, 'package-lock.json'), 'utf8');
  const judged = { manifest, lock, plain, addition: added, withAddition: await install(added.manifest) };
  workspace.moveAside(join(workspace.folder, 'judge', project));
  workspace.emptyTrash();
  return judged;
}

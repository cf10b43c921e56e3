// npm's own result for each project, made against a recording without any other registry.
import { npm, withFolders } from './programs.mjs';
import { withoutAddress } from './projects.mjs';
import { forEach, withRegistry } from './work.mjs';

/** What npm is asked to do everywhere in the suite. */
export const RESOLVE = ['install', '--package-lock-only'];

/** @param {import('./projects.mjs').Project[]} projects @param {string} recording folder @param {string} scratch
 * @returns {Promise<import('./data.mjs').Frozen[]>} */
export const judge = (projects, recording, scratch) =>
  withRegistry({ recording }, ({ url }) => forEach(projects, (project) => judgeOne(project, url, scratch)));

/** @param {import('./projects.mjs').Project} project @param {string} url @param {string} scratch
 * @returns {Promise<import('./data.mjs').Frozen>} */
export async function judgeOne(project, url, scratch) {
  const { status, output, text } = await withFolders(scratch, project, url, (folders) => npm(folders, url, RESOLVE));
  if (status === 0 && text !== undefined) return { name: project.name, text: withoutAddress(text, url) };
  return { name: project.name, error: npmError(output) };
}

/** npm's code for what went wrong. @param {string} output */
export const npmError = (output) => /^npm error code (\S+)/m.exec(output)?.[1] ?? 'ended without a lock';

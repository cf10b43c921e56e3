// npm's own result for each project, made against a recording without any other registry.
import { npm, withFolders } from './programs.mjs';
import { withoutAddress } from './projects.mjs';
import { forEach, withRegistry } from './work.mjs';

/** What npm is asked to do everywhere in the suite. */
export const RESOLVE = ['install', '--package-lock-only'];

/**
 * @param {import('./projects.mjs').Project[]} projects @param {string} recording folder @param {string} scratch
 * @returns {Promise<import('./data.mjs').Frozen[]>}
 */
export function judge(projects, recording, scratch) {
  return forEach(projects, (project) =>
    // One registry for each: it keeps in memory what it served, and raw documents are large.
    withRegistry({ recording }, ({ url }) =>
      withFolders(scratch, project, url, async (folders) => {
        const { status, output, text } = await npm(folders, url, RESOLVE);
        if (status === 0 && text !== undefined) return { name: project.name, text: withoutAddress(text, url) };
        return { name: project.name, error: npmError(output) };
      }),
    ),
  );
}

/** npm's code for what went wrong. @param {string} output */
export const npmError = (output) => /^npm error code (\S+)/m.exec(output)?.[1] ?? 'ended without a lock';

// First step of recording: everything that npm, Gantry and the peers ask for when they resolve the projects, fetched
// once from the registry that npm is configured with. What was fetched before is kept, so that a recording is of one
// time; `--refresh` begins anew.
import { mkdirSync, rmSync } from 'node:fs';
import { upstreamRegistry } from '../../../../bench/lib/record.mjs';
import { RESOLVE } from '../judge.mjs';
import { rawRecording } from '../places.mjs';
import { gantry, npm, peers, runPeer, withFolders } from '../programs.mjs';
import { forEach, say, withRegistry } from '../work.mjs';

/** @param {import('../projects.mjs').Project[]} projects @param {string} scratch @param {{ refresh: boolean }} options */
export async function take(projects, scratch, { refresh }) {
  if (refresh) rmSync(rawRecording, { recursive: true, force: true });
  mkdirSync(rawRecording, { recursive: true });
  const upstream = upstreamRegistry();
  const programs = {
    npm: (folders, url) => npm(folders, url, RESOLVE),
    gantry: (folders, url) => gantry(folders, url, process.versions.node),
    ...Object.fromEntries(peers.map((peer) => [peer.name, (folders, url) => runPeer(peer, folders, url)])),
  };
  await forEach(projects, (project) =>
    // One for each project: it keeps every document it served in memory.
    withRegistry({ recording: rawRecording, upstream }, async ({ url }) => {
      const went = [];
      for (const [name, program] of Object.entries(programs)) {
        const { status, seconds } = await withFolders(scratch, project, url, (folders) => program(folders, url));
        went.push(`${name} ${status === 0 ? '' : 'failed, '}${seconds.toFixed(0)} s`);
      }
      say(`${project.name}: ${went.join('; ')}`);
    }),
  );
}

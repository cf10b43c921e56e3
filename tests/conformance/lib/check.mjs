// One project: Gantry's lock beside npm's frozen one, npm's own word on it, and the peers' locks.
import { compareLocks, comparePeer, isFull, MEASURES } from './compare.mjs';
import { npmError, RESOLVE } from './judge.mjs';
import { entriesOf, entriesOfBun, entriesOfPnpm } from './locks.mjs';
import { gantry, npm, peers, runPeer, withFolders } from './programs.mjs';
import { withoutAddress } from './projects.mjs';

/** What Gantry calls a refusal of npm's. */
const REFUSALS = { ERESOLVE: /PEER|CONFLICT/, EBADPLATFORM: /PLATFORM/ };

/**
 * `reached` is the strongest measure that holds together with all weaker ones; `none` if not even the packages agree,
 * `refused` if npm refuses the project and Gantry does so for the same reason, `failed` if Gantry wrote no lock.
 * @typedef {object} Result
 * @property {import('./projects.mjs').Project} project
 * @property {string} reached
 * @property {number} packages in npm's lock
 * @property {string} [refusal] npm's error
 * @property {import('./compare.mjs').Scores} scores
 * @property {string[]} differences
 * @property {string} [error] Gantry's
 * @property {string} [ci] what `npm ci` says to Gantry's lock
 * @property {string[]} [missing] what `npm ci` misses in it
 * @property {string} [keeps] what `npm install` makes of Gantry's lock
 * @property {Record<string, Peer>} peers
 * @property {number} seconds that Gantry took
 */
/** @typedef {{ scores?: import('./compare.mjs').Scores, error?: string }} Peer */

/** @param {import('./projects.mjs').Project} project @param {import('./data.mjs').Frozen} frozen
 * @param {{ url: string, scratch: string, node: string, withPeers: boolean }} options @returns {Promise<Result>} */
export async function check(project, frozen, { url, scratch, node, withPeers }) {
  const result = await withFolders(scratch, project, url, async (folders) => {
    const outcome = await gantry(folders, url, node);
    const text = outcome.status === 0 ? outcome.text : undefined;
    const error = text === undefined ? gantryError(outcome.output) : undefined;
    const about = { project, error, differences: [], scores: {}, seconds: outcome.seconds, peers: {} };
    if (frozen.text === undefined) {
      const agrees = error !== undefined && REFUSALS[frozen.error]?.test(error);
      return { ...about, packages: 0, refusal: frozen.error, reached: agrees ? 'refused' : 'failed' };
    }
    const packages = entriesOf(frozen.text).length;
    if (text === undefined) return { ...about, packages, reached: 'failed' };
    const compared = compareLocks(frozen.text, withoutAddress(text, url));
    const said = await npmOnLock(folders, url, text);
    return { ...about, packages, ...compared, ...said, reached: strongest(compared.scores) };
  });
  if (withPeers && frozen.text !== undefined)
    for (const peer of peers) result.peers[peer.name] = await checkPeer(peer, project, frozen.text, url, scratch);
  return result;
}

/** @param {import('./compare.mjs').Scores} scores */
function strongest(scores) {
  const missed = MEASURES.findIndex((measure) => !isFull(scores[measure]));
  return missed === -1 ? MEASURES.at(-1) : (MEASURES[missed - 1] ?? 'none');
}

/** Whether `npm ci` accepts a lock, and whether `npm install` on top of it leaves every byte. */
async function npmOnLock(folders, url, text) {
  const ci = await npm(folders, url, ['ci', '--dry-run']);
  const kept = await npm(folders, url, RESOLVE);
  const keeps = kept.status !== 0 ? npmError(kept.output) : kept.text === text ? 'yes' : 'no';
  return { ci: ci.status === 0 ? 'yes' : npmError(ci.output), missing: missingFromLock(ci.output), keeps };
}

/** What `npm ci` says that a lock lacks. @param {string} output */
const missingFromLock = (output) =>
  [...output.matchAll(/^npm error Missing: (\S+?)@? from lock file/gm)].map(([, name]) => name);

/** The code and the message of Gantry's error, which it wraps and draws lines beside. @param {string} output */
function gantryError(output) {
  const code = /^[A-Z]+(?:_[A-Z]+)+$/m.exec(output)?.[0];
  const [, message = ''] = /^ *× (.*(?:\n +│ .*)*)/m.exec(output) ?? [];
  const line = message.replace(/\s*\n[ │]+/g, ' ').replace(/https?:\/\/127\.0\.0\.1:\d+\//g, '');
  return [code, line.slice(0, 300)].filter((part) => part).join(': ') || 'it wrote no lock';
}

/** What peers are judged by; pnpm's lock has no places. */
const PLACES = ['packages', 'versions', 'placement'];
const readers = { bun: entriesOfBun, pnpm: entriesOfPnpm, utoo: entriesOf };

/** @returns {Promise<Peer>} */
async function checkPeer(peer, project, npmText, url, scratch) {
  const { status, output, text } = await withFolders(scratch, project, url, (folders) => runPeer(peer, folders, url));
  if (status !== 0 || text === undefined) return { error: shortError(output) };
  try {
    return {
      scores: comparePeer(npmText, readers[peer.name](text), peer.name === 'pnpm' ? ['packages', 'versions'] : PLACES),
    };
  } catch (error) {
    return { error: `its lock cannot be read: ${error.message}` };
  }
}

/** The line that says most, without what differs from run to run. @param {string} output */
function shortError(output) {
  const lines = output.split('\n').map((line) => line.trim());
  const line = lines.find((text) => /\berr(or|_)/i.test(text)) ?? lines.findLast((text) => text !== '') ?? 'no lock';
  return line
    .replace(/https?:\/\/127\.0\.0\.1:\d+\//g, '')
    .replace(/\/\S*gantry-conformance-\S*/g, '…')
    .slice(0, 160);
}

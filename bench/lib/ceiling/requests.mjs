// From what a registry saw to a list that can be fetched again, and to figures.
import { spread } from '../statistics.mjs';
import { LISTS } from './lists.mjs';

/** What Gantry sends for each kind of request. */
const ACCEPT = {
  'abbreviated-packument': 'application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*',
  tarball: '*/*',
};

/** `tag`: of what is kept of it. @typedef {{ path: string, accept: string, tag?: string }} Wanted */
/**
 * One run, as the registry saw it; seconds. `concurrency`: requests under way at once on average while there was any.
 * @typedef {{ requests: number, bytes: number, busy: number, concurrency: number, most: number, p50: number, p95: number,
 *   max: number }} Seen
 */

/** The requests of a log in the order in which they came. @param {import('../registry.mjs').Entry[]} log @returns {Wanted[]} */
export function listOf(log) {
  return [...log]
    .sort((one, other) => one.started_microseconds - other.started_microseconds)
    .map(({ path, kind }) => ({ path: addressOf(path, kind), accept: ACCEPT[kind] ?? 'application/json' }));
}

/** A logged path as clients write it: the slash of a scoped name is escaped in documents, not in tarballs.
 * @param {string} path @param {string} kind */
function addressOf(path, kind) {
  const name = path.slice(1);
  if (kind === 'tarball' || !name.startsWith('@')) return name;
  return name.replace('/', '%2f');
}

/** @param {import('../registry.mjs').Counts} counts with the log @returns {Seen} */
export function seen({
  requests,
  bytes,
  busy_microseconds: busy,
  request_microseconds: sum,
  max_in_flight: most,
  log = [],
}) {
  const times = log.map((entry) => entry.microseconds / 1e6).sort((one, other) => one - other);
  const rank = (share) => times[Math.max(0, Math.ceil(times.length * share) - 1)] ?? 0;
  return {
    requests,
    bytes,
    busy: busy / 1e6,
    concurrency: busy > 0 ? sum / busy : 0,
    most,
    p50: rank(0.5),
    p95: rank(0.95),
    max: rank(1),
  };
}

/** Share of the requests by which resolving may differ from the list: documents are fetched ahead on a guess, and which
 * guesses are made depends on the order of answers. */
const GUESSES = 0.05;

/** Why a run did not fetch this list from nothing, or did not find all of it unchanged where it is kept; `undefined` if it did.
 * @param {import('../registry.mjs').Counts} counts @param {number} wanted requests @param {{ who: string, list: string }} contender */
export function fault(
  { upstream_fetches: upstream, misses, requests, not_modified: unchanged },
  wanted,
  { who, list },
) {
  if (upstream > 0) return `${upstream} fetches from upstream`;
  if (misses > 0) return `${misses} documents are not in the recording`;
  const isKept = LISTS[list]?.isKept === true;
  if (isKept && unchanged !== requests) return `${requests - unchanged} documents were sent again`;
  if (!isKept && unchanged > 0) return `${unchanged} documents were known before`;
  const allowed = who === 'ceiling' ? 0 : wanted * GUESSES;
  if (Math.abs(requests - wanted) > allowed) return `${requests} requests, expected ${wanted}`;
  return undefined;
}

/** Medians of the samples that counted, measure by measure. @param {Record<string, any>[]} samples */
export function medians(samples) {
  const counted = samples.filter(Boolean);
  const measures = Object.keys(counted[0] ?? {}).filter((measure) => typeof counted[0][measure] === 'number');
  return Object.fromEntries(
    measures.map((measure) => [measure, spread(counted.map((sample) => sample[measure]))?.median ?? 0]),
  );
}

// Unpacking tarballs: inflating, hashing, untarring and all of it, over a stream of many; natively, as wasm in Chromium, and
// by what browsers and Node bring along.
import { hasRecording } from '../lib/micro/inputs.mjs';
import { atBoth, ownCandidates, runTasks } from '../lib/micro/study.mjs';

const BENCH = 'archive';
const BROWSER = 'WebCrypto, DecompressionStream, JavaScript';

const unpacked = (input) => input.unpacked;

/** @type {(way: string, place: 'page' | 'Node') => import('../lib/micro/rounds.mjs').Candidate} */
const script = (way, place) => ({ way, place });

const tasks = [
  {
    name: 'inflate',
    what: 'inflate',
    candidates: [
      ...ownCandidates(),
      ...atBoth('flate2 GzDecoder, with CRC', 'miniz_oxide', 'zune-inflate'),
      { way: 'libdeflate', place: 'native' },
      script('DecompressionStream', 'page'),
      script('DecompressionStream', 'Node'),
      script('node:zlib', 'Node'),
    ],
    bytes: unpacked,
  },
  {
    name: 'hash',
    what: 'SHA-512 of the compressed bytes',
    candidates: [
      ...ownCandidates(),
      { way: 'gantry, 64 at a time', place: 'native' },
      { way: 'ring', place: 'native' },
      script('WebCrypto', 'page'),
      script('WebCrypto', 'Node'),
      script('node:crypto', 'Node'),
    ],
    bytes: (input) => input.bytes,
  },
  {
    name: 'untar',
    what: 'untar',
    candidates: [
      ...ownCandidates(),
      ...atBoth('tar entries_with_seek', 'tar entries'),
      script('JavaScript', 'page'),
      script('JavaScript', 'Node'),
    ],
    bytes: unpacked,
  },
  {
    name: 'extract',
    what: 'verify, inflate, untar',
    candidates: [
      ...ownCandidates(),
      ...atBoth('sha2, flate2 GzDecoder, tar'),
      script(BROWSER, 'page'),
      script(BROWSER, 'Node'),
    ],
    bytes: unpacked,
  },
];

async function provide(inputs, { full }) {
  const count = full ? 600 : 150;
  const made = [await inputs.generated(`${count} tarballs`, 'tarballs', count)];
  if (hasRecording(BENCH)) made.push(inputs.tarballs(full ? 60e6 : 20e6));
  return made;
}

/** Bytes of the archives within. */
async function describe(places, numbers) {
  const { workload } = await places.command('native', { prepare: `${BENCH}/inflate/gantry`, input: numbers.native });
  const { check } = await places.command('native', { run: workload, milliseconds: 0 });
  await places.command('native', { drop: workload });
  return { unpacked: check };
}

/** @param {Record<string, any>} options */
export async function main(options) {
  const about = [
    'A run goes through all tarballs once; MB/s are of unpacked bytes, of *hash* of compressed ones',
    '*hash*, 64 at a time: as the command does with what waits, side by side in the registers of AVX-512 where the processor has it',
    'Gantry inflates raw into one reused buffer and computes no CRC, for the hash has been verified; `flate2` is compiled with zlib-rs everywhere; zune-inflate allocates each result',
    '*untar*: Gantry copies the archive into its buffer first (it takes plain archives that way), settles duplicate names and sorts; `entries_with_seek` only finds names and places, `entries` and JavaScript read',
  ];
  await runTasks({ bench: BENCH, title: 'Unpacking tarballs', tasks, about, inputs: provide, describe }, options);
}

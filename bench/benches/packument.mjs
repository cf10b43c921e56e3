// Reading packuments: finding the versions, decoding the latest, decoding all; Gantry's scan against what else could do it,
// natively and as wasm in Chromium.
import { hasRecording, recordedNames } from '../lib/micro/inputs.mjs';
import { atBoth, ownCandidates, runTasks } from '../lib/micro/study.mjs';

const BENCH = 'packument';

/** Recorded documents that are looked at one by one, as far as they are there. */
const FAMOUS = ['typescript', '@types/node', 'react'];

/** How the labels of inputs end that are drawn; all are in the tables. */
const CHARTED = ['typescript', 'react', ' packages'];

/** @type {import('../lib/micro/rounds.mjs').Candidate[]} */
const script = [
  { way: 'JSON.parse', place: 'page' },
  { way: 'JSON.parse', place: 'Node' },
];
const bytes = (input) => input.bytes;

const tasks = [
  {
    name: 'spans',
    what: 'find every version',
    candidates: [...ownCandidates(), ...atBoth('byte table', 'serde_json RawValue', 'simd-json tape'), ...script],
    bytes,
  },
  {
    name: 'pick',
    what: 'find every version, decode the latest',
    candidates: [...ownCandidates(), ...atBoth('serde_json RawValue', 'simd-json tape'), ...script],
    bytes,
  },
  {
    name: 'all',
    what: 'decode every version',
    candidates: [...ownCandidates(), ...atBoth('serde_json typed', 'simd-json typed'), ...script],
    bytes,
  },
];

async function provide(inputs, { full }) {
  const made = [
    await inputs.generated('like typescript', 'packuments', 'typescript', 'abbreviated', 3478),
    await inputs.generated('like @types/node', 'packuments', 'types-node', 'abbreviated', 2346),
    await inputs.generated('like react', 'packuments', 'react', 'abbreviated', 2963),
    await inputs.generated('like typescript, full', 'packuments', 'typescript', 'full', 3478),
    await inputs.generated('300 packages', 'packuments', 'project', 'abbreviated', 300),
  ];
  if (full) {
    made.push(await inputs.generated('like @types/node, full', 'packuments', 'types-node', 'full', 2346));
    made.push(await inputs.generated('like react, full', 'packuments', 'react', 'full', 2963));
  }
  if (hasRecording(BENCH)) {
    const names = recordedNames();
    for (const name of FAMOUS.filter((famous) => names.includes(famous))) {
      made.push(await inputs.packuments(name, 'abbreviated', [name]));
      made.push(await inputs.packuments(`${name}, full`, 'full', [name]));
    }
    const some = full ? names : names.slice(0, 300);
    made.push(await inputs.packuments(`${some.length} packages`, 'abbreviated', some));
  }
  return made.map((input) => ({ ...input, onlyInTable: !CHARTED.some((label) => input.label.endsWith(label)) }));
}

/** @param {Record<string, any>} options */
export async function main(options) {
  const about = [
    'simd-json writes into its input: its time includes a copy of the body. serde_json RawValue splits the document into raw versions (pick: the one version is then decoded by Gantry’s own code); JSON.parse includes TextDecoder',
    'Gantry’s *all* builds npm’s normalised manifests, the others plain fields',
  ];
  await runTasks({ bench: BENCH, title: 'Reading packuments', tasks, about, inputs: provide }, options);
}

// The WASI bench as a page.
import { barChart } from '../chart.mjs';
import { times, withUnit } from '../report.mjs';
import { ratios, spread } from '../statistics.mjs';
import { studyHead, table } from '../study.mjs';

const BASE = 'native';
/** Each host that runs twice, with its second run: what lies between the two means nothing. */
const TWICE = { native: 'native, again', 'page, OPFS': 'page, OPFS, again' };

/** Names for the chart, where the row's is too long. */
const LABELS = {
  'shim, memory': 'shim',
  'shim, memory, roomy': 'shim, roomy',
  'native, fetching': 'native',
  'page, OPFS, fetching': 'page, OPFS',
};

/** What each has in its timed part, and where its files go. */
const PARTS = {
  native: {
    timed: 'the process from its start to its end: `gantry ci --offline`, as many threads as it likes',
    written: 'each file once into the store, then linked into `node_modules`',
  },
  wasmtime: {
    timed:
      'the process (Python, and machine code made beforehand), then the modes of executables, which the host sets; one thread',
    written:
      'each file twice: into the store’s pack and into `node_modules`; preview 1 tells no host to share contents',
  },
  'node:wasi': {
    timed: 'the process (Node, and compiling the module), then modes and links, which the host makes; one thread',
    written: 'as under wasmtime',
  },
  'shim, memory': {
    timed: 'in a worker of Chromium: making an instance of the compiled module and running it; one thread',
    written:
      'no files: pack and `node_modules` are both in the worker’s memory, gone with it; links are small scripts. The shim’s files have room for exactly their bytes, so each append to the pack copies all of it',
  },
  'shim, memory, roomy': {
    timed: 'as the shim',
    written:
      'as the shim, but the host gives it files for pack and journal that grow as vectors do (pages/roomy-file.js)',
  },
  'page, OPFS': {
    timed:
      '`gantry.install()` in an open store, tarballs handed over from the page’s memory; workers as the package decides',
    written: 'each file once, into packs in OPFS, flushed; `node_modules` is an index over them',
  },
  'native, fetching': {
    timed: 'as native, but from the lock that names the registry: each tarball is fetched over loopback',
    written: 'as native',
  },
  'page, OPFS, fetching': {
    timed: 'as the page, but each tarball is fetched over loopback',
    written: 'as the page',
  },
};

const of = (row, measure) =>
  spread(row.samples.map((sample) => sample?.[measure]).filter((value) => value !== undefined));
const walls = (row) => row.samples.map((sample) => sample?.wall);
const range = (own, unit) => (own ? `${unit(own.median)} (${unit(own.min)}–${unit(own.max)})` : '–');
const mega = (value) => (value / 1e6).toFixed(0);

/** @param {any} result @returns {{ text: string, charts: Record<string, string> }} */
export function wasiReport(result) {
  const { rows, project } = result;
  const base = rows.find(({ name }) => name === BASE);
  const { exact, packages, files, sampled } = project.verdict;
  const sections = [
    head(result),
    '![WASI](wasi.svg)',
    '',
    `## ${project.name}: ${project.packages} packages, ${project.files} files from ${project.tarballs} tarballs of ${(project.bytes / 1e6).toFixed(1)} MB`,
    '',
    table(
      ['host', 'wall', '÷ native', 'of it installing', 'before, not in it', 'peak MB', 'tree'],
      rows.map((row) => line(row, base, rows)),
    ),
    '',
    `**What two runs of the same show**: ${nullTests(rows)}. ≈ marks ratios to *native* within what its own second run showed.`,
    '',
    'Of it installing: by the installer’s own clock, without starting the host. Before: opening the store in the page, compiling the module in the shim’s worker. Peak memory is that of the process, of pages that of the renderer above the empty page; the shim’s and the page’s tarballs are in it.',
    '',
    `Every sample’s tree has the native command’s digest, ${project.digests.files.slice(0, 16)}… (${project.digests.registry.slice(0, 16)}… when fetching: the hidden lock repeats the addresses). The native tree beside what npm installs from the same lock: ${exact} of ${packages} packages at npm’s path and version, ${files} of ${sampled} sampled files with the tarball’s contents.`,
    '',
    '## What is timed, and what is written',
    '',
    table(
      ['host', 'timed', 'written', 'the installer’s word for it'],
      rows.filter(({ name }) => PARTS[name]).map((row) => parts(row)),
    ),
  ];
  return { text: `${sections.join('\n')}\n`, charts: { 'wasi.svg': chart(result) } };
}

function head({ versions, builds, fileSystem, recording, ...result }) {
  return studyHead(result, 'Installing under WASI hosts, natively and in a page', [
    `Trees, stores, tarballs and browser profiles on **${fileSystem}**, in folders and profiles that did not exist before`,
    `wasmtime ${versions.wasmtime} (Python wheel), Node ${result.machine.node}, @bjorn3/browser_wasi_shim ${versions.shim}, ${versions.browser}`,
    `Gantry: program ${builds.gantry}, gantry.wasm ${builds.wasi}, the page’s module ${builds.package}; recording of ${recording.date.slice(0, 10)}, digest ${recording.digest}`,
    'The lock names each tarball as a file of the project (`file:tarballs/…`), so nobody asks the network; a sample after which the registry has counted a request does not count. Rows that end in *fetching* are the exception',
    'Nothing unpacked beforehand: every store is empty. The target is Linux on wasm32 everywhere, so that the tree is the same',
  ]);
}

function line(row, base, rows) {
  const { name } = row;
  const ratio = name === BASE ? undefined : ratios(walls(row), walls(base));
  const unclear = ratio && within(ratio, rows);
  const digests = new Set(row.samples.filter(Boolean).map(({ digest }) => digest));
  return [
    name,
    range(of(row, 'wall'), withUnit),
    ratio ? `${range(ratio, times)}${unclear ? ' ≈' : ''}` : '',
    range(of(row, 'install'), withUnit),
    range(of(row, 'before'), withUnit),
    range(of(row, 'peak'), mega),
    digests.size === 1 ? 'equal' : 'DIFFERS',
  ];
}

/** Ratio of a host's second run to its first, where both are there. */
function repeated(rows, name) {
  const [first, second] = [name, TWICE[name]].map((one) => rows.find((row) => row.name === one));
  return first && second && ratios(walls(second), walls(first));
}

function within(ratio, rows) {
  const nothing = repeated(rows, BASE);
  const most = nothing ? Math.max(nothing.max, 1 / nothing.min) : 1;
  return ratio.median <= most && ratio.median >= 1 / most;
}

const nullTests = (rows) =>
  Object.keys(TWICE)
    .map((name) => [name, repeated(rows, name)])
    .map(([name, ratio]) => `*${name}* ${range(ratio, times)}`)
    .join(', ');

function parts(row) {
  const methods = new Set(row.samples.filter(Boolean).map(({ method }) => method));
  const { timed, written } = PARTS[row.name];
  return [row.name, timed, written, [...methods].join(', ')];
}

function chart({ rows, project, rounds, date, versions }) {
  const bars = (source, measure, unit) =>
    rows
      .filter((row) => row.source === source && PARTS[row.name] && of(row, measure))
      .map((row) => {
        const value = of(row, measure).median;
        return {
          label: LABELS[row.name] ?? row.name,
          value,
          note: unit(value),
          own: row.name.startsWith(BASE),
        };
      });
  const megabytes = (value) => `${mega(value)} MB`;
  const groups = [
    { label: 'Wall', detail: 'tarballs at hand, nothing fetched', bars: bars('files', 'wall', withUnit) },
    { label: 'Fetching', detail: 'each tarball over loopback', bars: bars('registry', 'wall', withUnit) },
    { label: 'Memory', detail: 'peak; shim and page hold the tarballs', bars: bars('files', 'peak', megabytes) },
  ];
  return barChart({
    title: `Installing ${project.packages} packages: native, WASI hosts, page`,
    subtitle: `Median of ${rounds}, ${date.slice(0, 10)}; ${versions.browser}. The shim writes no files. Scales differ between groups.`,
    groups: groups.filter((group) => group.bars.length > 0),
  });
}

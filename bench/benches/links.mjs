// Link shapes: packages of different shape put in place by each method that a file system allows, by the product's own
// code with all threads and with one, and by a plain loop over files on the same file system.
import { barChart } from '../lib/chart.mjs';
import { FileSystems } from '../lib/filesystems.mjs';
import { say } from '../lib/paths.mjs';
import { providePrograms } from '../lib/programs.mjs';
import { times } from '../lib/report.mjs';
import { ratios, spread } from '../lib/statistics.mjs';
import { beginStudy, buildOf, inTurn, studyHead, table } from '../lib/study.mjs';

/** The shapes that have a chart of their own. */
const CHARTED = ['1978', 'many'];

/**
 * One row of the results.
 * @typedef {{ fileSystem: string, shape: string, method: string, way: 'gantry' | 'loop', threads: number,
 *   samples: number[], impossible?: string }} Tree
 */

/** @param {Record<string, any>} options */
export async function main(options) {
  const { 'link-shapes': program } = await providePrograms();
  const systems = await FileSystems.provide(options.fs);
  try {
    const places = systems.places.map(({ name, what }) => ({ name, what }));
    const own = { program: buildOf(program), fileSystems: places, missing: systems.missing, shapes: [], trees: [] };
    const { result, save, done } = beginStudy('links', options, own, report);
    const words = (place, round, ...more) => [program, '--folder', place.folder, '--round', String(round), ...more];
    const lines = async (place, command) => {
      const text = await systems.run(place, command);
      return text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    };
    for (const { name, why } of systems.missing) say('links', `${name} is left out: ${why}`);
    for (const place of systems.places) {
      say('links', `${place.name}: filling the store`);
      result.shapes = await lines(place, words(place, 0, '--prepare'));
      await lines(place, words(place, 0));
    }
    for (let round = 0; round < result.rounds; round++) {
      say('links', `round ${round + 1} of ${result.rounds}`);
      for (const place of inTurn(systems.places, round)) {
        for (const more of inTurn(passes(result.shapes), round)) {
          for (const line of await lines(place, words(place, round + 1, ...more)))
            add(result.trees, place.name, line, round);
        }
      }
      save();
    }
    done();
  } finally {
    await systems.close();
  }
}

/** What a round runs: everything with all threads, and with one what more could share. Only Linux can be told.
 * @param {{ shape: string, packages: number }[]} shapes */
function passes(shapes) {
  const shared = shapes.filter(({ packages }) => packages > 1).map(({ shape }) => shape);
  return process.platform === 'linux' ? [[], ['--one-thread', '--shapes', shared.join(',')]] : [[]];
}

/** @param {Tree[]} trees @param {string} fileSystem @param {any} line of the program @param {number} round */
function add(trees, fileSystem, { seconds, impossible, ...kind }, round) {
  const identity = { fileSystem, ...kind };
  let tree = trees.find((other) => Object.keys(identity).every((key) => other[key] === identity[key]));
  if (!tree) {
    tree = { ...identity, samples: [] };
    trees.push(tree);
  }
  if (impossible) tree.impossible = impossible;
  else tree.samples[round] = seconds;
}

/** @param {any} result */
function report(result) {
  const { fileSystems, missing, shapes } = result;
  const lines = [
    studyHead(result, 'Link shapes', [
      `Program ${result.program} (bench/programs, through the code of crates/native)`,
      `File systems: ${fileSystems.map(({ name, what }) => `${name}: ${what}`).join('; ')}`,
      ...(missing.length > 0
        ? [`**Not available here**: ${missing.map(({ name, why }) => `${name} (${why})`).join(', ')}`]
        : []),
      'Trees go to new folders and nothing is deleted before the end',
      'µs are wall time over the number of files. *gantry* is a whole link step as an install does it: lock on the folder, probing the method, folders, files, the hidden lock, publishing by rename. *loop* makes folders and files one by one by their whole paths, one thread, and no more than that',
      '*copy* asks the kernel to copy, which shares blocks by itself where it can (btrfs, XFS)',
      'loop ÷ gantry is made round by round: **above 1 Gantry is faster**. A package is one thread’s work, so threads matter to *many* only',
    ]),
    table(
      ['shape', '', 'packages', 'files', 'MB'],
      shapes.map(({ shape, what, packages, files, bytes }) => [shape, what, packages, files, (bytes / 1e6).toFixed(1)]),
    ),
    '',
  ];
  const charts = {};
  for (const shape of CHARTED.filter((name) => shapes.some((known) => known.shape === name))) {
    charts[`links-${shape}.svg`] = chart(shape, result);
    lines.push(`![${shape}](links-${shape}.svg)`, '');
  }
  for (const { name } of fileSystems) lines.push(`## ${name}`, '', ...section(name, result), '');
  return { text: lines.join('\n'), charts };
}

/** @param {string} fileSystem @param {any} result */
function section(fileSystem, { shapes, trees }) {
  const own = trees.filter((tree) => tree.fileSystem === fileSystem);
  const find = (shape, method, way, one) =>
    own.find(
      (tree) =>
        tree.shape === shape &&
        tree.method === method &&
        tree.way === way &&
        (one === undefined || (tree.threads === 1) === one),
    );
  const rows = [];
  const impossible = new Map();
  for (const { shape, files, packages } of shapes) {
    for (const method of new Set(own.map((tree) => tree.method))) {
      const loop = find(shape, method, 'loop');
      const all = find(shape, method, 'gantry', false) ?? find(shape, method, 'gantry');
      const one = find(shape, method, 'gantry', true);
      if (all?.impossible) impossible.set(method, all.impossible);
      if (!all || all.samples.length === 0) continue;
      const ratio = loop && ratios(loop.samples, all.samples);
      const single = packages === 1 ? '–' : perFile(one, files);
      const shown = ratio ? `${times(ratio.median)} (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)})` : '–';
      rows.push([shape, method, perFile(all, files), single, perFile(loop, files), shown]);
    }
  }
  const head = ['shape', 'method', 'gantry, all threads', 'gantry, one thread', 'loop', 'loop ÷ gantry'];
  const why = [...impossible.values()].map((reason) => `${reason}.`);
  return [table(head, rows), ...(why.length > 0 ? ['', why.join(' ')] : [])];
}

/** @param {Tree | undefined} tree @param {number} files */
function perFile(tree, files) {
  const all = tree && spread(tree.samples.filter((sample) => sample !== undefined));
  if (!all) return '–';
  const micro = (seconds) => ((seconds / files) * 1e6).toFixed(1);
  return `${micro(all.median)} µs (${micro(all.min)}–${micro(all.max)})`;
}

/** @param {string} shape @param {any} result */
function chart(shape, { shapes, trees, fileSystems, rounds, date }) {
  const { files, what } = shapes.find((known) => known.shape === shape);
  const groups = fileSystems.map(({ name }) => {
    const bars = trees
      .filter((tree) => tree.fileSystem === name && tree.shape === shape && tree.samples.length > 0)
      // One thread only where it is the loop's, or where there is no more.
      .filter((tree) => tree.way === 'loop' || !trees.some((other) => isFaster(other, tree)))
      .sort((one, other) => one.method.localeCompare(other.method) || one.way.localeCompare(other.way))
      .map((tree) => {
        const value = (spread(tree.samples.filter((sample) => sample !== undefined)).median / files) * 1e6;
        const own = tree.way === 'gantry';
        return { label: tree.method, value, note: `${value.toFixed(1)} µs a file${own ? '' : ', loop'}`, own };
      });
    return { label: name, detail: '', bars };
  });
  return barChart({
    title: `Putting ${files.toLocaleString('en')} files in place: ${what}`,
    subtitle: `Wall time over files, median of ${rounds}, ${date.slice(0, 10)}; coloured: Gantry, grey: a loop over files. Scales differ.`,
    groups: groups.filter(({ bars }) => bars.length > 0),
  });
}

/** Whether it is the same with more threads. @param {Tree} other @param {Tree} tree */
const isFaster = (other, tree) =>
  ['fileSystem', 'shape', 'method', 'way'].every((key) => other[key] === tree[key]) && other.threads > tree.threads;

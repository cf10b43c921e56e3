// The pure part of resolving over the size of a project: every packument at hand, nothing fetched; generated graphs from 100
// to 3,000 packages and the recorded projects, natively and as wasm in Chromium, with what it allocates.
import { lineChart } from '../lib/line-chart.mjs';
import { hasRecording } from '../lib/micro/inputs.mjs';
import { dissenters, measureTask, medianOf, openAt } from '../lib/micro/rounds.mjs';
import { inMilliseconds, withPlaces } from '../lib/micro/study.mjs';
import { say } from '../lib/paths.mjs';
import { times } from '../lib/report.mjs';
import { ratios, spread } from '../lib/statistics.mjs';
import { beginStudy, roundsOf, studyHead, table } from '../lib/study.mjs';

const BENCH = 'resolver-curve';
const SIZES = [100, 300, 1_000, 3_000];
/** Sizes between, for a smoother curve. */
const MORE_SIZES = [200, 600, 1_300, 2_000, 5_000];
const MILLISECONDS = 100;
/** Smaller projects say nothing about the cost of a package. */
const ENOUGH = 50;

/** What is aimed at for a project of about 1,300 packages, nothing parsed before. */
const AIM = { packages: 1300, native: 30, wasm: 90, megabytes: 30 };

/** @type {('native' | 'wasm')[]} */
const places = ['native', 'wasm'];
const WAYS = { bodies: 'from the registry’s bytes', scanned: 'from scanned packuments' };

/** The resolver has no other ways; the second row of each is the null test. @type {import('../lib/micro/rounds.mjs').Candidate[]} */
const candidates = Object.keys(WAYS).flatMap((way) =>
  places.flatMap((place) =>
    way === 'bodies'
      ? [
          { way, place },
          { way, place, again: true },
        ]
      : [{ way, place }],
  ),
);

/** @param {Record<string, any>} options */
export async function main(options) {
  await withPlaces(options, async ({ inputs, places: running, builds }) => {
    const own = { builds, milliseconds: MILLISECONDS, projects: [] };
    const { result, save, done } = beginStudy(BENCH, options, own, report);
    const sizes = [...SIZES, ...(options.full ? MORE_SIZES : [])].sort((one, other) => one - other);
    const projects = [];
    for (const size of sizes) projects.push(await inputs.generated(`${size} generated`, 'project', size));
    if (hasRecording(BENCH)) projects.push(...(await inputs.projects()));
    for (const { file, ...known } of projects) {
      say(BENCH, known.label);
      const { numbers, described, close } = await openAt(running, file, places);
      const packages = (await once(running, 'native', 'resolver/packages', numbers)).check;
      const plan = {
        task: 'resolver/lock',
        candidates,
        numbers,
        rounds: roundsOf(options),
        milliseconds: MILLISECONDS,
      };
      const rows = await measureTask(running, plan);
      const memory = {};
      for (const place of places) {
        memory[place] = {};
        for (const way of Object.keys(WAYS)) memory[place][way] = await memoryOf(running, place, way, numbers);
      }
      result.projects.push({ ...known, ...described, packages, rows, memory });
      await close();
      save();
    }
    done();
  });
}

async function once(running, place, name, numbers) {
  const { workload } = await running.command(place, { prepare: name, input: numbers[place] });
  const answer = await running.command(place, { run: workload, milliseconds: 0 });
  await running.command(place, { drop: workload });
  return answer;
}

async function memoryOf(running, place, way, numbers) {
  const { workload } = await running.command(place, { prepare: `resolver/lock/${way}`, input: numbers[place] });
  const usage = await running.command(place, { memory: workload });
  await running.command(place, { drop: workload });
  return usage;
}

const mega = (bytes) => (bytes / 1e6).toFixed(bytes < 1e7 ? 2 : 1);
const find = (rows, way, place, again = false) =>
  rows.find((row) => row.way === way && row.place === place && Boolean(row.again) === again);

/** @param {any} result */
function report(result) {
  const { builds, milliseconds, projects } = result;
  const head = studyHead(result, 'Resolving alone, over the number of packages', [
    `Native program ${builds.program}, module ${builds.module} in a worker of ${builds.browser}`,
    `A sample repeats the resolution for at least ${milliseconds} ms and gives the mean; twice that ran before, unmeasured`,
    'All packuments are in memory. *From the registry’s bytes*: they are scanned on the way and nothing is parsed before, which is what the aim is about; *from scanned packuments*: the spans of the versions are known, as with a warm mirror. Both decode the manifests they look at and end with the lock’s text',
    `Aim at ${AIM.packages} packages: ${AIM.native} ms native, ${AIM.wasm} ms wasm, ${AIM.megabytes} MB beyond the packuments’ bytes`,
    'Memory is counted by the allocator in a run of its own: the most that was held at once beyond what was held before (the packuments’ bytes, and for *scanned* their spans), and how often memory was asked for',
    'Recorded projects: packages that come inside of other packages’ tarballs are left out. What npm and bun need for the same projects, process and network included, is in the resolver bench',
  ]);
  const lines = [head, `![time](${BENCH}-time.svg)`, '', `![memory](${BENCH}-memory.svg)`, ''];
  const rows = projects.map((project) => {
    const of = (way, place) => timeCell(find(project.rows, way, place));
    return [
      project.label,
      project.packages,
      mega(project.bytes),
      ...['bodies', 'scanned'].flatMap((way) => places.map((place) => of(way, place))),
    ];
  });
  const columns = Object.values(WAYS).flatMap((way) => places.map((place) => `${way}, ${place}`));
  lines.push('## Time', '', table(['project', 'packages', 'packuments MB', ...columns], rows), '');
  lines.push('Per 100 packages, from the registry’s bytes; and the null test, the same again over the first:', '');
  lines.push(
    table(
      ['project', ...places, ...places.map((place) => `again ÷ first, ${place}`), 'wasm ÷ native'],
      projects.map(perPackage),
    ),
    '',
  );
  lines.push('## Memory', '');
  const memory = projects.map(({ label, packages, memory: used }) => [
    label,
    packages,
    ...Object.keys(WAYS).flatMap((way) =>
      places.map((place) => `${mega(used[place][way].peak)} (${used[place][way].allocations})`),
    ),
  ]);
  lines.push(table(['project', 'packages', ...columns.map((column) => `${column}: MB (allocations)`)], memory), '');
  const odd = projects.filter((project) => dissenters(project.rows).length > 0).map((project) => project.label);
  lines.push(
    odd.length > 0 ? `**Locks differ between places:** ${odd.join(', ')}` : 'All places and ways wrote the same locks.',
  );
  return { text: `${lines.join('\n')}\n`, charts: charts(result) };
}

function timeCell(row) {
  const { median, min, max } = /** @type {import('../lib/statistics.mjs').Spread} */ (spread(row.samples));
  return `${inMilliseconds(median)} (${min.toFixed(1)}–${max.toFixed(1)})`;
}

function perPackage({ label, packages, rows }) {
  const each = (place) =>
    packages < ENOUGH ? '–' : inMilliseconds((medianOf(find(rows, 'bodies', place)) / packages) * 100);
  const [native, wasm] = places.map((place) => find(rows, 'bodies', place));
  const ratio = (one, other) => times(/** @type {any} */ (ratios(one.samples, other.samples)).median);
  const nulls = places.map((place) => ratio(find(rows, 'bodies', place, true), find(rows, 'bodies', place)));
  return [label, ...places.map(each), ...nulls, ratio(wasm, native)];
}

function charts({ projects, rounds, date }) {
  const kinds = /** @type {const} */ ({ native: 'own', wasm: 'other' });
  const series = (value) =>
    places.flatMap((place) =>
      ['generated', 'recorded'].map((origin) => ({
        label: `${place}, ${origin}`,
        kind: kinds[place],
        line: origin === 'generated',
        points: projects
          .filter((project) => project.origin === origin)
          .map((project) => ({ x: project.packages, y: value(project, place) })),
      })),
    );
  const shown = (value) => series(value).filter((one) => one.points.length > 0);
  const subtitle = `From the registry’s bytes to the lock’s text; median of ${rounds}, ${date.slice(0, 10)}. Dashed: the aim.`;
  const aims = (value, unit) =>
    places.map((place) => ({
      label: `${value(place)} ${unit} ${place}`,
      kind: kinds[place],
      x: AIM.packages,
      y: value(place),
    }));
  return {
    [`${BENCH}-time.svg`]: lineChart({
      title: 'Resolving alone: time',
      subtitle,
      x: 'packages in the lock',
      y: 'milliseconds',
      series: shown((project, place) => medianOf(find(project.rows, 'bodies', place))),
      aims: aims((place) => AIM[place], 'ms'),
    }),
    [`${BENCH}-memory.svg`]: lineChart({
      title: 'Resolving alone: memory beyond the packuments',
      subtitle,
      x: 'packages in the lock',
      y: 'megabytes, at most at once',
      series: shown((project, place) => project.memory[place].bodies.peak / 1e6),
      aims: [{ label: `${AIM.megabytes} MB`, kind: 'own', x: AIM.packages, y: AIM.megabytes }],
    }),
  };
}

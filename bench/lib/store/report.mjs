// The store bench as a page.
import { barChart } from '../chart.mjs';
import { withUnit } from '../report.mjs';
import { spread } from '../statistics.mjs';
import { studyHead, table } from '../study.mjs';

const counted = (row) => spread(row.samples.filter((sample) => sample !== undefined && sample !== null));
const micro = (seconds) => (seconds < 0.001 ? `${(seconds * 1e6).toFixed(0)} µs` : withUnit(seconds));
const range = (own, unit) => `${unit(own.median)} (${unit(own.min)}–${unit(own.max)})`;

/** @param {any} result @returns {{ text: string, charts: Record<string, string> }} */
export function storeReport(result) {
  const { rows, stored, projects } = result;
  const of = (kind) => rows.filter((row) => row.kind === kind);
  const sections = [
    head(result),
    '![store](store.svg)',
    '',
    `## Storing ${stored.project}: ${stored.files} files, ${(stored.bytes / 1e6).toFixed(1)} MB, ${stored.packages} packages`,
    '',
    'Only *gantry* fetches, verifies and unpacks; the others have all contents in memory and write them.',
    '',
    table(
      ['', 'wall', 'a file', 'removing it again'],
      of('write').map((row) => writing(row, of('remove'))),
    ),
    '',
    `## Reading files of about 4 KB: ${stored.reads} of them`,
    '',
    'Mean of one read. *gantry* reads on the page through `project.fs`, *gantry/read* by itself, as a service worker does, *gantry in a worker* through `gantry/sync`, *files* on the page OPFS files of the same contents by their paths. Pipelined: all asked for at once.',
    '',
    table(
      ['', 'a read'],
      of('read').map((row) => [row.name, range(counted(row), micro)]),
    ),
    '',
    '## Opening a store',
    '',
    table(['', ...result.journals.map(({ packages }) => `${packages} packages`)], opening(of('open'), result.journals)),
    '',
    ...mirrorSection(result.mirror),
    '## Installing again in a reloaded page, everything stored',
    '',
    'No request is made. Opening the store is not in it.',
    '',
    table(['project', 'packages', 'files', ...names(of('reinstall'))], reinstalling(of('reinstall'), projects)),
  ];
  return { text: `${sections.join('\n')}\n`, charts: { 'store.svg': chart(result) } };
}

/** @param {{ documents: number, bytes: Record<string, number>, opened: number[], lookedUp: number[] } | undefined} mirror */
function mirrorSection(mirror) {
  if (!mirror) return [];
  const { documents, bytes, opened, lookedUp } = mirror;
  const sizes = Object.entries(bytes).map(([name, size]) => `${name} ${(size / 1e6).toFixed(2)} MB`);
  return [
    `## Opening a mirror of ${documents} documents natively`,
    '',
    `A mirror of generated documents, in the page cache: ${sizes.join(', ')}. Opening reads its journal; a document is read when it is looked up.`,
    '',
    table(
      ['', 'wall'],
      [
        ['opened', range(spread(opened), withUnit)],
        ['opened, each document looked up and a version of it decoded', range(spread(lookedUp), withUnit)],
      ],
    ),
    '',
  ];
}

const names = (rows) => [...new Set(rows.map((row) => row.name))];

function head({ browser, module, profile, recording, journals, ...result }) {
  const sizes = journals.map(({ packages }) => packages).filter(Boolean);
  return studyHead(result, 'Operations of the store in Chromium', [
    `${browser}, profile on ${profile}; Gantry’s module ${module}; recording of ${recording.date.slice(0, 10)}, digest ${recording.digest}, on loopback`,
    `Journals of ${sizes.join(', ')} generated packages with ${journals.at(-1).files / journals.at(-1).packages} files each`,
  ]);
}

function writing(row, removed) {
  const own = counted(row);
  const gone = removed.find(
    ({ name }) => name === row.name || (row.name.startsWith('gantry') && name.startsWith('gantry')),
  );
  const removal = gone && counted(gone);
  return [row.name, range(own, withUnit), micro(own.median / row.size), removal ? withUnit(removal.median) : '–'];
}

function opening(rows, journals) {
  return names(rows).map((name) => [
    name,
    ...journals.map(({ packages }) => {
      const own = rows.find((row) => row.name === name && row.size === packages);
      return own ? range(counted(own), withUnit) : '–';
    }),
  ]);
}

function reinstalling(rows, projects) {
  return Object.entries(projects).map(([project, { packages, files }]) => [
    ...[project, packages, files],
    ...names(rows).map((name) => {
      const own = rows.find((row) => row.name === name && row.size === packages);
      return own ? range(counted(own), withUnit) : '–';
    }),
  ]);
}

function chart({ rows, stored, projects, journals, rounds, date }) {
  const bar = (row, label, unit, own) => {
    const value = counted(row).median;
    return { label, value, note: unit(value), own };
  };
  /** What bars with the same name differ by. */
  const named = (row, unit) => {
    const drawn = bar(row, short(row.name), unit, row.name.startsWith('gantry'));
    return { ...drawn, note: `${drawn.note}, ${row.name.replace(/^(gantry|files|OPFS files), /, '')}` };
  };
  const short = (name) =>
    name.startsWith('gantry') ? 'gantry' : name.startsWith('OPFS') || name.startsWith('files') ? 'files' : 'pack';
  const group = (label, detail, bars) => ({ label, detail, bars });
  const of = (kind) => rows.filter((row) => row.kind === kind);
  const groups = [
    group(
      'Storing',
      `${stored.files} files of ${stored.project}`,
      of('write').map((row) => named(row, withUnit)),
    ),
    group(
      'Reading',
      'one file of 4 KB',
      of('read').map((row) => named(row, micro)),
    ),
    group(
      'Opening',
      'the journal alone, by packages in it',
      journals.flatMap(({ packages }) => {
        const row = of('open').find((own) => own.name === 'journal alone, again' && own.size === packages);
        return row ? [bar(row, String(packages), withUnit, true)] : [];
      }),
    ),
    group(
      'Again',
      'installing in a reloaded page, everything stored',
      Object.entries(projects).flatMap(([project, { packages }]) => {
        const row = of('reinstall').find((own) => own.size === packages);
        return row ? [bar(row, project, withUnit, true)] : [];
      }),
    ),
  ];
  return barChart({
    title: 'The store in Chromium',
    subtitle: `Median of ${rounds}, ${date.slice(0, 10)}; coloured: Gantry, grey: OPFS by hand. Scales differ between groups.`,
    groups: groups.filter(({ bars }) => bars.length > 0),
  });
}

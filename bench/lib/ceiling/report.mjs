// The registry bench as a page: how far resolving is from the ceiling first, then everything that was measured.
import { barChart } from '../chart.mjs';
import { times, withUnit } from '../report.mjs';
import { ratios, spread } from '../statistics.mjs';
import { studyHead, table } from '../study.mjs';
import { medians } from './requests.mjs';

/** What resolving aims at: its wall time over the ceiling's, and how far its concurrency may be from the ceiling's. */
const AIM = { wall: 1.15, concurrency: 0.1 };

const halves = /** @type {const} */ ({ native: 'Natively', page: 'In Chromium' });
const walls = (row) => row.samples.map((sample) => sample?.wall);
const isBase = (row, list, inFlight) =>
  row.contender.who === 'ceiling' &&
  row.contender.list === list &&
  row.contender.inFlight === inFlight &&
  row.contender.stack !== 'http2';

/** @param {any} result @returns {{ text: string, charts: Record<string, string> }} */
export function registryReport(result) {
  const charts = {};
  const sections = [];
  for (const [project, record] of Object.entries(result.projects)) {
    sections.push(
      `## ${project}: ${Object.entries(record.requests)
        .map(([list, count]) => `${count} ${list === 'page' ? 'in the page' : list}`)
        .join(', ')}`,
      '',
    );
    for (const [half, title] of Object.entries(halves)) {
      const file = `registry-${project}-${half}.svg`;
      charts[file] = chart(`${project}, ${title.toLowerCase()}`, record[half], result, half);
      sections.push(`### ${title}`, '', `![${project}](${file})`, '', rowsOf(record[half], result, half), '');
      const rejected = record[half].flatMap((row) =>
        row.rejected.map((why) => `- ${row.network}, ${nameOf(row)}: ${why}`),
      );
      if (rejected.length > 0) sections.push('Samples that did not count:', '', ...rejected, '');
    }
  }
  return { text: [head(result), summary(result), '', ...sections].join('\n'), charts };
}

function head(result) {
  const { recording, slots } = result;
  return studyHead(result, 'Registry: resolving beside the ceiling', [
    `Gantry: program ${result.build}, module ${result.module}; ceiling: program ${result.program}, of the same HTTP client; ${result.browser}; projects on ${result.fileSystem}`,
    `Recording of ${recording.date.slice(0, 10)}, digest ${recording.digest}; nothing cached before any sample but where it says so`,
    `*gantry* resolves and writes a lock (natively \`install --lockfile-only\`, ${slots.native} documents under way at most; in the page the resolve phase of an install whose packages are stored, ${slots.page}). *ceiling* fetches the same requests from a list, knowing all names from the start, and parses nothing; natively a whole process as well. *N* is how many it has under way`,
    'Resolving may ask for up to 5 % more or fewer documents than the list has: it fetches some ahead on a guess, and which depends on the order of answers',
    '“documents and lock fields” is what npm’s lock needs besides: one more document for each version; natively only',
    '“documents that are kept” are asked for on condition that they have changed, and none has (`--prefer-online`, and a lock with npm’s fields, for which nobody is asked again); natively only',
    'Busy, concurrency (requests under way on average while there are any) and times of requests are the registry’s own, until it has handed over the last byte: the same instrument for both',
    '*÷ ceiling* is made round by round against the ceiling with as many under way as Gantry. *gantry-again* is the same program: what lies between the two means nothing',
  ]);
}

/** Where resolving stands, in one line for each network. @param {any} result */
function summary(result) {
  const rows = [];
  for (const [project, record] of Object.entries(result.projects)) {
    for (const [half, title] of Object.entries(halves)) {
      for (const { name, latency } of result.networks) {
        const own = record[half].filter((row) => row.network === name);
        for (const gantry of own.filter((row) => row.contender.who === 'gantry')) {
          const base = own.find((row) => isBase(row, gantry.contender.list, result.slots[half]));
          const ratio = base && ratios(walls(gantry), walls(base));
          if (!ratio) continue;
          const [mine, its] = [medians(gantry.samples), medians(base.samples)];
          const apart = mine.concurrency / its.concurrency;
          const verdict = (holds) => (holds ? '' : ' **missed**');
          rows.push([
            ...[project, title, name, gantry.contender.list, withUnit(mine.wall), withUnit(its.wall)],
            `${times(ratio.median)} (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)})${verdict(ratio.median <= AIM.wall)}`,
            `${mine.concurrency.toFixed(1)} / ${its.concurrency.toFixed(1)}${verdict(latency === 0 || apart >= 1 - AIM.concurrency)}`,
          ]);
        }
      }
    }
  }
  const aim = `Aim: wall at most ${AIM.wall} × the ceiling, concurrency at most ${AIM.concurrency * 100} % below its where there is a delay (without one the registry is done with a request before the client has read it, and its count says little).`;
  const columns = ['project', '', 'network', 'list', 'gantry', 'ceiling', '÷ ceiling', 'concurrency gantry / ceiling'];
  return `${aim}\n\n${table(columns, rows)}`;
}

function nameOf({ contender }) {
  const { who, list, stack, inFlight, clients } = contender;
  const how = [
    stack === 'http2' ? `HTTP/2, ${clients} client${clients === 1 ? '' : 's'}` : '',
    inFlight ? `${inFlight}` : '',
  ];
  const which = { 'documents and lock fields': ', with lock fields', 'documents that are kept': ', all kept' };
  return [who, ...how].filter(Boolean).join(' ') + (which[list] ?? '');
}

function rowsOf(rows, result, half) {
  const cells = rows.map((row) => {
    const wall = spread(walls(row).filter((value) => value !== undefined));
    if (!wall) return [row.network, nameOf(row), 'failed', '', '', '', '', '', '', ''];
    const base = rows.find(
      (other) => other.network === row.network && isBase(other, row.contender.list, result.slots[half]),
    );
    const ratio = base && base !== row && ratios(walls(row), walls(base));
    const { busy, concurrency, most, p50, p95, max, requests, bytes, cpu } = medians(row.samples);
    return [
      ...[row.network, nameOf(row), `${withUnit(wall.median)} (${withUnit(wall.min)}–${withUnit(wall.max)})`],
      ...[ratio ? times(ratio.median) : '–', cpu === undefined ? '–' : withUnit(cpu), withUnit(busy)],
      ...[
        `${concurrency.toFixed(1)} (${most})`,
        [p50, p95, max].map(withUnit).join(' / '),
        requests,
        (bytes / 1e6).toFixed(1),
      ],
    ];
  });
  const columns = [
    'network',
    'who',
    'wall',
    '÷ ceiling',
    'CPU',
    'busy',
    'concurrency (most)',
    'p50 / p95 / max',
    'requests',
    'MB',
  ];
  return table(columns, cells);
}

function chart(title, rows, { networks, date, rounds, slots }, half) {
  const rank = ({ contender: { who, stack, clients = 0, inFlight = 0 } }) =>
    who === 'gantry' ? -1 : (stack === 'http2' ? clients * 1e6 : 0) + inFlight;
  const groups = networks.map(({ name, latency }) => {
    const bars = rows
      .filter(
        ({ network, contender: { list, who } }) => network === name && list === 'documents' && who !== 'gantry-again',
      )
      .sort((one, other) => rank(one) - rank(other))
      .map((row) => ({ row, wall: spread(walls(row).filter((value) => value !== undefined))?.median }))
      .filter(({ wall }) => wall !== undefined)
      .map(({ row, wall }) => {
        const { concurrency } = medians(row.samples);
        const { who, inFlight, stack, clients } = row.contender;
        const label = who === 'gantry' ? 'gantry' : `${stack === 'http2' ? `h2×${clients}, ` : ''}${inFlight}`;
        const note = `${withUnit(wall)}${latency > 0 ? `, ${concurrency.toFixed(1)} under way` : ''}`;
        return { label, value: wall, note, own: who === 'gantry' };
      });
    return { label: name, detail: '', bars };
  });
  return barChart({
    title: `Resolving and its ceiling: ${title}`,
    subtitle: `Wall time, median of ${rounds}, ${date.slice(0, 10)}; grey: fetching only, by requests under way at most (Gantry: ${slots[half]}). Scales differ.`,
    groups: groups.filter(({ bars }) => bars.length > 0),
  });
}

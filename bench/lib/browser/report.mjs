// The browser bench as a page: tables for readers, one chart a project. The JSON beside it has every sample.
import { barChart } from '../chart.mjs';
import { STALE_SECONDS } from '../phases.mjs';
import { isUnclear, median, times, walls, withUnit } from '../report.mjs';
import { ratios, spread } from '../statistics.mjs';
import { browserPhases } from './samples.mjs';

const BASE = 'gantry';
const NULL_TEST = 'gantry-again';
const FLOOR = 'floor';
/** Room in a chart for the longest name. */
const NAMES = 124;

const whatIs = (name) => browserPhases.find((phase) => phase.name === name)?.what ?? '';
const mega = (value) => (value / 1e6).toFixed(value < 1e7 ? 1 : 0);
const firstLine = (text) => text.split('\n')[0].slice(0, 240).replaceAll('|', '\\|');
const counted = (own) => own.samples.filter(Boolean);
const isDone = (own) => counted(own).length > 0;

/** @param {any} result @returns {{ text: string, charts: Record<string, string> }} */
export function browserReport(result) {
  const charts = {};
  const sections = Object.entries(result.projects).map(([project, record]) => {
    charts[`browser-${project}.svg`] = chart(project, record, result);
    return section(project, record);
  });
  return { text: [head(result), ...sections, tail(result)].join('\n'), charts };
}

function head(result) {
  const { machine, network, recording } = result;
  const isolated = result.tools.filter(({ headers }) => Object.keys(headers).length > 0).map(({ name }) => name);
  const slow = result.tools.filter((tool) => tool.slow && !result.full).map(({ name }) => name);
  const rows = result.tools
    .filter(({ name }) => name !== NULL_TEST)
    .map((tool) => `| ${[tool.name, tool.version || '–', weightOf(tool), tool.remark ?? ''].join(' | ')} |`);
  return `# Installs in a page, ${result.date.slice(0, 16).replace('T', ' ')} UTC

- Machine: ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.kernel}; **load average ${machine.loadAtStart.join(' / ')} at the start, ${(machine.loadAtEnd ?? machine.loadAtStart).join(' / ')} at the end**
- ${Object.values(result.browsers).join('; ')}; headless, a profile that has never been used for every visit, on **${result.fileSystem}**
- Registry on loopback, ${network.tls ? 'over TLS, HTTP/2 offered (one connection)' : 'HTTP/1.1 (a browser keeps six connections)'}, ${network.latencyMs} ms delay, ${network.bitsPerSecond} bandwidth${network.bitsPerSecond === 'unlimited' ? '' : ' a second of each connection'}
- Gantry: module ${result.module}, tree at commit ${result.commit}; recording of ${recording.date.slice(0, 10)}, digest ${recording.digest}
- ${result.rounds} rounds in alternating order; figures are medians (min–max)${slow.length > 0 ? `; ${slow.join(', ')}, much the slowest, in the first round only (in all rounds with \`--full\`)` : ''}
- Ratios are made round by round (that tool's wall time over Gantry's): **above 1 Gantry is faster**, below 1 it is slower
- *gantry-again* is the same files at another address: its ratios show what differences mean nothing; ≈ marks ratios no further from 1 than its farthest
- *${FLOOR}*: the tarballs npm's lock needs here, fetched, hashed and inflated in ${result.workers} workers, as many as Gantry's, by the libraries Gantry uses, and in *cold* the documents of all its packages, fetched; everything is known from the start, nothing is unpacked or kept
- Cross-origin isolated pages (COOP and COEP): ${isolated.join(', ') || 'none'}; all others are plain pages. Settings and their reasons: [peers.md](../../peers.md)

| in the page | version | downloads of its page, gzip (raw) | |
|---|---|---|---|
${rows.join('\n')}
`;
}

const weightOf = ({ weight }) =>
  weight?.files ? `${mega(weight.gzip)} MB (${mega(weight.bytes)} MB, ${weight.files} files)` : '–';

function section(project, record) {
  const lines = [
    `## ${project}: ${record.packages} packages, ${record.tarballs} tarballs`,
    '',
    `![${project}](browser-${project}.svg)`,
    '',
    '| phase | tool | wall | tool ÷ gantry | start | longest main-thread task | peak MB above empty page | requests | tarballs | MB | npm’s path and version | npm’s version anywhere | others | files right | rejected |',
    '|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|',
  ];
  for (const [phase, tools] of Object.entries(record.phases)) {
    for (const [tool, own] of Object.entries(tools)) lines.push(row(phase, tool, own, record));
  }
  const rejected = Object.entries(record.phases).flatMap(([phase, tools]) =>
    Object.entries(tools).flatMap(([tool, own]) =>
      isDone(own) ? own.rejected.map((reason) => `- ${phase} ${tool}: ${firstLine(reason)}`) : [],
    ),
  );
  lines.push('', `Added: ${record.addition}.`);
  if (rejected.length > 0) lines.push('', 'Samples that did not count:', '', ...rejected);
  return `${lines.join('\n')}\n`;
}

function row(phase, tool, own, record) {
  const tools = record.phases[phase];
  if (!isDone(own)) return `| ${phase} | ${tool} | ${failure(phase, tool, record)} |${' |'.repeat(12)}`;
  const samples = counted(own);
  const wall = /** @type {import('../statistics.mjs').Spread} */ (spread(samples.map((sample) => sample.wall)));
  const ratio = tool === BASE || !tools[BASE] ? undefined : ratios(walls(own), walls(tools[BASE]));
  const unclear = ratio && tool !== NULL_TEST && isUnclear(ratio, tools) ? ' ≈' : '';
  const cells = [
    ...[phase, tool, `${withUnit(wall.median)} (${withUnit(wall.min)}–${withUnit(wall.max)})`],
    ratio ? `${times(ratio.median)} (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)})${unclear}` : '–',
    ...[known(own, 'start', withUnit), known(own, 'longestTask', taskLength), known(own, 'peakAboveEmpty', mega)],
    ...[extent(samples, 'requests'), extent(samples, 'tarballs'), mega(median(own, 'bytes') ?? 0)],
    ...verdicts(samples),
    own.rejected.length,
  ];
  return `| ${cells.join(' | ')} |`;
}

/** What a tool that has no sample said; `cold` speaks for the phases that could not follow it. */
function failure(phase, tool, record) {
  const reasons = record.phases[phase][tool].rejected;
  if (reasons.length > 0) return `**fails**: ${firstLine(reasons.at(-1))}`;
  const before = Object.entries(record.phases).find(([, tools]) => tools[tool]?.rejected.length > 0);
  return before ? `not reached: ${before[0]} fails` : 'not measured';
}

/** A measure that some browsers and phases lack. */
function known(own, measure, shown) {
  const values = counted(own).map((sample) => sample[measure]);
  const middle = spread(values.filter((value) => value !== undefined && value !== null));
  return middle ? shown(middle.median) : '–';
}

/** Shorter ones are not reported by browsers. */
const taskLength = (value) => (value === 0 ? 'under 50 ms' : withUnit(value));

function extent(samples, measure) {
  const { min, max } = /** @type {import('../statistics.mjs').Spread} */ (
    spread(samples.map((sample) => sample[measure]))
  );
  return min === max ? String(min) : `${min}–${max}`;
}

function verdicts(samples) {
  const found = samples.map(({ verdict }) => verdict).filter(Boolean);
  if (found.length === 0) return ['–', '–', '–', '–'];
  const of = (measure) => extent(found, measure);
  return [
    `${of('exact')} of ${found[0].packages}`,
    of('present'),
    of('extra'),
    `${of('files')} of ${found[0].sampled}`,
  ];
}

function chart(project, record, result) {
  const groups = Object.entries(record.phases).map(([phase, tools]) => {
    const bars = Object.entries(tools).flatMap(([tool, own]) => {
      if (!isDone(own) || tool === NULL_TEST) return [];
      const wall = median(own, 'wall') ?? 0;
      const ratio = tool === BASE || !tools[BASE] ? undefined : ratios(walls(own), walls(tools[BASE]));
      const note = `${withUnit(wall)}${ratio ? `, ${times(ratio.median)} gantry` : ''}`;
      return [{ label: tool, value: wall, note, own: tool === BASE }];
    });
    const failing = Object.keys(tools).filter((tool) => !isDone(tools[tool]));
    const detail = `${whatIs(phase)}${failing.length > 0 ? `; fails: ${failing.join(', ')}` : ''}`;
    return { label: phase, detail, bars };
  });
  const { latencyMs, bitsPerSecond } = result.network;
  const link =
    bitsPerSecond === 'unlimited' ? 'loopback' : `${latencyMs} ms and ${bitsPerSecond / 1e6} Mbit/s a connection`;
  return barChart({
    title: `${project} in a page: ${record.packages} packages`,
    subtitle: `Wall time, median of ${result.rounds}; ${link}, ${result.date.slice(0, 10)}. Scales differ between phases.`,
    groups: groups.filter(({ bars }) => bars.length > 0),
    left: NAMES,
  });
}

function tail(result) {
  const slack = [...new Set(result.tools.map((tool) => tool.slack.why).filter(Boolean))];
  return `## How the figures come about

- *wall*: from calling the installer to its answer, in the page. *start*: loading its scripts and module (from loopback) until it takes calls; once for each page, so \`added\` has none.
- *cold*, *reload*, *added* and *second* happen one after the other in one browser, *lock* in another one. Before *cold* and *lock* the origin is shown to hold nothing (lines that begin with \`[prep]\`); before *reload* and *second* they say what is held. The browser's own HTTP cache stays for these, as it would for people.
- *second* and *second-stale* install the same package.json as another project without a lock, when everything is stored: all that is left is to resolve. For *second-stale* each tool filled a profile by a cold install before the first round; each sample is a browser with a copy of it, at least ${STALE_SECONDS} s later, when browsers and installers ask the registry again what they keep (it answers 304, or with headers alone). An installer that keeps nothing has the browser's HTTP cache.
- *longest main-thread task*: the browser's \`longtask\` entries during the install; Firefox has none.
- *peak MB above empty page*: the most that the page's process ever held (\`VmHWM\` of the renderer, which counts pages shared with others) less what it held with an empty page of the same origin; workers are part of that process. For phases that begin a page only.
- *npm's path and version*, *files right*: read after the install through the tool's own interface. Judge: npm on the disk, for ${result.target.os} on ${result.target.cpu}, against the same registry; contents: the tarballs.
- A sample is thrown away if anything was missing in the frozen registry or fetched upstream, if a cold one asked for too little, if one from a lock asked for documents, or if its traffic differs from the first sample of that tool and phase.${slack.length > 0 ? ` Allowed to vary: ${slack.join('; ')}.` : ''}
`;
}

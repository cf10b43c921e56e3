// The native bench as a page: tables for readers, one chart a project. The JSON beside it has every sample.
import { barChart } from './chart.mjs';
import { whatIs } from './phases.mjs';
import { ratios, spread } from './statistics.mjs';

/** Seconds as people read them. @param {number} value */
export const withUnit = (value) =>
  value < 0.0995 ? `${(value * 1000).toFixed(value < 0.01 ? 1 : 0)} ms` : `${value.toFixed(2)} s`;
const mega = (value) => (value / 1e6).toFixed(value < 1e7 ? 1 : 0);
export const times = (value) => `${value.toFixed(value < 9.95 ? 2 : 1)} ×`;
const BASE = 'gantry';
const NULL_TEST = 'gantry-again';

/** Median of one measure over the samples that counted. */
const of = (own, measure) => spread(own.samples.filter(Boolean).map((sample) => sample[measure]));
/** @param {any} own @param {string} measure */
export const median = (own, measure) => of(own, measure)?.median;
export const walls = (own) => own.samples.map((sample) => sample?.wall);

/** @param {any} result @returns {{ text: string, charts: Record<string, string> }} */
export function nativeReport(result) {
  const charts = {};
  const sections = Object.entries(result.projects).map(([project, record]) => {
    charts[`native-${project}.svg`] = chart(project, record, result);
    return section(project, record);
  });
  return { text: [head(result), ...sections, tail(result)].join('\n'), charts };
}

/**
 * Whether a ratio's median is within what two copies of the same program showed in that phase.
 * @param {import('./statistics.mjs').Spread} ratio @param {Record<string, any>} tools
 */
export function isUnclear(ratio, tools) {
  const nothing = tools[NULL_TEST] && ratios(walls(tools[NULL_TEST]), walls(tools[BASE]));
  if (!nothing) return false;
  const most = Math.max(nothing.max, 1 / nothing.min);
  return ratio.median <= most && ratio.median >= 1 / most;
}

/** What a page opens with. @param {any} result @param {string} [title] */
export function head(result, title = 'Native command against its peers') {
  const { machine, network, recording } = result;
  return `# ${title}, ${result.date.slice(0, 16).replace('T', ' ')} UTC

- Machine: ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.kernel}; **load average ${machine.loadAtStart.join(' / ')} at the start, ${(machine.loadAtEnd ?? machine.loadAtStart).join(' / ')} at the end**
- Trees, caches and homes on **${result.fileSystem}**; registry on loopback${network.tls ? ' over TLS, HTTP/2 and HTTP/1.1 offered' : ''}, ${network.latencyMs} ms delay, ${network.bitsPerSecond} bandwidth
- Gantry: program ${result.binary}, tree at commit ${result.commit}; recording of ${recording.date.slice(0, 10)}, digest ${recording.digest}
- ${result.rounds} rounds in alternating order, one unmeasured sample before them; figures are medians (min–max)
${result.full ? '' : '- npm, much the slowest, is measured in the first round only (in all rounds with `--full`)\n'}- Ratios are made round by round (that tool's wall time over Gantry's): **above 1 Gantry is faster**, below 1 it is slower
- Warm phases: the run that filled the caches is at most ${result.freshSeconds} s old (fresh) or at least ${result.staleSeconds} s (stale)
- Tools: ${result.tools.map((tool) => `${tool.name} ${tool.version}`).join(', ')}; every setting and its reason is in [peers.md](../../peers.md)
- *gantry-again* is a copy of the same binary: its ratios show what differences mean nothing; ≈ marks ratios no further from 1 than its farthest
`;
}

function section(project, record) {
  const lines = [
    `## ${project}: ${record.packages} packages, ${record.tarballs} tarballs`,
    '',
    `![${project}](native-${project}.svg)`,
    '',
  ];
  lines.push(
    '| phase | tool | wall | tool ÷ gantry | user | sys | peak MB | switches vol./invol. | requests | tarballs | MB | rejected |',
  );
  lines.push('|---|---|---|---|---|---|---|---|---|---|---|---|');
  for (const [name, tools] of Object.entries(record.phases)) {
    for (const [tool, own] of Object.entries(tools)) lines.push(row(name, tool, own, tools));
  }
  lines.push('', 'What each tool got right. Judge: what npm installs from its own lock; contents: the tarballs.', '');
  lines.push(
    '| tool | phase | at npm’s path and version | at npm’s version anywhere | versions npm has not | sampled files right | files shared by |',
  );
  lines.push('|---|---|---|---|---|---|---|');
  for (const [tool, byPhase] of Object.entries(record.verdicts)) {
    for (const [phase, verdict] of Object.entries(byPhase)) {
      const { packages, exact, present, extra, files, sampled, links } = verdict;
      lines.push(
        `| ${tool} | ${phase} | ${exact} of ${packages} | ${present} | ${extra} | ${files} of ${sampled} | ${links} |`,
      );
    }
  }
  const reasons = Object.entries(record.phases).flatMap(([phase, tools]) =>
    Object.entries(tools).flatMap(([tool, own]) =>
      own.rejected.map((reason) => `- ${phase} ${tool}: ${firstLine(reason)}`),
    ),
  );
  if (reasons.length > 0) lines.push('', 'Samples that did not count:', '', ...reasons);
  return `${lines.join('\n')}\n`;
}

const range = ({ min, max }) => (min === max ? String(min) : `${min}–${max}`);
const firstLine = (text) => text.split('\n')[0].slice(0, 200);

function row(phase, tool, own, tools) {
  const wall = of(own, 'wall');
  if (!wall) return `| ${phase} | ${tool} | failed | | | | | | | | | ${own.rejected.length} |`;
  const middle = (measure) => median(own, measure) ?? 0;
  const ratio = tool === BASE ? undefined : ratios(walls(own), walls(tools[BASE]));
  const unclear = ratio && tool !== NULL_TEST && isUnclear(ratio, tools) ? ' ≈' : '';
  const shown = ratio ? `${times(ratio.median)} (${ratio.min.toFixed(2)}–${ratio.max.toFixed(2)})${unclear}` : '–';
  const cells = [
    ...[phase, tool, `${withUnit(wall.median)} (${withUnit(wall.min)}–${withUnit(wall.max)})`, shown],
    ...[withUnit(middle('user')), withUnit(middle('system')), mega(middle('maxRss'))],
    `${Math.round(middle('voluntarySwitches'))} / ${Math.round(middle('involuntarySwitches'))}`,
    ...[range(of(own, 'requests')), range(of(own, 'tarballs')), mega(middle('bytes')), own.rejected.length],
  ];
  return `| ${cells.join(' | ')} |`;
}

function chart(project, record, result) {
  const groups = Object.entries(record.phases).map(([name, tools]) => {
    const bars = Object.entries(tools).flatMap(([tool, own]) => {
      const wall = of(own, 'wall');
      if (!wall || tool === NULL_TEST) return [];
      const ratio = tool === BASE ? undefined : ratios(walls(own), walls(tools[BASE]));
      const note = `${withUnit(wall.median)}${ratio ? `, ${times(ratio.median)} gantry` : ''}`;
      return [{ label: tool, value: wall.median, note, own: tool === BASE }];
    });
    return { label: name, detail: whatIs(name), bars };
  });
  return barChart({
    title: `${project}: ${record.packages} packages`,
    subtitle: `Wall time, median of ${result.rounds}; ${result.fileSystem}, loopback registry, ${result.date.slice(0, 10)}. Scales differ between phases.`,
    groups: groups.filter(({ bars }) => bars.length > 0),
  });
}

function tail(result) {
  const link = Object.values(result.projects).flatMap((record) =>
    Object.values(record.phases).map((tools) => tools.gantry?.linkMethod),
  );
  const methods = [...new Set(link.filter(Boolean))].join(', ') || 'not reported';
  const added = result.recording.added.length;
  const slack = result.tools.flatMap(({ name, slack }) => slack.map(({ why }) => `${name}: ${why}`));
  return `## How samples are judged

A sample is repeated (twice at most) and then given up if the command failed, anything was missing in the frozen registry, tarballs, requests or
bytes differ from the unmeasured first sample of that tool and phase, or a cold run asked for nothing. Gantry reported as its link method: ${methods}.
${slack.length > 0 ? `Allowed to vary: ${slack.join('; ')}.\n` : ''}${added > 0 ? `\n${added} versions of other platforms' packages, missing in the registry that was recorded, are copies of another version of theirs; nothing downloads them.\n` : ''}`;
}

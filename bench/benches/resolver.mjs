// Time to write a lock, over the number of packages in it: the recorded projects from 1 to about 1,300 packages, with
// nothing cached and with warm metadata. npm is the judge of correctness in the native bench; here it is the third curve.
import { barChart } from '../lib/chart.mjs';
import { whatIs } from '../lib/phases.mjs';
import { projectNames } from '../lib/record.mjs';
import { head, median, walls, withUnit } from '../lib/report.mjs';
import { runSession } from '../lib/session.mjs';
import { ratios } from '../lib/statistics.mjs';

/** Fewer packages say nothing about the cost of one. */
const ENOUGH = 50;

/** @param {Record<string, any>} options */
export async function main(options) {
  const session = {
    bench: 'resolver',
    projects: options.projects?.split(',') ?? projectNames,
    phases: options.phases?.split(',') ?? ['p1', 'p1w'],
    tools: options.tools?.split(',') ?? ['bun', 'npm'],
    report,
  };
  await runSession(session, options);
}

/** @param {any} result */
function report(result) {
  const lines = [head(result, 'Resolving, over the number of packages')];
  const charts = {};
  const phases = Object.keys(Object.values(result.projects)[0]?.phases ?? {});
  for (const phase of phases) {
    lines.push(`## ${phase}: ${whatIs(phase)}`, '', `![${phase}](resolver-${phase}.svg)`, '');
    lines.push(
      '| project | packages | tool | wall | per 100 packages | tool ÷ gantry | requests |',
      '|---|---|---|---|---|---|---|',
    );
    const groups = [];
    for (const [project, record] of Object.entries(result.projects)) {
      const tools = record.phases[phase] ?? {};
      const bars = [];
      for (const [tool, own] of Object.entries(tools)) {
        const wall = median(own, 'wall');
        if (wall === undefined) continue;
        const ratio = tool === 'gantry' ? undefined : ratios(walls(own), walls(tools.gantry))?.median;
        const each = record.packages < ENOUGH ? '–' : withUnit((wall / record.packages) * 100);
        const times = ratio ? `${ratio.toFixed(2)} ×` : '–';
        const cells = [project, record.packages, tool, withUnit(wall), each, times, median(own, 'requests')];
        lines.push(`| ${cells.join(' | ')} |`);
        const note = `${withUnit(wall)}${ratio ? `, ${times} gantry` : ''}`;
        if (tool !== 'gantry-again') bars.push({ label: tool, value: wall, note, own: tool === 'gantry' });
      }
      if (bars.length > 0) groups.push({ label: project, detail: `${record.packages} packages`, bars });
    }
    lines.push('');
    const subtitle = `Wall time, median of ${result.rounds}, ${result.date.slice(0, 10)}. Scales differ between projects.`;
    charts[`resolver-${phase}.svg`] = barChart({ title: `Resolving: ${whatIs(phase)}`, subtitle, groups });
  }
  return { text: lines.join('\n'), charts };
}

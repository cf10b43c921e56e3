// The table: a row for each project, and a line of explanation for each that is not wholly equal.
import { isFull, MEASURES } from './compare.mjs';
import { peers } from './programs.mjs';

/** @param {import('./compare.mjs').Score | undefined} score @param {string} [measure] */
function cell(score, measure) {
  if (score === undefined) return '—';
  if (measure === 'text') return isFull(score) ? 'equal' : '**no**';
  if (isFull(score)) return `${score.wanted}`;
  return `**${score.found}/${score.wanted}**${score.extra > 0 ? ` +${score.extra}` : ''}`;
}

/** @param {string} text */
const inTable = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(inTable).join(' | ')} |`).join('\n');

/** @param {import('./check.mjs').Result} result */
function row(result) {
  const { project, refusal, packages, scores, ci, keeps, reached, error } = result;
  const head = [project.name, project.habit];
  if (refusal)
    return [
      ...head,
      `npm: ${refusal}`,
      reached === 'refused' ? 'refused as well' : '**not refused**',
      '',
      '',
      '',
      '',
      '',
      '',
    ];
  if (error) return [...head, `${packages}`, '**failed**', '', '', '', '', '', ''];
  const said = (word) => (word === 'yes' ? word : `**${word}**`);
  return [...head, `${packages}`, ...MEASURES.map((measure) => cell(scores[measure], measure)), said(ci), said(keeps)];
}

/** @param {import('./check.mjs').Result} result @param {string} name */
function peerCells(result, name) {
  const measures = name === 'pnpm' ? MEASURES.slice(1, 2) : MEASURES.slice(1, 3);
  const { scores, error } = result.peers[name] ?? {};
  if (error) return measures.map((_, index) => (index === 0 ? 'failed' : ''));
  return measures.map((measure) => cell(scores?.[measure]));
}

/** Sums of one measure over the projects that have a score. */
function total(scores, measure) {
  const all = scores.filter((one) => one?.[measure] !== undefined);
  const equal = all.filter((one) => isFull(one[measure])).length;
  const found = all.reduce((sum, one) => sum + one[measure].found, 0);
  const wanted = all.reduce((sum, one) => sum + one[measure].wanted, 0);
  return { equal, share: wanted === 0 ? '—' : `${((100 * found) / wanted).toFixed(2)} %` };
}

/** How many projects are equal, and over all projects which share of npm's packages is where npm has it. */
function summary(results) {
  const judged = results.filter(({ refusal }) => refusal === undefined);
  const refused = results.filter(({ refusal }) => refusal !== undefined);
  const names = ['gantry', ...peers.map(({ name }) => name)];
  const scoresOf = (name) => judged.map((result) => (name === 'gantry' ? result.scores : result.peers[name]?.scores));
  const rows = names
    .filter((name) => name === 'gantry' || judged.some((result) => result.peers[name]))
    .map((name) => {
      const scores = scoresOf(name).map((one) => (one && Object.keys(one).length > 0 ? one : undefined));
      const written = scores.filter((one) => one !== undefined).length;
      const cells = MEASURES.map((measure) => {
        if (!scores.some((one) => one?.[measure])) return '—';
        const { equal, share } = total(scores, measure);
        return measure === 'text' ? `${equal}` : `${equal} (${share})`;
      });
      return [name, `${written}/${judged.length}`, ...cells];
    });
  const agree = refused.filter(({ reached }) => reached === 'refused').length;
  return [
    table(['tool', 'wrote a lock', ...MEASURES.map((measure) => `${measure} equal`)], rows),
    '',
    "In brackets: the share of what is in npm's locks that is found, over the projects for which the tool wrote a lock.",
    ...(refused.length > 0 ? [`npm refuses ${refused.length} projects; Gantry refuses ${agree} of them as well.`] : []),
  ].join('\n');
}

/**
 * @param {import('./check.mjs').Result[]} results
 * @param {{ date: string, about: import('./data.mjs').About, gantry: string, explanations: Record<string, string> }} context
 */
export function report(results, { date, about, gantry, explanations }) {
  const shown = peers.filter(({ name }) => results.some((result) => result.peers[name]));
  const versions = shown.map(({ name, version }) => `, ${name} ${version}`).join('');
  const missed = results.filter(({ reached }) => reached !== 'text' && reached !== 'refused');
  const doubtful = results.filter(({ ci, keeps }) => (ci ?? 'yes') !== 'yes' || (keeps ?? 'yes') !== 'yes');
  const lines = [
    `# Conformance, ${date}`,
    '',
    `Gantry ${gantry} against npm ${about.npm} (choosing for Node ${about.node})${versions}, on ${results.length} projects`,
    `recorded ${about.recorded}: ${about.documents} documents, ${about.versions} versions, ${about.tarballs} tarballs.`,
    '',
    summary(results),
    '',
    '## Gantry',
    '',
    "A number alone: all of npm's are there and no others. `n/m +k`: n of npm's m, and k that npm has not.",
    '',
    table(['project', 'habit', 'in the lock', ...MEASURES, 'npm ci', 'npm keeps'], results.map(row)),
    '',
    '## Misses',
    '',
    missed.length === 0
      ? 'None.'
      : table(
          ['project', 'explanation', 'first differences'],
          missed.map(({ project, error, differences }) => [
            project.name,
            explanations[project.name] ?? 'not explained yet',
            error ? `\`${error}\`` : differences.join('<br>'),
          ]),
        ),
  ];
  if (doubtful.length > 0)
    lines.push(
      '',
      "## npm on Gantry's locks",
      '',
      ABSENT,
      '',
      ...doubtful.map((result) => `- ${onLock(result, explanations)}`),
    );
  if (shown.length > 0) lines.push('', '## Peers', '', peerTable(results, shown), '', ...peerErrors(results, shown));
  return `${lines.join('\n')}\n`;
}

/** Why `npm ci` may refuse what npm itself wrote. */
const ABSENT = `npm leaves an optional package out of the lock when the registry has not got it (for some platforms the recorded one had
not), and then \`npm ci\` calls it missing.`;

/** @param {import('./check.mjs').Result} result @param {Record<string, string>} explanations */
function onLock({ project, ci, missing = [], keeps, reached }, explanations) {
  const lacks = missing.length > 0 ? `, ${missing.length} missing, ${missing[0]} first` : '';
  const said = [];
  if (ci !== 'yes') said.push(`\`npm ci\` refuses it (${ci}${lacks})`);
  if (keeps !== 'yes') said.push(keeps === 'no' ? '`npm install` changes it' : `\`npm install\` refuses it (${keeps})`);
  const own = reached === 'text' ? ', as it does with its own, which is the same' : '';
  return `${project.name}: ${said.join('; ')}${own}. ${explanations[`${project.name}: npm`] ?? ''}`.trim();
}

function peerTable(results, shown) {
  const head = shown.flatMap(({ name }) =>
    name === 'pnpm' ? ['pnpm versions'] : [`${name} versions`, `${name} placement`],
  );
  const rows = results.filter(({ refusal }) => refusal === undefined);
  return table(
    ['project', 'gantry versions', 'gantry placement', ...head],
    rows.map((result) => [
      result.project.name,
      ...(result.error ? ['failed', ''] : [cell(result.scores.versions), cell(result.scores.placement)]),
      ...shown.flatMap(({ name }) => peerCells(result, name)),
    ]),
  );
}

function peerErrors(results, shown) {
  return results.flatMap((result) =>
    shown.flatMap(({ name }) => {
      const error = result.peers[name]?.error;
      return error ? [`- ${result.project.name}: ${name} fails: \`${error.replaceAll('`', "'")}\``] : [];
    }),
  );
}

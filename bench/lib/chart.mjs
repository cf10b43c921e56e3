// Grouped horizontal bars as an SVG that follows the reader's light or dark setting. Every group has a scale of its
// own: a bar's length compares tools within one group only. Bars far beyond the others are cut, with a gap.

/** @typedef {{ label: string, value: number, note: string, own?: boolean }} Bar */
/** @typedef {{ label: string, detail: string, bars: Bar[] }} Group */

/** Of every drawing. */
export const WIDTH = 760;
/** Room for the names of bars, unless a chart asks for more. */
const LEFT = 92;
/** Room for what is written behind the longest bar. */
const RIGHT = 238;
const BAR = 15;
const STEP = 20;
const HEAD = 24;
const GAP = 14;
/** A bar longer than this many times the next longest is cut. */
const CUT = 2.5;

/** @param {{ title: string, subtitle: string, groups: Group[], left?: number }} chart */
export function barChart({ title, subtitle, groups, left = LEFT }) {
  const room = WIDTH - left - RIGHT;
  const parts = [];
  let y = 62;
  for (const { label, detail, bars } of groups) {
    parts.push(text(16, y + 11, 'group', label), text(16 + 9 * label.length + 8, y + 11, 'quiet', detail));
    y += HEAD;
    const values = bars.map((bar) => bar.value).sort((one, other) => other - one);
    const scale = values.length > 1 && values[0] > values[1] * CUT ? values[1] * 1.25 : values[0];
    for (const bar of bars) {
      const cut = bar.value > scale;
      const length = Math.max(2, (Math.min(bar.value, scale) / scale) * room);
      parts.push(text(left - 8, y + 12, 'name', bar.label, 'end'));
      parts.push(
        `<rect class="${bar.own ? 'own' : 'peer'}" x="${left}" y="${y}" width="${round(length)}" height="${BAR}" rx="2"/>`,
      );
      if (cut) parts.push(`<path class="cut" d="M${left + length - 34} ${y + BAR + 2}l8 -${BAR + 4}"/>`);
      parts.push(text(left + length + 8, y + 12, 'value', bar.note));
      y += STEP;
    }
    y += GAP;
  }
  return drawing({ title, subtitle, height: y, parts });
}

/** A drawing under a title, in the reader's colours. @param {{ title: string, subtitle: string, height: number, parts: string[] }} drawn */
export function drawing({ title, subtitle, height, parts }) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escaped(title)}">
<style>
:root { --paper: #ffffff; --ink: #1c2024; --quiet: #60646c; --own: #0f7b6c; --peer: #a9b1bd }
@media (prefers-color-scheme: dark) { :root { --paper: #14171a; --ink: #edeef0; --quiet: #a0a6ae; --own: #3fc4ad; --peer: #5b6470 } }
.paper { fill: var(--paper) } .own { fill: var(--own) } .peer { fill: var(--peer) } .cut { stroke: var(--paper); stroke-width: 4 }
text { font: 12.5px ui-sans-serif, system-ui, sans-serif; fill: var(--ink) }
.title { font-size: 16px; font-weight: 600 } .group { font-weight: 600 } .quiet { fill: var(--quiet) }
.value { font-variant-numeric: tabular-nums }
</style>
<rect class="paper" width="${WIDTH}" height="${height}" rx="8"/>
${text(16, 28, 'title', title)}
${text(16, 46, 'quiet', subtitle)}
${parts.join('\n')}
</svg>
`;
}

/** Coordinates need no more. @param {number} value */
export const round = (value) => Number(value.toFixed(1));
const escaped = (value) => value.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

/** @param {number} x @param {number} y @param {string} kind @param {string} value @param {string} [anchor] */
export function text(x, y, kind, value, anchor = 'start') {
  return `<text class="${kind}" x="${round(x)}" y="${y}" text-anchor="${anchor}">${escaped(value)}</text>`;
}

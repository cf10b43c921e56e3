// Curves over a number, both axes from zero and even, so that what grows in proportion is a straight line.
import { drawing, round, text, WIDTH } from './chart.mjs';

/**
 * `line`: points are joined. `own` and `other` are the colours of the bar charts.
 * @typedef {{ label: string, kind: 'own' | 'other', line: boolean, points: { x: number, y: number, note?: string }[] }} Series
 */
/** What is aimed at: to be below `y` at `x`. @typedef {{ label: string, kind: 'own' | 'other', x: number, y: number }} Aim */

const LEFT = 64;
const RIGHT = 150;
const TOP = 84;
const ROOM = 300;
const BOTTOM = 58;
const LEGEND_STEP = 18;
const NOTE_GAP = 8;

const style = `<style>
.axis, .grid { stroke: var(--quiet); fill: none } .grid { opacity: .22 }
.line { fill: none; stroke-width: 2 } .line.own, .aim.own { stroke: var(--own) } .line.other, .aim.other { stroke: var(--peer) }
.point.own { fill: var(--own) } .point.other { fill: var(--peer) } .hollow { fill: var(--paper); stroke-width: 2 }
.hollow.own { stroke: var(--own) } .hollow.other { stroke: var(--peer) } .aim { stroke-dasharray: 5 4; stroke-width: 1.5; fill: none }
</style>`;

/** @param {{ title: string, subtitle: string, x: string, y: string, series: Series[], aims: Aim[] }} chart */
export function lineChart({ title, subtitle, x: across, y: up, series, aims }) {
  const points = series.flatMap((one) => one.points);
  const ticksX = ticks(Math.max(...[...points, ...aims].map((point) => point.x)));
  const ticksY = ticks(Math.max(...[...points, ...aims].map((point) => point.y)));
  const width = WIDTH - LEFT - RIGHT;
  const atX = (value) => LEFT + (value / ticksX[ticksX.length - 1]) * width;
  const atY = (value) => TOP + ROOM - (value / ticksY[ticksY.length - 1]) * ROOM;
  const parts = [style];
  for (const tick of ticksY) {
    parts.push(`<path class="grid" d="M${LEFT} ${round(atY(tick))}h${width}"/>`);
    parts.push(text(LEFT - 8, atY(tick) + 4, 'quiet', String(tick), 'end'));
  }
  for (const tick of ticksX) parts.push(text(atX(tick), TOP + ROOM + 18, 'quiet', String(tick), 'middle'));
  parts.push(`<path class="axis" d="M${LEFT} ${TOP}v${ROOM}h${width}"/>`);
  parts.push(
    text(LEFT + width / 2, TOP + ROOM + 38, 'quiet', across, 'middle'),
    text(LEFT - 48, TOP - 14, 'quiet', up),
  );
  for (const { label, kind, x, y } of aims) {
    parts.push(`<path class="aim ${kind}" d="M${LEFT} ${round(atY(y))}H${round(atX(x))}V${TOP + ROOM}"/>`);
    parts.push(text(atX(x) + NOTE_GAP, atY(y) + 4, 'quiet', label));
  }
  for (const { kind, line, points: own } of series) {
    const sorted = [...own].sort((one, other) => one.x - other.x);
    const path = sorted.map(({ x, y }) => `${round(atX(x))} ${round(atY(y))}`).join('L');
    if (line && sorted.length > 1) parts.push(`<path class="line ${kind}" d="M${path}"/>`);
    for (const { x, y, note } of sorted) {
      parts.push(mark(line, kind, atX(x), atY(y)));
      if (note) parts.push(text(atX(x) - NOTE_GAP, atY(y) - NOTE_GAP, 'value', note, 'end'));
    }
  }
  for (const [row, { label, kind, line }] of series.entries()) {
    const y = TOP + 8 + row * LEGEND_STEP;
    parts.push(mark(line, kind, WIDTH - RIGHT + 18, y - 4), text(WIDTH - RIGHT + 28, y, 'name', label));
  }
  return drawing({ title, subtitle, height: TOP + ROOM + BOTTOM, parts });
}

/** Filled where points are joined. @param {boolean} line @param {string} kind @param {number} x @param {number} y */
const mark = (line, kind, x, y) =>
  `<circle class="${line ? 'point' : 'hollow'} ${kind}" cx="${round(x)}" cy="${round(y)}" r="4"/>`;

/** About five round numbers from zero to at least `most`. @param {number} most */
export function ticks(most) {
  const rough = Math.max(most, Number.MIN_VALUE) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
  const count = Math.ceil(most / step);
  return Array.from({ length: count + 1 }, (_, index) => Number((index * step).toPrecision(12)));
}

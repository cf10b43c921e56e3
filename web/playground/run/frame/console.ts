/** A project that prints: what it says to the console is shown in the frame. */
import { inspect } from './inspect.js';
import { reportErrors } from './page.js';

const style = `
body { margin: 0; background: light-dark(#fff, #14171c); color: light-dark(#171b22, #e9ebef); }
#output { font: 13px/1.6 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
#output pre { margin: 0; padding: 7px 18px; font: inherit; white-space: pre-wrap; overflow-wrap: anywhere; border-bottom: 1px solid light-dark(#e7e9ed, #242931); }
#output pre[data-level='warn'] { color: light-dark(#8a5a00, #ffcf66); }
#output pre[data-level='error'] { color: light-dark(#b3261e, #ff8a80); }
`;

export function begin(): void {
  reportErrors();
  mirrorConsole(addOutput(document.body));
}

/** Gives the function that adds a line. */
export function addOutput(parent: HTMLElement): (level: string, text: string) => void {
  const sheet = document.createElement('style');
  sheet.textContent = style;
  const output = document.createElement('div');
  output.id = 'output';
  output.setAttribute('role', 'log');
  parent.append(sheet, output);
  return (level, text) => {
    const line = document.createElement('pre');
    line.dataset.level = level;
    line.textContent = text;
    output.append(line);
  };
}

export function mirrorConsole(add: (level: string, text: string) => void): void {
  for (const level of ['debug', 'log', 'info', 'warn', 'error'] as const) {
    const original = console[level];
    console[level] = (...values: unknown[]) => {
      original.apply(console, values);
      add(level, values.map((value) => inspect(value)).join(' '));
    };
  }
}

// The command beside a test that goes on: started, sent a signal, and told how it ended.
import { spawn } from 'node:child_process';
import { gantryCommand } from '../programs.mjs';

/** Milliseconds that every command has to end in, also on a busy machine. */
const PATIENCE = 30_000;

/**
 * Runs a command in `folder` and sends it `signal`, if there is one, so many milliseconds after it began. Resolves to its exit
 * status, the signal that ended it, its lines of JSON, what else it printed, and whether it had to be ended.
 */
export function runCommand(folder, environment, { words, signal, after }) {
  const began = performance.now();
  const child = spawn(gantryCommand, [...words, '--json'], { cwd: folder, env: environment });
  const [out, errors] = [collected(child.stdout), collected(child.stderr)];
  let isLate = false;
  const patience = setTimeout(() => {
    isLate = true;
    child.kill('SIGKILL');
  }, PATIENCE);
  const timer = signal && setTimeout(() => child.kill(signal), after);
  return new Promise((settle, fail) => {
    child.on('error', fail);
    child.on('close', (status, endedBy) => {
      clearTimeout(patience);
      clearTimeout(timer);
      const milliseconds = Math.round(performance.now() - began);
      settle({ status, endedBy, isLate, milliseconds, stderr: errors(), ...linesOf(out()) });
    });
  });
}

/** All that a stream has said by the time this is called. */
function collected(stream) {
  let text = '';
  stream.setEncoding('utf8').on('data', (piece) => {
    text += piece;
  });
  return () => text;
}

/** Lines of JSON, and those that are none. */
function linesOf(text) {
  const [lines, otherLines] = [[], []];
  for (const line of text.split('\n').filter(Boolean)) {
    try {
      lines.push(JSON.parse(line));
    } catch {
      otherLines.push(line);
    }
  }
  return { lines, otherLines };
}

// The command beside a test that goes on: started, sent a signal, and told how it ended.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gantryCommand } from '../programs.mjs';

/** Milliseconds that every command has to end in, also on a busy machine. */
const PATIENCE = 30_000;

/**
 * Runs a command in `folder` and sends it `signal`, if there is one, so many milliseconds after it began. Resolves to its exit
 * status, the signal that ended it, its lines of JSON, what else it printed, and whether it had to be ended. `disturb` is told
 * the process that was started. `command`: where it is; `identity`: whose process it is to be.
 */
export function runCommand(folder, environment, { words, signal, after, disturb, command = gantryCommand, identity }) {
  const began = performance.now();
  const child = spawn(command, [...words, '--json'], { cwd: folder, env: environment, ...identity });
  const [out, errors] = [collected(child.stdout), collected(child.stderr)];
  let isLate = false;
  const patience = setTimeout(() => {
    isLate = true;
    child.kill('SIGKILL');
  }, PATIENCE);
  const timer = signal && setTimeout(() => child.kill(signal), after);
  disturb?.(child);
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

/** The shell of a terminal is told that it goes, tells the command, as shells do, and then how that ended. */
const SHELL = [
  'echo begun > "$STATUS_FILE"; "$0" "$@" &',
  "trap 'kill -HUP $!' HUP; wait $!; status=$?",
  'while kill -0 $! 2> /dev/null; do wait $!; status=$?; done; echo $status > "$STATUS_FILE"',
].join('\n');
let terminals = 0;
const wait = (milliseconds) => new Promise((settle) => setTimeout(settle, milliseconds));

/** Runs a command on a terminal that is closed so many milliseconds later. What it says is lost with it. */
export async function runOnTerminal(folder, environment, { words, after, scratch }) {
  const began = performance.now();
  terminals += 1;
  const statusFile = join(scratch, `status-${terminals}`);
  const line = ['sh', '-c', SHELL, gantryCommand, ...words]
    .map((word) => `'${word.replaceAll("'", "'\\''")}'`)
    .join(' ');
  const terminal = spawn('script', ['--quiet', '--flush', '--command', line, '/dev/null'], {
    cwd: folder,
    env: { ...environment, STATUS_FILE: statusFile },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const elapsed = () => performance.now() - began;
  const said = () => (existsSync(statusFile) ? readFileSync(statusFile, 'utf8').trim() : '');
  const hears = async (pattern) => {
    while (!pattern.test(said()) && elapsed() < PATIENCE) await wait(5);
    return pattern.test(said());
  };
  await Promise.race([hears(/./), new Promise((_, fail) => terminal.on('error', fail))]);
  await wait(after);
  terminal.kill('SIGKILL');
  const isLate = !(await hears(/^\d+$/));
  const status = isLate ? null : Number(said());
  return { status, endedBy: null, isLate, milliseconds: Math.round(elapsed()), stderr: '', lines: [], otherLines: [] };
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

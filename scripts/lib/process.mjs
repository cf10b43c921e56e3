// Running other programs: output goes straight through, standard input is closed (nothing may wait for an
// answer), a failure is an error that names the command. Children die with a time-out and with this process.
import { spawn } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { root } from './paths.mjs';

const children = new Set();
let interruption;
/** The signal that this process was told to end with, or undefined. Nothing is started after it. */
export const interruptedBy = () => interruption;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    interruption = signal;
    for (const child of children) child.kill(signal);
    process.exitCode = signal === 'SIGINT' ? 130 : 143;
  });
}

/** A command that ended badly; `code` is its exit status, or undefined when it never started. */
export class CommandFailed extends Error {
  constructor(command, reason, { code, output, shown }) {
    super(`${command}: ${reason}`);
    this.name = 'CommandFailed';
    this.code = code;
    /** What it wrote, and whether that has been shown already. */
    this.output = output;
    this.shown = shown;
  }
}

/** One line about what the scripts are doing, on standard error. */
export function say(area, message) {
  process.stderr.write(`[${area}] ${message}\n`);
}

/**
 * Runs a command and resolves to what it wrote.
 * - `output`: `'inherit'` (default) shows it, `'tee'` shows and keeps it, `'quiet'` only keeps it.
 * - `environment`: variables on top of this process's; `undefined` removes one.
 * - `seconds`: kill it after this time.
 */
export function run(command, args = [], { output = 'inherit', environment = {}, cwd = root, seconds } = {}) {
  const shown = [command, ...args].join(' ');
  const variables = { ...process.env, ...environment };
  for (const [name, value] of Object.entries(variables)) if (value === undefined) delete variables[name];
  const sink = output === 'inherit' ? 'inherit' : 'pipe';
  return new Promise((resolve, reject) => {
    if (interruption) {
      reject(new CommandFailed(shown, `not started after ${interruption}`, { output: '', shown: true }));
      return;
    }
    const child = spawn(command, args, { cwd, env: variables, stdio: ['ignore', sink, sink] });
    children.add(child);
    let text = '';
    let timedOut = false;
    const timer =
      seconds &&
      setTimeout(() => {
        timedOut = true;
        child.kill('SIGTERM');
        setTimeout(() => child.kill('SIGKILL'), 5000).unref();
      }, seconds * 1000);
    const finish = (settle) => {
      clearTimeout(timer);
      children.delete(child);
      settle();
    };
    const failed = (reason, code) =>
      new CommandFailed(shown, reason, { code, output: text, shown: output !== 'quiet' });
    const keep = (shownOn) => (chunk) => {
      text += chunk;
      if (output === 'tee') shownOn.write(chunk);
    };
    child.stdout?.setEncoding('utf8').on('data', keep(process.stdout));
    child.stderr?.setEncoding('utf8').on('data', keep(process.stderr));
    child.on('error', (error) => finish(() => reject(failed(error.message))));
    child.on('close', (code, signal) =>
      finish(() => {
        if (code === 0) return resolve(text);
        const reason = timedOut ? `no end after ${seconds} s` : signal ? `ended by ${signal}` : `exit status ${code}`;
        reject(failed(reason, code ?? undefined));
      }),
    );
  });
}

/** Whether a command can be started at all. */
export async function exists(command) {
  try {
    await run('sh', ['-c', 'command -v "$0"', command], { output: 'quiet' });
    return true;
  } catch {
    return false;
  }
}

/** Runs `work` and says how long it took. */
export async function timed(area, message, work) {
  const start = performance.now();
  const result = await work();
  say(area, `${message} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
  return result;
}

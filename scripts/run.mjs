#!/usr/bin/env node
// The one entry of the project's commands: `node scripts/run.mjs <command> [words]`, behind `npm start`, `npm test`,
// `npm run build` and so on. It works in a fresh clone: nothing here may be imported from node_modules before
// the commands have run `npm ci`.
import { CommandFailed, interruptedBy, say } from './lib/process.mjs';
import { StepsFailed } from './lib/steps.mjs';

const commands = {
  start: 'set up, build the WebAssembly modules, serve the playground',
  build: 'the native command, the WebAssembly module, the WASI command, the site in dist/, the npm package in web/',
  test: 'everything, or only the named parts (rust, types, scripts, cli, wasi, conformance, browser)',
  'kill-matrix': 'end workers, pages and browsers at some two hundred moments, and write down what is found',
  lint: 'formatting, lints for native and WebAssembly, types, the checks of xtask',
  record: 'record the registry documents and tarballs that the tests replay',
  forecast: 'ask the registry what its most used packages depend on, for crates/forecast',
  setup: 'install and build what the tests need, without running them',
  'check-macos': 'type-check the Rust code for macOS',
};

const [name, ...words] = process.argv.slice(2);
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  say('gantry', `Node ${process.versions.node} is too old: 20.19 or newer is needed`);
  process.exit(1);
}
if (!Object.hasOwn(commands, name ?? '')) {
  const width = Math.max(...Object.keys(commands).map((command) => command.length));
  for (const [command, what] of Object.entries(commands)) console.log(`  ${command.padEnd(width)}  ${what}`);
  process.exit(name === undefined ? 0 : 2);
}
try {
  const command = await import(`./commands/${name}.mjs`);
  await command.main(words);
} catch (error) {
  const expected = error instanceof CommandFailed || error instanceof StepsFailed || error.constructor === Error;
  // Ctrl-C is how the playground's server is meant to end.
  const asked = name === 'start' && interruptedBy();
  if (!asked) say(name, expected ? error.message : error.stack);
  if (error.output && !error.shown) process.stderr.write(error.output);
  process.exitCode ||= 1;
}

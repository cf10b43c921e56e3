// QuickJS where `npm test -- wasi` has put it.
import { readFileSync } from 'node:fs';
import * as shim from '@bjorn3/browser_wasi_shim';
import { runEngine } from './engine.mjs';

/** The engine's file. */
export function quickJs() {
  const path = process.env.GANTRY_QUICKJS;
  if (!path)
    throw new Error('QuickJS is missing: GANTRY_QUICKJS names no qjs-wasi-reactor.wasm (see npm test -- wasi)');
  return path;
}

let compiled;

/** Runs it in this process. */
export async function runQuickJs(words, folders) {
  compiled ??= await WebAssembly.compile(readFileSync(quickJs()));
  return runEngine(shim, compiled, words, folders);
}

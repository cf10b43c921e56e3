// What memfs expects to find in Node.
import 'setimmediate';
import { Buffer } from 'buffer';
import process from 'process/browser';

Object.assign(globalThis, { Buffer, process, global: globalThis });

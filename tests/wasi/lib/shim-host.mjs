// The host in memory, with the shim as npm brings it.
import * as shim from '@bjorn3/browser_wasi_shim';
import { hostOver } from './memory-host.mjs';

export const { runInMemory, memoryFolder, pathsIn, fileIn, copyOf } = hostOver(shim);

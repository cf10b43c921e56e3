// WASI: the same install natively, under wasmtime, under node:wasi, under the browser shim over memory, and by Gantry's own
// package in a page. Everything at hand, nothing unpacked; each tree's digest is compared with the native command's.
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { gantryModuleDigest } from '../lib/browser/pages.mjs';
import { gantryCommand, say } from '../lib/paths.mjs';
import { providePeers } from '../lib/peers.mjs';
import { recordingStamp } from '../lib/record.mjs';
import { Registry } from '../lib/registry.mjs';
import { beginStudy, buildOf, inTurn } from '../lib/study.mjs';
import { native, nodeWasi, provideWasmtime, wasiModule, wasmtime } from '../lib/wasi/hosts.mjs';
import { PageHosts, shimVersion } from '../lib/wasi/page.mjs';
import { Project } from '../lib/wasi/project.mjs';
import { wasiReport } from '../lib/wasi/report.mjs';
import { Workspace } from '../lib/workspace.mjs';

/** 553 packages, all of them among those of cra5, so that its recording has them. */
const PROJECT = 'webpack-jest';

/** @param {Record<string, any>} options */
export async function main(options) {
  const stamp = recordingStamp();
  if (!stamp) throw new Error('the recording is missing or of other projects: npm run bench -- record');
  const [name = PROJECT, ...others] = options.projects?.split(',') ?? [];
  if (others.length > 0) throw new Error('one project at a time');
  providePeers();
  const machineCode = await provideWasmtime();
  const builds = { gantry: buildOf(gantryCommand()), wasi: buildOf(wasiModule()), package: gantryModuleDigest() };
  const workspace = Workspace.create(options.fs);
  const registry = await Registry.start();
  let pages;
  try {
    say('wasi', `${name}: lock, tarballs, and npm as the judge`);
    const project = await Project.prepare(name, workspace, registry);
    pages = await PageHosts.start(project);
    const copy = join(workspace.folderFor('bin'), 'gantry');
    copyFileSync(gantryCommand(), copy);
    const hosts = [
      native(project, 'native', 'files'),
      wasmtime(project, machineCode.python),
      nodeWasi(project),
      pages.shim('shim, memory', { roomy: false }),
      pages.shim('shim, memory, roomy', { roomy: true }),
      pages.package('page, OPFS', 'files'),
      native(project, 'native, fetching', 'registry'),
      pages.package('page, OPFS, fetching', 'registry'),
      pages.package('page, OPFS, again', 'files'),
      native(project, 'native, again', 'files', copy),
    ];
    const { packages, files, bytes, tarballs, verdict, digests } = project;
    const own = {
      project: { name, packages, files, bytes, tarballs: tarballs.length, verdict, digests },
      fileSystem: workspace.fileSystem,
      recording: stamp,
      builds,
      versions: { wasmtime: machineCode.version, shim: shimVersion(), browser: '' },
      rows: hosts.map((host) => ({ name: host.name, source: host.source, samples: [] })),
    };
    const { result, save, done } = beginStudy('wasi', options, own, wasiReport);
    for (let round = -1; round < result.rounds; round++) {
      say('wasi', round < 0 ? 'warming up' : `round ${round + 1} of ${result.rounds}`);
      for (const host of inTurn(hosts, Math.max(round, 0))) {
        const sample = await sampled(host, project, registry);
        if (round < 0) say('prep', `${host.name}: ${sample.prepared}`);
        else result.rows.find((row) => row.name === host.name).samples[round] = sample;
      }
      result.versions.browser = pages.version;
      if (round >= 0) save();
    }
    done();
  } finally {
    await pages?.close();
    await registry.close();
    workspace.remove();
  }
}

/** One sample, which is nothing unless it made the right tree out of what it should be made of. */
async function sampled(host, project, registry) {
  const place = host.place();
  await registry.reset();
  const { result, digest, ...figures } = await host.sample(place);
  const { requests, tarballs, misses, upstream_fetches: upstream, bytes } = await registry.counts();
  const fail = (problem) => {
    throw new Error(`${host.name}: ${problem}`);
  };
  const expected = host.source === 'registry' ? project.tarballs.length : 0;
  if (requests !== expected || tarballs !== expected || misses + upstream > 0)
    fail(`${requests} requests, ${tarballs} tarballs, ${misses} misses; expected ${expected} tarballs and no more`);
  if (digest !== project.digests[host.source])
    fail(`the tree's digest is ${digest}, not ${project.digests[host.source]}`);
  if (result.reused > 0) fail(`${result.reused} packages were in the store before`);
  if (result.packages !== project.packages || result.files !== project.files)
    fail(`${result.packages} packages and ${result.files} files, not ${project.packages} and ${project.files}`);
  return { ...figures, method: result.method, requests, bytes, digest: digest.slice(0, 16), prepared: place.prepared };
}

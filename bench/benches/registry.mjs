// The ceiling of the registry: a client without a resolver fetches the documents that a project needs, and Gantry's resolve
// phase runs beside it; natively and in Chromium, on loopback, with a delay, and with a delay and limited bandwidth.
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { gantryModuleDigest } from '../lib/browser/pages.mjs';
import { LISTS } from '../lib/ceiling/lists.mjs';
import { NativeRuns, PRODUCT_IN_FLIGHT } from '../lib/ceiling/native.mjs';
import { PAGE_IN_FLIGHT, PageRuns } from '../lib/ceiling/page.mjs';
import { registryReport } from '../lib/ceiling/report.mjs';
import { gantryCommand, say } from '../lib/paths.mjs';
import { providePrograms } from '../lib/programs.mjs';
import { projectManifest, recordingStamp } from '../lib/record.mjs';
import { Registry } from '../lib/registry.mjs';
import { beginStudy, buildOf, inTurn } from '../lib/study.mjs';
import { allTools } from '../lib/tools.mjs';
import { Workspace } from '../lib/workspace.mjs';

/** @typedef {{ name: string, latency: number, bandwidth: number, tls: boolean }} Network */

/** @param {boolean} tls @returns {Network[]} */
const networks = (tls) =>
  [
    { name: 'loopback', latency: 0, bandwidth: 0 },
    { name: '30 ms', latency: 30, bandwidth: 0 },
    { name: '50 ms, 200 Mbit/s a connection', latency: 50, bandwidth: 200e6 },
  ].map((network) => ({ ...network, tls, name: tls ? `${network.name}, TLS` : network.name }));

/** Lists by what is fetched. */
const [DOCUMENTS] = Object.keys(LISTS);

/** @param {boolean} tls @returns {import('../lib/ceiling/native.mjs').Contender[]} */
const natively = (tls) => [
  ...Object.keys(LISTS).flatMap((list) => [
    { who: 'gantry', list },
    { who: 'ceiling', list, stack: 'product', inFlight: PRODUCT_IN_FLIGHT },
  ]),
  ...[16, 32, 64, 256].map((inFlight) => ({ who: 'ceiling', list: DOCUMENTS, stack: 'product', inFlight })),
  // HTTP/2 needs TLS to be offered as registries offer it.
  ...(tls ? [1, 4] : []).flatMap((clients) =>
    [64, 256].map((inFlight) => ({ who: 'ceiling', list: DOCUMENTS, stack: 'http2', inFlight, clients })),
  ),
  { who: 'gantry-again', list: DOCUMENTS },
];

/** @returns {import('../lib/ceiling/native.mjs').Contender[]} */
const inPage = () => [
  { who: 'gantry', list: DOCUMENTS },
  ...[PAGE_IN_FLIGHT, 6, 96].map((inFlight) => ({ who: 'ceiling', list: DOCUMENTS, stack: 'fetch', inFlight })),
  { who: 'gantry-again', list: DOCUMENTS },
];

/** @param {Record<string, any>} options */
export async function main(options) {
  const stamp = recordingStamp();
  if (!stamp) throw new Error('the recording is missing or of other projects: npm run bench -- record');
  const { 'registry-ceiling': program } = await providePrograms();
  const projects = options.projects?.split(',') ?? ['vite-react', 'next15', ...(options.full ? ['cra5'] : [])];
  const workspace = Workspace.create(options.fs);
  const started = [];
  let pages;
  try {
    const copy = join(workspace.folderFor('bin'), 'gantry');
    copyFileSync(gantryCommand(), copy);
    const native = new NativeRuns({ workspace, tools: allTools({ copy }), program });
    pages = await new PageRuns(workspace).start();
    const chosen = options.tls ? networks(true) : [...networks(false), ...(options.full ? networks(true) : [])];
    for (const network of chosen) started.push({ network, registry: await startRegistry(network, workspace) });
    const own = {
      build: buildOf(gantryCommand()),
      module: gantryModuleDigest(),
      program: buildOf(program),
      fileSystem: workspace.fileSystem,
      recording: stamp,
      networks: chosen,
      slots: { native: PRODUCT_IN_FLIGHT, page: PAGE_IN_FLIGHT },
      browser: '',
      projects: {},
    };
    const { result, save, done } = beginStudy('registry', options, own, registryReport);
    for (const project of projects) {
      const manifest = projectManifest(project);
      const record = { requests: {}, native: [], page: [] };
      result.projects[project] = record;
      say('registry', `${project}: learning what it needs`);
      record.requests = await native.learn(project, manifest, started[0].registry);
      record.requests.page = await pages.learn(manifest, started[0].registry);
      result.browser = pages.version;
      const halves = [
        {
          rows: record.native,
          contenders: natively,
          take: (...words) => native.take(words[0], project, ...words.slice(1)),
        },
        { rows: record.page, contenders: inPage, take: (...words) => pages.take(...words) },
      ];
      // The round before the first is not measured.
      for (let round = -1; round < result.rounds; round++) {
        say('registry', `${project}: ${round < 0 ? 'warming up' : `round ${round + 1} of ${result.rounds}`}`);
        for (const { network, registry } of inTurn(started, Math.max(round, 0))) {
          for (const { rows, contenders, take } of halves) {
            for (const contender of inTurn(contenders(network.tls), Math.max(round, 0))) {
              await once({ rows, contender, network, round, take: () => take(contender, manifest, registry) });
            }
          }
        }
        save();
      }
    }
    done();
  } finally {
    await pages?.close();
    for (const { registry } of started) await registry.close();
    workspace.remove();
  }
}

/** @param {Network} network @param {Workspace} workspace */
function startRegistry({ name, latency, bandwidth, tls }, workspace) {
  const certificate = tls ? join(workspace.folder, `${name.replace(/\W+/g, '-')}.pem`) : undefined;
  return Registry.start({ latency, bandwidth, certificate });
}

/** Takes a sample and keeps it in its row; once more if it does not count. */
async function once({ rows, contender, network, round, take }) {
  const same = (row) => row.network === network.name && JSON.stringify(row.contender) === JSON.stringify(contender);
  let row = rows.find(same);
  if (!row) {
    row = { network: network.name, contender, samples: [], rejected: [] };
    rows.push(row);
  }
  for (let attempt = 0; attempt < 2; attempt++) {
    const { sample, rejected } = await take();
    if (round >= 0 && rejected) row.rejected.push(rejected);
    if (rejected) say('reject', `${network.name} ${JSON.stringify(contender)}: ${rejected}`);
    if (round >= 0) row.samples[round] = sample ?? null;
    if (sample) return;
  }
}

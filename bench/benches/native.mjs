// The native command against its peers: p0 to p4, interleaved, every sample checked against the registry's counts.
import { phases } from '../lib/phases.mjs';
import { projectNames } from '../lib/record.mjs';
import { nativeReport } from '../lib/report.mjs';
import { runSession } from '../lib/session.mjs';

/** @param {Record<string, any>} options */
export async function main(options) {
  const usual = phases.filter((phase) => options.full || !phase.agedFrom).map((phase) => phase.name);
  const session = {
    bench: 'native',
    projects: options.projects?.split(',') ?? projectNames.filter((name) => name !== 'lodash'),
    phases: options.phases?.split(',') ?? usual,
    tools: options.tools?.split(','),
    report: nativeReport,
  };
  await runSession(session, options);
}

// `npm run forecast`: asks the registry that npm is configured with what its most used packages depend on, and writes the table
// from which the command foretells names (crates/forecast).
import { writeFileSync } from 'node:fs';
import { installDependencies, npm } from '../lib/npm.mjs';
import { inRoot } from '../lib/paths.mjs';
import { say } from '../lib/process.mjs';

/** Of the packages with the most downloads, and of those that most others depend on, how many the table begins with. */
const DOWNLOADED = 3_000;
const DEPENDED_ON = 1_500;
const ATTEMPTS = 3;

export async function main() {
  await installDependencies();
  const { npmTopDependents, npmTopDownloads } = await import('npm-high-impact');
  const { encodeTable } = await import('../lib/forecast-table.mjs');
  const names = [...new Set([...npmTopDownloads.slice(0, DOWNLOADED), ...npmTopDependents.slice(0, DEPENDED_ON)])];
  const registry = new URL((await npm(['config', 'get', 'registry'], { output: 'quiet' })).trim());
  const lacking = [];
  let asked = 0;
  const ask = async (name, version) => {
    asked += 1;
    if (asked % 1000 === 0) say('forecast', `${asked} documents`);
    const document = await fetchDocument(registry, name, version);
    if (!document) lacking.push(name);
    return document;
  };
  const table = await encodeTable(names, async (name) => shortened(await ask(name)), ask);
  if (lacking.length > asked / 10) {
    throw new Error(`${lacking.length} of ${asked} documents could not be had, as ${lacking.slice(0, 5).join(', ')}`);
  }
  writeFileSync(inRoot('crates', 'forecast', 'data', 'popular.bin'), table.bytes);
  say('forecast', `${table.names} names, ${table.entries} lines of versions, ${table.bytes.length} bytes`);
  if (lacking.length) say('forecast', `the registry lacks ${lacking.length}, as ${lacking.slice(0, 5).join(', ')}`);
}

/** An abbreviated packument, or the document of a version; nothing where the registry has none. */
async function fetchDocument(registry, name, version) {
  const path = name.replace('/', '%2f');
  const url = new URL(version ? `${path}/${version}` : path, registry);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    try {
      const response = await fetch(url, version ? {} : { headers: { accept: 'application/vnd.npm.install-v1+json' } });
      if (response.status === 404) return undefined;
      if (response.ok) return await response.json();
    } catch {
      // Again.
    }
  }
  return undefined;
}

/** Without what would fill the memory with thousands of packages. */
function shortened(packument) {
  if (!packument) return undefined;
  const kept = Object.entries(packument.versions ?? {}).map(([version, manifest]) => {
    const { dependencies, optionalDependencies, peerDependencies } = manifest;
    return [version, { dependencies, optionalDependencies, peerDependencies }];
  });
  return { latest: packument['dist-tags']?.latest, versions: Object.fromEntries(kept) };
}

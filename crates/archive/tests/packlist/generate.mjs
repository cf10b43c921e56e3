// Writes cases.json: what npm packs of folders, each made anew in a temporary place. `node generate.mjs`
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { folders } from './folders.mjs';

const cases = folders.map(({ name, manifest, files }) => {
  const folder = mkdtempSync(join(tmpdir(), 'packlist-'));
  const all = { ...files, 'package.json': JSON.stringify({ name: 'packed', version: '1.0.0', ...manifest }) };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const text = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  rmSync(folder, { recursive: true });
  const packed = JSON.parse(text)[0]
    .files.map((file) => file.path)
    .sort();
  return { name, manifest, files: all, packed };
});
writeFileSync(new URL('cases.json', import.meta.url), `${JSON.stringify(cases, null, 1)}\n`);

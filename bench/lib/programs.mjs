// The Rust programs that only benches run (programs/), built when their sources or the product's changed.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { locked, requireRust } from '../../scripts/lib/native.mjs';
import { inRoot, inTarget } from '../../scripts/lib/paths.mjs';
import { run, timed } from '../../scripts/lib/process.mjs';
import { unlessFresh } from '../../scripts/lib/stamp.mjs';

const names = ['registry-ceiling', 'link-shapes', 'shape-registry', 'mirror-opening'];
const inputs = ['Cargo.toml', 'Cargo.lock', '.cargo/config.toml', 'crates', 'bench/programs'].map((path) =>
  inRoot(path),
);

/** Paths of the programs by name; GANTRY_BENCH_PROGRAMS names a folder with other builds of them. */
export async function providePrograms() {
  const folder = resolve(process.env.GANTRY_BENCH_PROGRAMS || inTarget('release'));
  const paths = Object.fromEntries(names.map((name) => [name, join(folder, name)]));
  if (!process.env.GANTRY_BENCH_PROGRAMS) {
    await unlessFresh('bench-programs', { inputs, outputs: Object.values(paths) }, async () => {
      await requireRust();
      await timed('bench', 'the programs of the benches are built', () =>
        run('cargo', ['build', '--release', ...locked, '--package', 'gantry-bench-programs']),
      );
    });
  }
  for (const path of Object.values(paths)) if (!existsSync(path)) throw new Error(`${path} is missing`);
  return paths;
}

// Programs that tests compare with or make things by, and that few machines lack: git, openssl, unzip, Python.
import { aptInstall } from './apt.mjs';
import { exists } from './process.mjs';

/** Debian's package of each. */
const PACKAGES = { git: 'git', openssl: 'openssl', unzip: 'unzip', python3: 'python3' };

/** Installs those of the programs that are missing, or says which they are. */
export async function providePrograms(area, names) {
  const missing = [];
  for (const name of names) if (!(await exists(name))) missing.push(name);
  if (missing.length === 0) return;
  await aptInstall(
    area,
    missing.map((name) => PACKAGES[name]),
  );
  for (const name of missing) if (!(await exists(name))) throw new Error(`the tests need ${name}: install it`);
}

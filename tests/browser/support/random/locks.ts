/** What a lock says. */

export interface Manifest {
  name?: string;
  version?: string;
  dependencies?: Record<string, string>;
}

type Entries = Record<string, { integrity?: string }>;

/** The package.json that it is of. */
export function manifestOf(lockfile: string): Manifest {
  const { name, version, dependencies = {} } = JSON.parse(lockfile).packages[''];
  return { name, version, dependencies };
}

/** Its packages by their folders. */
export function packagesOf(lockfile: string | undefined): Entries {
  if (lockfile === undefined) return {};
  const { '': _, ...packages } = JSON.parse(lockfile).packages as Entries;
  return packages;
}

/** The folders that differ between two, as an install tells them. */
export function changesBetween(before: string | undefined, after: string): Record<string, string[]> {
  const [old, now] = [packagesOf(before), packagesOf(after)];
  const isReplaced = (folder: string) => folder in old && old[folder]?.integrity !== now[folder]?.integrity;
  return {
    added: Object.keys(now).filter((folder) => !(folder in old)),
    removed: Object.keys(old).filter((folder) => !(folder in now)),
    replaced: Object.keys(now).filter(isReplaced),
  };
}

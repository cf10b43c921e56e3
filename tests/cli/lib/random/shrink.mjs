// The least of a scenario that still differs.

/** Every value below, as a path of keys; outermost first. */
function* paths(value, path = []) {
  if (value === null || typeof value !== 'object') return;
  for (const key of Object.keys(value)) yield [...path, key];
  for (const key of Object.keys(value)) yield* paths(value[key], [...path, key]);
}

/** A copy without what is at `path`; undefined where it is not there. */
function without(value, path) {
  const copy = structuredClone(value);
  let holder = copy;
  for (const key of path.slice(0, -1)) {
    holder = holder?.[key];
    if (holder === undefined) return undefined;
  }
  const last = path.at(-1);
  if (!Object.hasOwn(holder, last)) return undefined;
  if (Array.isArray(holder)) holder.splice(Number(last), 1);
  else delete holder[last];
  return copy;
}

/** What must stay for a scenario to be one. */
function isNeeded(path) {
  const [first, , third, fourth, fifth] = path;
  if (path.length === 1) return true;
  // What a tarball carries has a version, or it is another matter.
  if (first === 'universe') return path.length === 3 || third === 'tags' || (fifth === 'carries' && path.length === 7);
  if (first === 'files') return path.length === 2 && path[1] === 'package.json';
  // A step keeps what it is, and the name of its command.
  return first === 'steps' && (path.length === 3 || (third === 'run' && fourth === '0'));
}

/** So many attempts are made at most: some minutes. */
const MOST = 2000;

/** Takes everything away, piece by piece, without which `differs` still resolves to true. */
export async function shrink(scenario, differs) {
  let least = scenario;
  let attempts = 0;
  for (let shrunk = true; shrunk; ) {
    shrunk = false;
    for (const path of [...paths(least)].reverse().sort((a, b) => a.length - b.length)) {
      if (isNeeded(path)) continue;
      const smaller = without(least, path);
      if (!smaller || attempts >= MOST) continue;
      attempts += 1;
      if (await differs(smaller)) {
        least = smaller;
        shrunk = true;
      }
    }
  }
  return least;
}

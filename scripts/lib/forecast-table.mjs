// The table of what packages depend on, in the format that crates/forecast/src/table.rs describes.
import semver from 'semver';

const MAGIC = Buffer.from('gantryF\x02', 'latin1');
/** Lines of versions, from the newest on, that a package of the list has in the table in any case. Of others there is what something
 * depends on. */
const LINES = 2;
/** Documents that are asked for at a time. */
const AT_ONCE = 24;

/** @typedef {{ latest?: string, versions: Record<string, Manifest> }} Packument
 * @typedef {{ dependencies?: Record<string, string>, optionalDependencies?: Record<string, string>,
 *   peerDependencies?: Record<string, string> }} Manifest */

/** Makes a table of these packages and of all that they depend on. `fetchPackument` gives nothing where there is none; `fetchVersion`
 * is asked for builds for one platform, whose packuments are large and never needed.
 * @param {string[]} names
 * @param {(name: string) => Promise<Packument | undefined>} fetchPackument
 * @param {(name: string, version: string) => Promise<Manifest | undefined>} fetchVersion */
export async function encodeTable(names, fetchPackument, fetchVersion) {
  /** @type {Map<string, Lines>} */
  const lines = new Map();
  /** @type {Map<string, Entry>} */
  const entries = new Map();
  const builds = new Map();
  let open = [];
  const want = (name, line) => {
    const id = `${name}@${line.key}`;
    if (!entries.has(id)) {
      const entry = { name, line, dependencies: [], peers: [] };
      entries.set(id, entry);
      open.push(entry);
    }
    return id;
  };
  const fetchLines = (all) =>
    atOnce(
      all.filter((name) => !lines.has(name)),
      async (name) => lines.set(name, linesOf((await fetchPackument(name)) ?? { versions: {} })),
    );
  await fetchLines(names);
  for (const name of names) for (const line of lines.get(name).lines.slice(0, LINES)) want(name, line);
  while (open.length) {
    const level = open;
    open = [];
    await atOnce(
      level.flatMap(({ line }) => buildsOf(line.manifest)).filter((build) => !builds.has(build)),
      async (build) => builds.set(build, await fetchVersion(...nameAndVersion(build))),
    );
    const asked = level.map((entry) => ({ entry, ...askedBy(entry.line.manifest, builds) }));
    await fetchLines(asked.flatMap(({ dependencies, peers }) => [...dependencies, ...peers]).map(({ name }) => name));
    for (const { entry, dependencies, peers } of asked) {
      const targets = (all) =>
        all.map(({ name, range }) => {
          const line = likely(lines.get(name), range);
          return line ? want(name, line) : `${name}@`;
        });
      entry.dependencies = [...new Set(targets(dependencies))];
      entry.peers = [...new Set(targets(peers))];
    }
  }
  return layOut(entries, lines);
}

/** Does the work for each item once. @template T @param {Iterable<T>} items @param {(item: T) => Promise<unknown>} work */
async function atOnce(items, work) {
  const queue = new Set(items).values();
  const go = async () => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, go));
}

/** Optional dependencies on one version. A resolver asks for that version by itself, not for its packument
 * (`Shelf::prefer_single`). @param {Manifest} manifest */
function buildsOf({ optionalDependencies }) {
  return Object.entries(optionalDependencies ?? {}).flatMap(([own, text]) => {
    const target = registryTarget(own, text);
    return target && semver.valid(target.range) ? [`${target.name}@${target.range}`] : [];
  });
}

const nameAndVersion = (build) => [build.slice(0, build.lastIndexOf('@')), build.slice(build.lastIndexOf('@') + 1)];

/** Whose packuments a version needs, what its builds for one platform depend on among them.
 * @param {Manifest} manifest @param {Map<string, Manifest | undefined>} builds */
function askedBy(manifest, builds) {
  const targets = (all) => Object.entries(all ?? {}).flatMap(([own, text]) => registryTarget(own, text) ?? []);
  const dependencies = [];
  const peers = [];
  const seen = new Set();
  const take = (taken) => {
    const alone = buildsOf(taken);
    const all = targets({ ...taken.dependencies, ...taken.optionalDependencies });
    dependencies.push(...all.filter(({ name, range }) => !alone.includes(`${name}@${range}`)));
    peers.push(...targets(taken.peerDependencies));
    for (const build of alone) {
      const found = !seen.has(build) && builds.get(build);
      seen.add(build);
      if (found) take(found);
    }
  };
  take(manifest);
  return { dependencies, peers };
}

/** @typedef {{ key: string, version: string, manifest: Manifest }} Line
 * @typedef {{ lines: Line[], prereleases: Line[] }} Lines
 * @typedef {{ name: string, line: Line, dependencies: string[], peers: string[] }} Entry */

/** The last version of each line within which npm's carets stay; the one of `latest` first, then from high to low. Each prerelease
 * is a line of its own.
 * @param {Packument} packument @returns {Lines} */
function linesOf({ latest, versions }) {
  /** @type {Map<string, Line>} */
  const lines = new Map();
  const prereleases = [];
  for (const [version, manifest] of Object.entries(versions)) {
    const parsed = semver.parse(version);
    if (!parsed) continue;
    if (parsed.prerelease.length) {
      prereleases.push({ key: version, version, manifest });
      continue;
    }
    const key = keyOf(parsed);
    const known = lines.get(key);
    if (!known || semver.gt(parsed, known.version)) lines.set(key, { key, version: parsed.version, manifest });
  }
  const tagged = semver.parse(latest ?? '');
  const first = tagged && keyOf(tagged);
  const sorted = [...lines.values()].sort(
    (a, b) => Number(b.key === first) - Number(a.key === first) || semver.rcompare(a.version, b.version),
  );
  return { lines: sorted, prereleases: prereleases.sort((a, b) => semver.rcompare(a.version, b.version)) };
}

const keyOf = ({ major, minor }) => (major > 0 ? `${major}` : `0.${minor}`);

/** The line that npm most likely takes a version of.
 * @param {Lines} lines @param {string} range */
function likely({ lines, prereleases }, range) {
  if (semver.validRange(range) === null) return lines[0];
  const isLast = ({ version }) => semver.satisfies(version, range);
  const isOfLine = ({ key }) => semver.intersects(key.startsWith('0.') ? `~${key}.0` : `^${key}.0.0`, range);
  return lines.find(isLast) ?? lines.find(isOfLine) ?? prereleases.find(isLast);
}

/** What is asked of a registry; nothing for what comes from elsewhere. */
function registryTarget(name, text) {
  if (text.startsWith('npm:')) {
    const at = text.indexOf('@', 'npm:'.length + 1);
    return at < 0 ? { name: text.slice(4), range: '*' } : { name: text.slice(4, at), range: text.slice(at + 1) };
  }
  return /[/:]/.test(text) ? undefined : { name, range: text };
}

function layOut(entries, lines) {
  const targets = [...entries.values()].flatMap(({ dependencies, peers }) => [...dependencies, ...peers]);
  const nameOf = (id) => id.slice(0, id.lastIndexOf('@'));
  const names = [...new Set([...entries.keys(), ...targets].map(nameOf))].sort((a, b) =>
    Buffer.compare(Buffer.from(a), Buffer.from(b)),
  );
  const numbers = new Map(names.map((name, number) => [name, number]));
  const ordered = names.flatMap((name) => {
    const all = lines.get(name);
    const found = [...all.lines, ...all.prereleases].map(({ key }) => entries.get(`${name}@${key}`));
    return found.filter((entry) => entry !== undefined);
  });
  const positions = new Map(ordered.map(({ name, line }, position) => [`${name}@${line.key}`, position]));
  const reference = (id) => positions.get(id) ?? ordered.length + numbers.get(nameOf(id));
  const records = ordered.map(({ line, dependencies, peers }) => {
    const { major, minor, patch } = semver.parse(line.version);
    const hasBuilds = Number(buildsOf(line.manifest).length > 0);
    const [needed, looked] = [dependencies, peers].map((list) => list.map(reference));
    const numbers = [major, minor, patch, 2 * needed.length + hasBuilds, ...needed, looked.length, ...looked];
    return Buffer.from(numbers.flatMap(variableLength));
  });
  const texts = names.map((name) => Buffer.from(name));
  const firsts = [];
  let position = 0;
  for (const name of names) {
    firsts.push(position);
    while (ordered[position]?.name === name) position += 1;
  }
  firsts.push(position);
  const parts = [
    MAGIC,
    words([names.length, ordered.length, ends(texts).at(-1) ?? 0]),
    words(ends(texts)),
    words(firsts),
    words([0, ...ends(records)].slice(0, records.length)),
    ...texts,
    ...records,
  ];
  return { names: names.length, entries: ordered.length, bytes: Buffer.concat(parts) };
}

/** Where each of them ends when they follow one another. */
function ends(buffers) {
  let end = 0;
  return buffers.map((buffer) => {
    end += buffer.length;
    return end;
  });
}

function words(numbers) {
  const buffer = Buffer.alloc(4 * numbers.length);
  for (const [index, number] of numbers.entries()) buffer.writeUInt32LE(number, 4 * index);
  return buffer;
}

function variableLength(number) {
  const bytes = [];
  let rest = BigInt(number);
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return [...bytes, Number(rest)];
}

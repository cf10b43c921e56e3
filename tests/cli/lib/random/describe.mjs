// A scenario and what differs in it, as text.

/** Packages, files, options and steps, a line each. */
export function described({ universe, files, options, steps }) {
  const lines = [];
  for (const [name, { tags, versions }] of Object.entries(universe)) {
    for (const [version, fields] of Object.entries(versions)) {
      const own = Object.keys(tags).filter((tag) => tags[tag] === version);
      lines.push(`${name}@${version}${own.map((tag) => ` (${tag})`).join('')} ${JSON.stringify(fields)}`);
    }
  }
  for (const [path, content] of Object.entries(files)) lines.push(`${path}: ${JSON.stringify(content)}`);
  if (options.length > 0) lines.push(`options: ${options.join(' ')}`);
  for (const step of steps) lines.push(step.run ? `run ${step.run.join(' ')}` : JSON.stringify(step));
  return lines.join('\n');
}

/** What is different: lines that only one of the two has, each with its number. */
export function differenceOf({ step, what, ours, theirs }) {
  const [our, their] = [ours, theirs].map((text) => text.split('\n'));
  const [inOurs, inTheirs] = [new Set(our), new Set(their)];
  const only = (lines, others, mark) =>
    lines.flatMap((line, index) => (others.has(line) ? [] : [`${mark} ${String(index + 1).padStart(3)} ${line}`]));
  const lines = [...only(our, inTheirs, 'gantry'), ...only(their, inOurs, 'npm   ')];
  // Where all lines are in both, their order differs.
  return [`step ${step}, ${what}:`, ...(lines.length > 0 ? lines : [ours, theirs])].join('\n');
}

/** Paths of a project: the root is `/`, and relative paths are taken from it. */

/**
 * `a/./b`, `//a/b` → `/a/b`. What `..` leads to is decided where links are known; only what would climb above the root is
 * dropped here. A slash at the end stays, and a `.` there is one: either asks for a directory.
 */
export function fromRoot(path: string): string {
  const segments: string[] = [];
  let depth = 0;
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment === '..' && depth === 0) continue;
    depth += segment === '..' ? -1 : 1;
    segments.push(segment);
  }
  const end = /(^|\/)\.?$/.test(path) && segments.length > 0 ? '/' : '';
  return `/${segments.join('/')}${end}`;
}

/** What is below a directory that was given as `directory`, as Node's `path.join` makes it of the two. */
export function below(directory: string, path: string): string {
  const segments: string[] = [];
  for (const segment of `${directory}/${path}`.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..' || (!directory.startsWith('/') && (segments.at(-1) ?? '..') === '..')) segments.push(segment);
    else segments.pop();
  }
  return `${directory.startsWith('/') ? '/' : ''}${segments.join('/')}`;
}

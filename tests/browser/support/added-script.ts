/** Workers of the package that come with a test's own code, which a page has no other way into before they begin. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolder } from './paths.js';
import type { Site } from './site.js';

/** Runs `use` while the worker script of this name (without extension) has `code` at its end. */
export async function withAddedScript<T>(site: Site, name: string, code: string, use: () => Promise<T>): Promise<T> {
  const text = readFileSync(join(packageFolder, 'dist/worker', `${name}.js`), 'utf8');
  const path = `/package/dist/worker/${name}.js`;
  site.answering.set(path, (_, response) => {
    response.writeHead(200, { 'content-type': 'text/javascript' }).end(`${text}\n${code}`);
  });
  try {
    return await use();
  } finally {
    site.answering.delete(path);
  }
}

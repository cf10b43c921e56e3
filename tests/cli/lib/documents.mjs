// Starting a registry of packuments without tarballs.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Starts a registry that has these packages, manifests by `name@version`, until the end of a test; gives its address. */
export async function startDocuments(context, packages) {
  const program = fileURLToPath(new URL('document-registry.mjs', import.meta.url));
  const child = spawn(process.execPath, [program, JSON.stringify(packages)], { stdio: ['pipe', 'pipe', 'inherit'] });
  context.after(() => child.stdin.end());
  const [line] = await new Promise((settle) => child.stdout.setEncoding('utf8').once('data', (text) => settle([text])));
  return JSON.parse(line).url;
}

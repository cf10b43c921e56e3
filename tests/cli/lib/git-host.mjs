// A git host on loopback, reached as the known ones are: through a proxy, over TLS, under their own names. It serves what
// `git http-backend` would say of references, and archives. One argument: the folder that has the repositories, as
// `user/project`, and where keys and certificates go. Prints its address and the authority to trust.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { join } from 'node:path';

const folder = process.argv[2];
const names = ['github.com', 'codeload.github.com', 'gitlab.com'];
const file = (name) => join(folder, name);

function certify() {
  const openssl = (...words) => execFileSync('openssl', words, { stdio: ['ignore', 'ignore', 'inherit'] });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...key,
    '-keyout',
    file('ca.key'),
    '-out',
    file('ca.pem'),
    '-subj',
    '/CN=authority',
    '-days',
    '2',
  );
  openssl('req', ...key, '-keyout', file('host.key'), '-out', file('host.csr'), '-subj', '/CN=git host');
  writeFileSync(file('host.ext'), `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}\n`);
  const by = ['-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-CAcreateserial', '-extfile', file('host.ext')];
  openssl('x509', '-req', '-in', file('host.csr'), '-out', file('host.pem'), '-days', '2', ...by);
}

const git = (repository, ...words) =>
  execFileSync('git', words, { cwd: repository, maxBuffer: 1 << 26, stdio: ['ignore', 'pipe', 'ignore'] });

/** What a host answers; undefined for what is not there. */
function answer(url) {
  const archive = /^\/([^/]+\/[^/]+)\/tar\.gz\/([^/]+)$/.exec(url.pathname);
  const references = /^\/([^/]+\/[^/]+?)(?:\.git)?\/info\/refs$/.exec(url.pathname);
  const project = (archive ?? references)?.[1];
  const repository = project && join(folder, project);
  if (!repository || !existsSync(repository)) return undefined;
  if (references) {
    const listed = git(repository, 'upload-pack', '--stateless-rpc', '--advertise-refs', '.');
    return Buffer.concat([Buffer.from('001e# service=git-upload-pack\n0000'), listed]);
  }
  const revision = decodeURIComponent(archive[2]);
  return git(repository, 'archive', '--format=tar.gz', `--prefix=${project.replace('/', '-')}-${revision}/`, revision);
}

certify();
const asked = [];
const host = createSecureServer(
  { key: readFileSync(file('host.key')), cert: readFileSync(file('host.pem')) },
  (request, response) => {
    const url = new URL(request.url, `https://${request.headers.host}`);
    asked.push(url.href);
    writeFileSync(file('asked.json'), JSON.stringify(asked));
    let body;
    try {
      body = answer(url);
    } catch {
      // An unknown revision.
    }
    response.writeHead(body ? 200 : 404).end(body);
  },
);
const proxy = createServer((_, response) => response.writeHead(400).end());
proxy.on('connect', (_, socket) => {
  socket.on('error', () => {});
  socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
  host.emit('connection', socket);
});
proxy.listen(0, '127.0.0.1', () => {
  process.stdout.write(
    `${JSON.stringify({ proxy: `http://127.0.0.1:${proxy.address().port}`, authority: file('ca.pem') })}\n`,
  );
});
process.stdin.resume().on('end', () => process.exit());

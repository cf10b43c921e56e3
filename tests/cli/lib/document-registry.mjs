// A registry of packuments without tarballs, for locks alone: `node document-registry.mjs '{"left@1.0.0":{…manifest}}'`. The
// version that comes last is the latest. Prints its address.
import { createServer } from 'node:http';

const packages = JSON.parse(process.argv[2]);
const documents = {};

function describe(id, address) {
  const at = id.indexOf('@', 1);
  const [name, version] = [id.slice(0, at), id.slice(at + 1)];
  const integrity = `sha512-${Buffer.from(id.repeat(64).slice(0, 64)).toString('base64')}`;
  const dist = { tarball: `${address}${name}/-/${name}-${version}.tgz`, integrity };
  documents[name] ??= { name, 'dist-tags': {}, versions: {} };
  documents[name].versions[version] = { name, version, ...packages[id], dist };
  documents[name]['dist-tags'].latest = version;
}

const server = createServer((request, response) => {
  const [name, version] = decodeURIComponent(request.url.slice(1)).split(/(?<!^@[^/]*)\//);
  const found = version === undefined ? documents[name] : documents[name]?.versions[version];
  response.statusCode = found ? 200 : 404;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(found ?? { error: 'Not found' }));
});
server.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${server.address().port}/`;
  for (const id of Object.keys(packages)) describe(id, url);
  process.stdout.write(`${JSON.stringify({ url })}\n`);
});
process.stdin.on('end', () => process.exit()).resume();

// A registry of packuments without tarballs, for locks alone: `node document-registry.mjs '{"left@1.0.0":{…manifest}}'`. The
// version that comes last is the latest. Prints its address. Who asks for abbreviated documents gets what Verdaccio makes of
// them: `time` is there, and of the versions neither `license` nor `libc`.
import { createServer } from 'node:http';

const packages = JSON.parse(process.argv[2]);
const documents = {};

const abbreviatedForm = 'application/vnd.npm.install-v1+json';
const leftOut = ['license', 'libc', 'acceptDependencies', 'scripts'];

function abbreviated({ name, 'dist-tags': tags, versions, time }) {
  const short = (version) =>
    Object.fromEntries(Object.entries(version).filter(([member]) => !leftOut.includes(member)));
  const shortened = Object.entries(versions).map(([version, manifest]) => [version, short(manifest)]);
  return { name, 'dist-tags': tags, versions: Object.fromEntries(shortened), time };
}

function describe(id, address) {
  const at = id.indexOf('@', 1);
  const [name, version] = [id.slice(0, at), id.slice(at + 1)];
  const integrity = `sha512-${Buffer.from(id.repeat(64).slice(0, 64)).toString('base64')}`;
  const dist = { tarball: `${address}${name}/-/${name}-${version}.tgz`, integrity };
  documents[name] ??= { name, 'dist-tags': {}, versions: {}, time: {} };
  documents[name].versions[version] = { name, version, ...packages[id], dist };
  documents[name].time[version] = '2024-01-01T00:00:00.000Z';
  documents[name]['dist-tags'].latest = version;
}

const server = createServer((request, response) => {
  const [name, version] = decodeURIComponent(request.url.slice(1)).split(/(?<!^@[^/]*)\//);
  const found = version === undefined ? documents[name] : documents[name]?.versions[version];
  const isAbbreviated = found?.versions !== undefined && request.headers.accept?.includes(abbreviatedForm);
  response.statusCode = found ? 200 : 404;
  response.setHeader('content-type', isAbbreviated ? `${abbreviatedForm}; charset=utf-8` : 'application/json');
  response.end(JSON.stringify(isAbbreviated ? abbreviated(found) : (found ?? { error: 'Not found' })));
});
server.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${server.address().port}/`;
  for (const id of Object.keys(packages)) describe(id, url);
  process.stdout.write(`${JSON.stringify({ url })}\n`);
});
process.stdin.on('end', () => process.exit()).resume();

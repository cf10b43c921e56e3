// Writes what npm makes of every case: `node generate.mjs [name...]`.
//
// A case is `<name>.json`: `about`, `registry` ("name@version" to the manifest without name and version), and optionally
// `tags`, `times`, `root`, `lock`, `options` (npm's command line options), `bundles` ("name@version" to pairs of path and
// package.json), `workspaces` (the folders of `folders` that are workspaces, in npm's order, for the test alone), `folders`
// (path to package.json), `shrinkwraps` ("name@version" to the lock in the tarball) and `files` (path to the package.json in the tarball there). Beside it goes `<name>.lock` with the lock file npm writes, or `<name>.error` with npm's code. npm runs
// against a server on the loopback interface; its address is replaced by `https://registry.test/` in what is written.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import zlib from 'node:zlib';

const here = path.dirname(new URL(import.meta.url).pathname);
const publicAddress = 'https://registry.test/';
let served = {};
const server = http.createServer((request, response) => {
  const key = decodeURIComponent(request.url.slice(1));
  const found = served.documents?.[key] ?? served.tarballs?.[key];
  response.statusCode = found ? 200 : 404;
  response.setHeader('content-type', Buffer.isBuffer(found) ? 'application/octet-stream' : 'application/json');
  response.end(Buffer.isBuffer(found) ? found : JSON.stringify(found ?? { error: 'Not found' }));
});
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const address = `http://127.0.0.1:${server.address().port}/`;

function tar(files) {
  const blocks = [];
  for (const [name, text] of files) {
    const data = Buffer.from(text);
    const header = Buffer.alloc(512);
    header.write(`package/${name}`, 0);
    header.write('0000644\0', 100);
    header.write(data.length.toString(8).padStart(11, '0') + '\0', 124);
    header.write('00000000000\0', 136);
    header.write('        ', 148);
    header.write('0', 156);
    header.write('ustar\x0000', 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(sum.toString(8).padStart(6, '0') + '\0 ', 148);
    blocks.push(header, data, Buffer.alloc((512 - (data.length % 512)) % 512));
  }
  return zlib.gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

function expand(test) {
  const documents = {};
  const tarballs = {};
  for (const [id, manifest] of Object.entries(test.registry)) {
    const at = id.indexOf('@', 1);
    const [name, version] = [id.slice(0, at), id.slice(at + 1)];
    const file = `${name}/-/${name.split('/').pop()}-${version}.tgz`;
    const shrinkwrap = test.shrinkwraps?.[id];
    const bundle = test.bundles?.[id] ?? (shrinkwrap && []);
    const integrity = `sha512-${Buffer.from(id.repeat(64).slice(0, 64)).toString('base64')}`;
    const dist = { tarball: address + file, ...(bundle ? {} : { integrity }) };
    if (bundle) {
      const inner = bundle.map(([place, content]) => [`${place}/package.json`, JSON.stringify(content)]);
      const text = shrinkwrap && JSON.stringify(shrinkwrap).replaceAll(publicAddress, address);
      const listed = shrinkwrap ? [['npm-shrinkwrap.json', text]] : [];
      tarballs[file] = tar([['package.json', JSON.stringify({ name, version, ...manifest })], ...listed, ...inner]);
    }
    documents[name] ??= { name, 'dist-tags': {}, versions: {}, time: test.times?.[name] };
    const document = documents[name];
    document.versions[version] = { name, version, ...manifest, dist: { ...dist, ...manifest.dist } };
    document['dist-tags'].latest = version;
  }
  for (const [name, tags] of Object.entries(test.tags ?? {})) Object.assign(documents[name]['dist-tags'], tags);
  return { documents, tarballs };
}

function run(name) {
  const test = JSON.parse(fs.readFileSync(path.join(here, `${name}.json`)));
  served = expand(test);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'npm-case-'));
  const project = path.join(folder, 'project');
  fs.mkdirSync(project);
  for (const file of ['user', 'global']) fs.writeFileSync(path.join(folder, file), '');
  fs.writeFileSync(path.join(project, 'package.json'), JSON.stringify(test.root, null, 2) + '\n');
  for (const [place, manifest] of Object.entries(test.folders ?? {})) {
    fs.mkdirSync(path.join(project, place), { recursive: true });
    fs.writeFileSync(path.join(project, place, 'package.json'), JSON.stringify(manifest));
  }
  for (const [place, manifest] of Object.entries(test.files ?? {})) {
    fs.mkdirSync(path.join(project, path.dirname(place)), { recursive: true });
    fs.writeFileSync(path.join(project, place), tar([['package.json', JSON.stringify(manifest)]]));
  }
  if (test.lock) {
    const lock = JSON.stringify(test.lock, null, 2).replaceAll(publicAddress, address);
    fs.writeFileSync(path.join(project, 'package-lock.json'), lock);
  }
  const options = [
    'install',
    '--package-lock-only',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--no-update-notifier',
  ];
  const env = {
    ...process.env,
    npm_config_userconfig: path.join(folder, 'user'),
    npm_config_globalconfig: path.join(folder, 'global'),
    npm_config_cache: path.join(folder, 'cache'),
    npm_config_registry: address,
    npm_config_fetch_retries: '0',
  };
  return new Promise((done) =>
    execFile('npm', [...options, ...(test.options ?? [])], { cwd: project, env }, (error, _out, log) => {
      for (const end of ['lock', 'error']) fs.rmSync(path.join(here, `${name}.${end}`), { force: true });
      if (error) {
        const code =
          /npm error code (\S+)/.exec(log)?.[1] ??
          log.split('\n').find((line) => line.startsWith('npm error')) ??
          'none';
        fs.writeFileSync(path.join(here, `${name}.error`), code + '\n');
        console.log(`${name}: ${code}`);
      } else {
        const lock = fs
          .readFileSync(path.join(project, 'package-lock.json'), 'utf8')
          .replaceAll(address, publicAddress)
          // The digest of a tarball that was made here depends on the compressor.
          .replace(/("resolved": "file:[^"]*",\s*"integrity": ")[^"]*/g, '$1sha512-LOCAL');
        fs.writeFileSync(path.join(here, `${name}.lock`), lock);
      }
      fs.rmSync(folder, { recursive: true, force: true });
      done();
    }),
  );
}

const all = fs
  .readdirSync(here)
  .filter((file) => file.endsWith('.json'))
  .map((file) => file.slice(0, -5))
  .sort();
for (const name of process.argv.length > 2 ? process.argv.slice(2) : all) await run(name);
server.close();

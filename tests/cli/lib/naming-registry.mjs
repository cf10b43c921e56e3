// A registry whose documents say who may have the tarballs, in their addresses, and a proxy to itself. Tarballs of `gone` are
// not there, and those of `open` are for everybody. Prints its address, and answers `/asked` with the authorization of each
// request for a tarball, `/said` with what each request since the last such question said of who asks.
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';

/** A tar archive of one file. */
function archive(path, text) {
  const header = Buffer.alloc(512);
  header.write(path, 0);
  header.write('0000644\0', 100);
  header.write(`${Buffer.byteLength(text).toString(8).padStart(11, '0')}\0`, 124);
  header.write(`${'0'.repeat(11)}\0`, 136);
  header.write('        ', 148);
  header.write('0', 156);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const content = Buffer.alloc(Math.ceil(Buffer.byteLength(text) / 512) * 512);
  content.write(text);
  return gzipSync(Buffer.concat([header, content, Buffer.alloc(1024)]));
}

const asked = [];
const said = [];
const server = createServer((request, response) => {
  // A proxy is asked for whole addresses.
  const [, name, ...rest] = request.url.replace(/^http:\/\/[^/]+/, '').split('/');
  if (name === 'asked') return response.end(JSON.stringify(asked));
  if (name === 'said') {
    // Who asks lets programs run in between, for longer than a connection is kept.
    response.setHeader('connection', 'close');
    return response.end(JSON.stringify(said.splice(0)));
  }
  const { authorization, 'proxy-authorization': proxy } = request.headers;
  said.push({ path: [name, ...rest].join('/'), authorization, proxy });
  if (rest.length > 0) {
    asked.push(request.headers.authorization ?? null);
    response.statusCode = name === 'gone' ? 404 : 200;
    return response.end(
      name === 'gone' ? '' : archive('package/package.json', JSON.stringify({ name, version: '1.0.0' })),
    );
  }
  const who = name === 'open' ? '' : 'me:secret@';
  const tarball = `http://${who}127.0.0.1:${server.address().port}/${name}/-/${name}-1.0.0.tgz`;
  const versions = { '1.0.0': { name, version: '1.0.0', dist: { tarball } } };
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ name, 'dist-tags': { latest: '1.0.0' }, versions }));
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${server.address().port}/\n`));

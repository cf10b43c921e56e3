// QuickJS-NG compiled to WASI: a JavaScript engine that knows neither Gantry nor Node.js. It is given the shim, so that a
// worker of a page can use it too.

/** Runs the compiled engine with the words of its command line over opened folders. Gives its output, by lines. */
export async function runEngine(shim, compiled, words, folders) {
  const lines = [];
  const errors = [];
  const descriptors = [
    new shim.OpenFile(new shim.File([])),
    shim.ConsoleStdout.lineBuffered((line) => lines.push(line)),
    shim.ConsoleStdout.lineBuffered((line) => errors.push(line)),
    ...folders,
  ];
  const wasi = new shim.WASI(['qjs'], [], descriptors, { debug: false });
  const instance = await WebAssembly.instantiate(compiled, { wasi_snapshot_preview1: wasi.wasiImport });
  wasi.initialize(instance);
  const { malloc, memory, qjs_init_argv: start } = instance.exports;
  const addresses = ['qjs', ...words].map((word) => {
    const bytes = new TextEncoder().encode(`${word}\0`);
    const address = malloc(bytes.length);
    new Uint8Array(memory.buffer).set(bytes, address);
    return address;
  });
  const list = malloc(4 * addresses.length);
  new Uint32Array(memory.buffer, list, addresses.length).set(addresses);
  return { status: start(addresses.length, list), lines, stderr: errors.join('\n') };
}

// Fetches a list of documents with so many requests under way, and does nothing with them.
addEventListener('message', async ({ data: { list, registry, inFlight } }) => {
  try {
    let next = 0;
    let bytes = 0;
    const begun = performance.now();
    const loop = async () => {
      while (next < list.length) {
        const { path, accept } = list[next++];
        const response = await fetch(registry + path, { headers: { accept }, cache: 'no-store' });
        if (!response.ok) throw new Error(`${response.url} answered ${response.status}`);
        const body = await response.arrayBuffer();
        bytes += body.byteLength;
      }
    };
    await Promise.all(Array.from({ length: inFlight }, loop));
    postMessage({ wall: (performance.now() - begun) / 1000, decodedBytes: bytes });
  } catch (error) {
    postMessage({ failure: String(error) });
  }
});

export function parse(text: string): Record<string, string | string[]> {
  const parsed: Record<string, string | string[]> = Object.create(null);
  for (const [key, value] of new URLSearchParams(text)) {
    const before = parsed[key];
    parsed[key] = before === undefined ? value : [before, value].flat();
  }
  return parsed;
}

export function stringify(values: Record<string, unknown>): string {
  const entries = Object.entries(values).flatMap(([key, value]) => [value].flat().map((one) => [key, String(one)]));
  return new URLSearchParams(entries).toString();
}

const { encodeURIComponent: percentEncode, decodeURIComponent: percentDecode } = globalThis;

export { parse as decode, percentDecode as unescape, percentEncode as escape, stringify as encode };

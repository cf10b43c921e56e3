/** The older interface of node:url over the platform's. */
const { URL: PlatformUrl, URLSearchParams: PlatformParams } = globalThis;

export { PlatformParams as URLSearchParams, PlatformUrl as URL };

export class Url {
  protocol: string | null = null;
  host: string | null = null;
  hostname: string | null = null;
  port: string | null = null;
  hash: string | null = null;
  search: string | null = null;
  query: string | Record<string, string> | null = null;
  pathname: string | null = null;
  path: string | null = null;
  href = '';
}

export function parse(text: string, parseQuery = false): Url {
  const absolute = /^[a-z][a-z\d+.-]*:/i.test(text);
  const parsed = new PlatformUrl(text, 'http://localhost');
  const url = new Url();
  if (absolute) {
    url.protocol = parsed.protocol;
    url.host = parsed.host;
    url.hostname = parsed.hostname;
    url.port = parsed.port || null;
  }
  url.hash = parsed.hash || null;
  url.search = parsed.search || null;
  url.query = parseQuery ? Object.fromEntries(parsed.searchParams) : parsed.search.slice(1) || null;
  url.pathname = parsed.pathname;
  url.path = parsed.pathname + parsed.search;
  url.href = text;
  return url;
}

export function format(url: { href?: string; pathname?: string | null; search?: string | null }): string {
  return url.href || `${url.pathname ?? ''}${url.search ?? ''}`;
}

export function resolve(from: string, to: string): string {
  return new PlatformUrl(to, new PlatformUrl(from, 'http://localhost')).href.replace(/^http:\/\/localhost/, '');
}

export function fileURLToPath(url: string | URL): string {
  return decodeURIComponent(new PlatformUrl(url).pathname);
}

export function pathToFileURL(path: string): URL {
  return new PlatformUrl(`file://${encodeURI(path)}`);
}

/**
 * node:http without sockets. A server that listens is announced to the frame (`onListen`), which hands it requests that
 * a person typed; nothing reaches it from outside.
 */
import { Buffer } from 'buffer';
import { EventEmitter } from 'events';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;
type HeaderValue = string | number | readonly string[];

export interface Exchange {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

export interface Answer {
  status: number;
  statusText: string;
  headers: [name: string, value: string][];
  body: string;
}

export const METHODS =
  'DELETE GET HEAD OPTIONS PATCH POST PUT TRACE CONNECT COPY LINK LOCK MERGE MKCOL MOVE PROPFIND QUERY'.split(' ');

export const STATUS_CODES: Record<number, string> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  204: 'No Content',
  206: 'Partial Content',
  301: 'Moved Permanently',
  302: 'Found',
  303: 'See Other',
  304: 'Not Modified',
  307: 'Temporary Redirect',
  308: 'Permanent Redirect',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'Payload Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Entity',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
};

/** What stands in for the connection. */
class Socket extends EventEmitter {
  readable = true;
  writable = true;
  remoteAddress = '127.0.0.1';
  encrypted = false;
  destroy(): void {}
}

export class IncomingMessage extends EventEmitter {
  httpVersion = '1.1';
  readable = true;
  complete = false;
  socket = new Socket();
  connection = this.socket;
  method = 'GET';
  url = '/';
  headers: Record<string, string> = {};
  body?: unknown;
  #content: Uint8Array = new Uint8Array();
  #flowing = false;

  receive({ method, path, headers, body }: Exchange): void {
    this.method = method;
    this.url = path;
    this.#content = new TextEncoder().encode(body);
    this.headers = { host: 'localhost:3000', ...headers };
    if (body) this.headers['content-length'] = String(this.#content.length);
  }

  override on(event: string, listener: (...values: unknown[]) => void): this {
    super.on(event, listener);
    if (event === 'data') this.resume();
    return this;
  }

  /** The whole body, once, when somebody listens. */
  resume(): this {
    if (this.#flowing) return this;
    this.#flowing = true;
    queueMicrotask(() => {
      if (this.#content.length > 0) this.emit('data', Buffer.from(this.#content));
      this.complete = true;
      this.readable = false;
      this.emit('end');
    });
    return this;
  }

  pause(): this {
    return this;
  }
  unpipe(): this {
    return this;
  }
  setTimeout(): this {
    return this;
  }
}

export class ServerResponse extends EventEmitter {
  statusCode = 200;
  statusMessage = '';
  headersSent = false;
  finished = false;
  writable = true;
  socket: Socket;
  connection: Socket;
  req: IncomingMessage;
  readonly headers = new Map<string, [string, HeaderValue]>();
  readonly chunks: Uint8Array[] = [];

  constructor(request: IncomingMessage) {
    super();
    this.req = request;
    this.socket = request.socket;
    this.connection = request.socket;
  }

  get writableEnded(): boolean {
    return this.finished;
  }

  setHeader(name: string, value: HeaderValue): this {
    this.headers.set(name.toLowerCase(), [name, value]);
    return this;
  }
  getHeader(name: string): HeaderValue | undefined {
    return this.headers.get(name.toLowerCase())?.[1];
  }
  hasHeader(name: string): boolean {
    return this.headers.has(name.toLowerCase());
  }
  removeHeader(name: string): void {
    this.headers.delete(name.toLowerCase());
  }
  getHeaderNames(): string[] {
    return [...this.headers.keys()];
  }
  getHeaders(): Record<string, HeaderValue> {
    return Object.fromEntries([...this.headers].map(([name, [, value]]) => [name, value]));
  }

  writeHead(status: number, ...rest: (string | Record<string, HeaderValue>)[]): this {
    this.statusCode = status;
    for (const part of rest) {
      if (typeof part === 'string') this.statusMessage = part;
      else for (const [name, value] of Object.entries(part ?? {})) this.setHeader(name, value);
    }
    this.headersSent = true;
    return this;
  }

  write(chunk: string | Uint8Array, encoding?: string): boolean {
    this.headersSent = true;
    this.chunks.push(typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk);
    return true;
  }

  end(chunk?: string | Uint8Array | (() => void), encoding?: string | (() => void)): this {
    if (this.finished) return this;
    if (chunk !== undefined && typeof chunk !== 'function') {
      this.write(chunk, typeof encoding === 'string' ? encoding : undefined);
    }
    this.headersSent = true;
    this.finished = true;
    this.emit('finish');
    this.emit('close');
    return this;
  }

  flushHeaders(): void {}
  setTimeout(): this {
    return this;
  }
}

export class Server extends EventEmitter {
  port = 0;
  readonly #handler: Handler | undefined;

  constructor(handler?: Handler) {
    super();
    this.#handler = handler;
  }

  listen(port?: number | { port?: number }, ...rest: unknown[]): this {
    this.port = Number(typeof port === 'object' ? port.port : port) || 3000;
    const ready = rest.find((value) => typeof value === 'function') as (() => void) | undefined;
    queueMicrotask(() => {
      announce(this);
      ready?.call(this);
      this.emit('listening');
    });
    return this;
  }

  address(): { address: string; family: string; port: number } {
    return { address: '127.0.0.1', family: 'IPv4', port: this.port };
  }

  close(done?: () => void): this {
    done?.();
    return this;
  }

  /** One request, answered by the handler. */
  exchange(exchange: Exchange): Promise<Answer> {
    return new Promise((resolve) => {
      const request = new IncomingMessage();
      request.receive(exchange);
      const response = new ServerResponse(request);
      response.on('finish', () => resolve(answerOf(response)));
      this.#handler?.(request, response);
      this.emit('request', request, response);
    });
  }
}

export function createServer(first?: Handler | object, second?: Handler): Server {
  return new Server(typeof first === 'function' ? (first as Handler) : second);
}

let announce: (server: Server) => void = () => {};

/** Not part of node:http: how the frame learns of servers. */
export function onListen(listener: (server: Server) => void): void {
  announce = listener;
}

function answerOf(response: ServerResponse): Answer {
  return {
    status: response.statusCode,
    statusText: response.statusMessage || STATUS_CODES[response.statusCode] || '',
    headers: [...response.headers.values()].flatMap(([name, value]) =>
      [value].flat().map((one): [string, string] => [name, String(one)]),
    ),
    body: Buffer.concat(response.chunks).toString('utf8'),
  };
}

/** A project that listens: requests are typed here and handed to it, as there are no sockets in a page. */
import { Buffer } from 'buffer';
import { type Answer, onListen, type Server } from '../node/http.js';
import { addOutput, mirrorConsole } from './console.js';
import { reportErrors } from './page.js';

interface SampleRequest {
  method: string;
  path: string;
  body?: string;
}

const style = `
body { font: 14px/1.5 system-ui, sans-serif; }
#server { padding: 14px 18px; display: grid; gap: 12px; }
#server p { margin: 0; color: light-dark(#59626f, #a0a9b6); }
.samples { display: flex; flex-wrap: wrap; gap: 6px; }
button, select, input, textarea { font: inherit; color: inherit; border: 1px solid light-dark(#c9cfd7, #39414c); border-radius: 7px; background: light-dark(#fff, #1c2027); padding: 4px 10px; }
button { cursor: pointer; }
.samples button { font: 12.5px ui-monospace, Menlo, Consolas, monospace; padding: 3px 8px; }
form { display: grid; grid-template-columns: auto 1fr auto; gap: 6px; }
form textarea { grid-column: 1 / -1; resize: vertical; }
form input, form textarea { font: 13px/1.5 ui-monospace, Menlo, Consolas, monospace; min-width: 0; }
.answer { border-top: 1px solid light-dark(#e7e9ed, #242931); padding: 12px 18px; }
.answer h2 { margin: 0; display: flex; gap: 10px; font: 600 13px ui-monospace, Menlo, Consolas, monospace; }
.answer h2 span { margin-left: auto; color: light-dark(#16794c, #59cf97); }
.answer[data-failed] h2 span { color: light-dark(#b3261e, #ff8a80); }
.answer pre { margin: 8px 0 0; font: 13px/1.55 ui-monospace, Menlo, Consolas, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
.answer details { margin-top: 6px; font-size: 12.5px; color: light-dark(#59626f, #a0a9b6); }
`;

export function begin(samples: SampleRequest[]): void {
  reportErrors();
  provideGlobals();
  mirrorConsole(addOutput(document.body));
  onListen((server) => show(server, samples));
}

/** What Node's packages expect to find. */
function provideGlobals(): void {
  Object.assign(globalThis, {
    Buffer,
    setImmediate: (callback: (...values: unknown[]) => void, ...values: unknown[]) =>
      setTimeout(callback, 0, ...values),
    process: {
      env: {},
      argv: [],
      platform: 'browser',
      version: '',
      versions: {},
      cwd: () => '/',
      nextTick: (callback: (...values: unknown[]) => void, ...values: unknown[]) =>
        queueMicrotask(() => callback(...values)),
      on() {},
      emitWarning() {},
    },
  });
}

function show(server: Server, samples: SampleRequest[]): void {
  const sheet = document.createElement('style');
  sheet.textContent = style;
  const panel = document.createElement('section');
  panel.id = 'server';
  panel.innerHTML = `
    <p>There are no sockets in a page: these requests go straight to the app, which runs in this frame.</p>
    <div class="samples"></div>
    <form>
      <select name="method" aria-label="Method"><option>GET<option>POST<option>PUT<option>PATCH<option>DELETE</select>
      <input name="path" aria-label="Path" value="/" spellcheck="false" />
      <button type="button">Send</button>
      <textarea name="body" rows="2" aria-label="Body, as JSON" placeholder="Body, as JSON" spellcheck="false"></textarea>
    </form>`;
  const answers = document.createElement('div');
  answers.setAttribute('aria-live', 'polite');
  document.body.append(sheet, panel, answers);
  const form = panel.querySelector('form') as HTMLFormElement;
  const fields = form.elements as unknown as Record<'method' | 'path' | 'body', HTMLInputElement>;

  const send = async () => {
    const { method, path, body } = { method: fields.method.value, path: fields.path.value, body: fields.body.value };
    const headers: Record<string, string> = { accept: '*/*' };
    const sent = method === 'GET' ? '' : body;
    if (sent) headers['content-type'] = 'application/json';
    const began = performance.now();
    const answer = await server.exchange({ method, path, headers, body: sent });
    answers.prepend(describe(`${method} ${path}`, answer, performance.now() - began));
  };
  // A sandboxed frame may not submit forms, not even to a listener.
  form.querySelector('button')?.addEventListener('click', () => void send());
  fields.path.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') void send();
  });
  for (const sample of samples) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = `${sample.method} ${sample.path}`;
    if (sample.body) button.title = sample.body;
    button.addEventListener('click', () => {
      fields.method.value = sample.method;
      fields.path.value = sample.path;
      fields.body.value = sample.body ?? '';
      void send();
    });
    panel.querySelector('.samples')?.append(button);
  }
  const [first] = samples;
  if (first) panel.querySelector<HTMLButtonElement>('.samples button')?.click();
}

function describe(request: string, answer: Answer, elapsed: number): HTMLElement {
  const article = document.createElement('article');
  article.className = 'answer';
  article.toggleAttribute('data-failed', answer.status >= 400);
  const heading = document.createElement('h2');
  const status = document.createElement('span');
  status.textContent = `${answer.status} ${answer.statusText}, ${elapsed.toFixed(1)} ms`;
  heading.append(request, status);
  const body = document.createElement('pre');
  body.textContent = pretty(answer.body);
  const headers = document.createElement('details');
  headers.innerHTML = '<summary>Headers</summary>';
  const lines = document.createElement('pre');
  lines.textContent = answer.headers.map(([name, value]) => `${name}: ${value}`).join('\n');
  headers.append(lines);
  article.append(heading, body, headers);
  return article;
}

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2);
  } catch {
    return body;
  }
}

/** The projects to start from. Their `package.json` is the very file that the tests install. */

export interface Starter {
  id: string;
  title: string;
  /** One line, shown where the starters are chosen from. */
  summary: string;
  /** What Run bundles. */
  entry: string;
  /** `page`: the entry draws into #root. `console`: its output is what there is to see. `server`: it answers requests. */
  kind: 'page' | 'console' | 'server';
  /** Requests offered to a `server`. */
  requests?: readonly SampleRequest[];
}

export interface SampleRequest {
  method: string;
  path: string;
  body?: string;
}

export const starters: readonly Starter[] = [
  { id: 'react', title: 'React', summary: 'React with Vite and its plugin', entry: 'src/main.jsx', kind: 'page' },
  { id: 'vue', title: 'Vue', summary: 'Vue with a single-file component', entry: 'src/main.js', kind: 'page' },
  { id: 'svelte', title: 'Svelte', summary: 'Svelte with runes', entry: 'src/main.js', kind: 'page' },
  {
    id: 'express',
    title: 'Express',
    summary: 'An API with Express and zod',
    entry: 'src/server.js',
    kind: 'server',
    requests: [
      { method: 'GET', path: '/' },
      { method: 'GET', path: '/orders' },
      { method: 'GET', path: '/orders/7' },
      { method: 'POST', path: '/orders', body: '{ "item": "hooks", "quantity": 12 }' },
      { method: 'POST', path: '/orders', body: '{ "item": "", "quantity": 99 }' },
    ],
  },
  {
    id: 'lodash',
    title: 'lodash',
    summary: 'One package, results in a console',
    entry: 'src/main.js',
    kind: 'console',
  },
];

export const MANIFEST = 'package.json';
export const SETTINGS = '.npmrc';

const NO_SETTINGS = `; Settings of this project, as npm reads them, such as:
; legacy-peer-deps=true
; @team:registry=https://registry.example.com/
`;

const sources = import.meta.glob<string>('./starters/*/src/*', { query: '?raw', import: 'default', eager: true });
const manifests = import.meta.glob<string>(
  [
    '../../tests/projects/react/package.json',
    '../../tests/projects/vue/package.json',
    '../../tests/projects/svelte/package.json',
    '../../tests/projects/express/package.json',
    '../../tests/projects/lodash/package.json',
  ],
  { query: '?raw', import: 'default', eager: true },
);

/** The files of a starter as they come, `package.json` first, then the settings that npm would read. */
export function starterFiles(id: string): Map<string, string> {
  const files = new Map([[MANIFEST, manifests[`../../tests/projects/${id}/package.json`] ?? '{}\n']]);
  files.set(SETTINGS, NO_SETTINGS);
  const prefix = `./starters/${id}/`;
  for (const [path, text] of Object.entries(sources)) {
    if (path.startsWith(prefix)) files.set(path.slice(prefix.length), text);
  }
  return files;
}

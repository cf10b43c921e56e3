// A service worker that serves the files of a project below /tree/, in whatever state the project is, and says what it knows of it.
import { openProject } from '/package/dist/read.js';

const opening = openProject();

/** What a path of the site asks for. */
const answers = {
  '/tree/': async (path) => new Response(await (await opening).fs.readFile(path)),
  '/names/': async (path) => Response.json(await (await opening).fs.readdir(path)),
  '/lock/': async () => new Response(await (await opening).lockfile()),
  '/digest/': async () => new Response(await (await opening).treeDigest()),
};

addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('fetch', (event) => {
  const { pathname } = new URL(event.request.url);
  const [start, answer] = Object.entries(answers).find(([start]) => pathname.startsWith(start)) ?? [];
  if (!start) return;
  const failed = (error) => Response.json({ code: error.code, hint: error.hint }, { status: 404 });
  event.respondWith(answer(pathname.slice(start.length - 1)).catch(failed));
});

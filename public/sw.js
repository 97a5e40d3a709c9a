// Stands between the browser and the server for navigations, so that a server that does not respond is our page and not the browser's. It
// keeps that page and its files, and nothing else: no page of the administrator, no answer of the API.
// `away` is set above this file by its route.
const { away, caches, clients, registration } = self;
self.importScripts(away.script);
const scopeName = `tidemark-away ${registration.scope} `;
// The files' names say what is in them: as long as they are the same, a new worker has nothing to delete.
const cacheName = scopeName + away.files.join(" ");
// What the browser itself should answer at once and sometimes does not must not keep navigations waiting.
const takeOverMs = 1000;
const preloadMs = 3000;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

self.addEventListener("install", (event) => {
  self.skipWaiting();
  event.waitUntil(caches.open(cacheName).then((cache) => cache.addAll(away.files)));
});

self.addEventListener("activate", (event) => {
  event.waitUntil(Promise.race([takeOver(), pause(takeOverMs)]));
});

async function takeOver() {
  await Promise.all([
    // The browser then sends a navigation without waiting until this worker has started.
    registration.navigationPreload?.enable(),
    clients.claim(),
    deleteFormer(),
  ]);
}

async function deleteFormer() {
  const names = await caches.keys();
  const former = names.filter((name) => name.startsWith(scopeName) && name !== cacheName);
  await Promise.all(former.map((name) => caches.delete(name)));
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { pathname } = new URL(request.url);
  if (away.files.includes(pathname)) event.respondWith(kept(request));
  else if (request.mode === "navigate" && isOurs(request)) event.respondWith(navigate(event));
});

/**
 * What a worker sends on may count as a request of its own site. The form of a foreign page must not become one: it stays with the browser,
 * and the server refuses it.
 */
function isOurs({ method, referrer }) {
  return method === "GET" || referrer.startsWith(registration.scope);
}

async function kept(request) {
  const cache = await caches.open(cacheName);
  return (await cache.match(request)) ?? (await self.fetch(request));
}

/**
 * The server's response, whatever it is. It is asked once: what is sent twice may be done twice. Only what is opened is preloaded, and asked for
 * again if that never comes.
 */
async function navigate(event) {
  try {
    const response =
      (await Promise.race([event.preloadResponse, pause(preloadMs)])) ?? (await self.fetch(event.request));
    if (!self.isOfProxy(response)) return response;
  } catch {
    // Not reached, or cut off.
  }
  const page = event.request.method === "GET" ? away.pages.opened : away.pages.sent;
  return new Response(page, { status: 503, headers: away.headers });
}

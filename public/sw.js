// Stands between the browser and the server for navigations, so that a server that does not respond is our page and not the browser's. That page
// and its files are kept by `away.js`: nothing else is, no page of the administrator, no answer of the API. What this script says changes with
// neither language nor theme, and rarely with a version: while one worker replaces another, Chromium may never finish a page that is on its way.
// `away` is set above this file by its route.
const { away, caches, registration } = self;
self.importScripts(away.script);
// What the browser itself should answer at once and sometimes does not must not keep navigations waiting.
const activateMs = 1000;
const preloadMs = 3000;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

self.addEventListener("activate", (event) => {
  // The browser then sends a navigation without waiting until this worker has started.
  event.waitUntil(Promise.race([registration.navigationPreload?.enable(), pause(activateMs)]));
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.url.endsWith("?kept")) event.respondWith(kept(request));
  else if (request.mode === "navigate" && isOurs(request)) event.respondWith(navigate(event));
});

/**
 * What a worker sends on may count as a request of its own site. The form of a foreign page must not become one: it stays with the browser,
 * and the server refuses it.
 */
function isOurs({ method, referrer }) {
  return method === "GET" || referrer.startsWith(registration.scope);
}

const find = (address) =>
  caches.match(address, { cacheName: `tidemark-away ${registration.scope}`, ignoreSearch: true });

async function kept(request) {
  return (await find(request.url)) ?? (await self.fetch(request));
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
  const page = await find(`${registration.scope}away/${event.request.method === "GET" ? "opened" : "sent"}`);
  return page ? new Response(page.body, { status: 503, headers: page.headers }) : Response.error();
}

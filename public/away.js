// What a page does while the server does not respond: it asks less and less often, and says when it does.
const slowestSeconds = 30;

/**
 * Asks until the server responds, then calls `back` once. Calls `waits` with the whole seconds until the next question, every second, and
 * `asks` with each. Returns what asks at once.
 */
self.untilServerResponds = ({ waits = () => undefined, asks = () => undefined, back }) => {
  const address = `${document.documentElement.dataset.base}/health/live`;
  let pause = 1;
  let left = 0;
  let isAsking = false;
  let timer;
  async function ask() {
    if (isAsking) return;
    isAsking = true;
    clearTimeout(timer);
    asks();
    const options = { cache: "no-store", signal: AbortSignal.timeout(10000) };
    const responds = await self.fetch(address, options).then(
      ({ ok }) => ok,
      () => false,
    );
    isAsking = false;
    if (responds) {
      removeEventListener("online", ask);
      document.removeEventListener("visibilitychange", askIfSeen);
      back();
      return;
    }
    left = pause;
    pause = Math.min(2 * pause, slowestSeconds);
    count();
  }
  function count() {
    if (left === 0) {
      void ask();
      return;
    }
    waits(left);
    left -= 1;
    timer = setTimeout(count, 1000);
  }
  function askIfSeen() {
    if (!document.hidden) void ask();
  }
  addEventListener("online", ask);
  document.addEventListener("visibilitychange", askIfSeen);
  void ask();
  return ask;
};

/** The page that stands in for one that could not be had: what was opened is opened again, what was sent never sent again. */
function standIn(page) {
  const part = (name) => page.querySelector(`[data-away-${name}]`);
  const { base } = document.documentElement.dataset;
  const wait = part("wait");
  const back = part("back");
  const { referrer } = document;
  if (back && referrer.startsWith(`${location.origin}${base}/`)) back.href = referrer;
  const ask = self.untilServerResponds({
    waits: (left) => {
      wait.textContent = wait.dataset.waits.replace("{seconds}", left);
    },
    asks: () => {
      wait.textContent = wait.dataset.asks;
    },
    back: () => {
      wait.textContent = "";
      part("responds").textContent = page.dataset.responds;
      if (page.dataset.away === "opened") location.reload();
      else part("ask").hidden = true;
    },
  });
  part("ask").addEventListener("click", ask);
}

/** Whether it is the error page of a proxy, whose server does not respond. Every response of ours has an ID. */
self.isOfProxy = ({ status, headers }) => [502, 503, 504].includes(status) && !headers.has("x-request-id");

/** Keeps what the service worker shows, in the language and theme of this page. Over plain http browsers have neither, except on this machine. */
async function keepAway({ base, worker, kept }) {
  const scope = `${base}/`;
  await navigator.serviceWorker.register(worker, { scope, updateViaCache: "all" });
  const cache = await caches.open(`tidemark-away ${new URL(scope, location)}`);
  const addresses = kept.split(" ").map((path) => new URL(path, location).href);
  // All of them are added, or none.
  if (await cache.match(addresses[0])) return;
  await cache.addAll(addresses);
  for (const { url } of await cache.keys()) if (!addresses.includes(url)) await cache.delete(url);
}

// The service worker has no document, and the page that it shows names none.
const shown = self.document;
const awayPage = shown?.querySelector("[data-away]");
if (awayPage) standIn(awayPage);
// Once the page can be used.
else if (shown && navigator.serviceWorker)
  addEventListener("load", () => keepAway(shown.documentElement.dataset).catch(() => undefined));

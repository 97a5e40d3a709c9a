import { afterAll, afterEach, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { createServer, type Server, request as send } from "node:http";
import type { Page } from "playwright-core";
import { chromiumMissing } from "../peers/chromium.ts";
import { freePort } from "../peers/free-port.ts";
import { openBrowser, type Person } from "../support/browser-person.ts";
import { eventually } from "../support/eventually.ts";
import { peerSuite } from "../support/peer.ts";
import { type ApiClient, firstSignIn, type RunningServer, startServer } from "../support/server.ts";

setDefaultTimeout(180_000);

const missing = chromiumMissing();

/** The application at `http://127.0.0.1:PORT/ops`, which can go away and come back at the same address. */
class Ops {
  private constructor(
    readonly port: number,
    private running: RunningServer,
  ) {}

  static async start(): Promise<Ops> {
    const port = await freePort();
    return new Ops(port, await startServer({ env: Ops.env(port) }));
  }

  private static env(port: number) {
    return { PORT: String(port), BASE_URL: `http://127.0.0.1:${port}/ops` };
  }

  get server(): RunningServer {
    return this.running;
  }

  get address(): string {
    return `http://127.0.0.1:${this.port}/ops`;
  }

  async goAway(): Promise<void> {
    await this.running.kill("SIGKILL");
  }

  async comeBack(): Promise<void> {
    this.running = await startServer({ env: Ops.env(this.port), data_dir: this.running.data_dir });
  }
}

/** A proxy before the application, which notes what is sent to it. */
async function startFront(target: number) {
  const port = await freePort();
  const posts: string[] = [];
  let answer: "server" | "bad gateway" | "cut" = "server";
  let before = "";
  const front: Server = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    if (method === "POST") posts.push(path ?? "");
    if (answer === "cut") {
      incoming.socket.destroy();
    } else if (answer === "bad gateway") {
      outgoing.writeHead(502, { "Content-Type": "text/html" }).end("<h1>502 Bad Gateway</h1>");
    } else {
      const isWorker = path?.startsWith("/ops/sw.js") === true;
      const asked = isWorker ? { ...headers, "accept-encoding": "identity" } : headers;
      const passed = send({ port: target, host: "127.0.0.1", method, path, headers: asked }, (response) => {
        if (isWorker) delete response.headers["content-length"];
        outgoing.writeHead(response.statusCode ?? 500, response.headers);
        if (isWorker) outgoing.write(before);
        response.pipe(outgoing);
      });
      passed.on("error", () => outgoing.destroy());
      incoming.pipe(passed);
    }
  });
  await new Promise<void>((resolve) => front.listen(port, "127.0.0.1", () => resolve()));
  return {
    port,
    posts,
    answerBy: (next: typeof answer) => {
      answer = next;
    },
    /** Script that runs before the service worker's own. */
    beforeWorker: (script: string) => {
      before = script;
    },
    stop: () => {
      front.closeAllConnections();
      front.close();
    },
  };
}

type Motion = "reduce" | "no-preference";

peerSuite("a server that does not respond, in Chromium", missing, () => {
  let ops: Ops;
  let api: ApiClient;
  let origin: string;
  let first: Person;
  let person: Person;
  let page: Page;

  /** A signed-in tab at a page, which the service worker controls. */
  async function openAt(path: string, from = ops.address, reducedMotion: Motion = "no-preference"): Promise<void> {
    origin = from;
    person = await first.stranger({ reducedMotion });
    ({ page } = person);
    await person.signIn();
    // A page that was on its way when the worker took over is not controlled; the next one is.
    await eventually("a page that the service worker controls", async () => {
      await person.go(path);
      const isControlled = await page.evaluate(() => navigator.serviceWorker.controller?.state === "activated");
      return isControlled && (await keptFiles()).length === 6;
    });
  }
  /** By hand, that is by the form that this suite sends. */
  const backupsMade = async () => {
    const { items } = (await api.get("/backups")).body as { items: { kind: string }[] };
    return items.filter(({ kind }) => kind === "manual");
  };
  const keptFiles = () =>
    page.evaluate(async () => {
      const opened = await Promise.all((await caches.keys()).map((name) => caches.open(name)));
      const requests = await Promise.all(opened.map((cache) => cache.keys()));
      return requests.flat().map(({ url }) => url.slice(location.origin.length));
    });
  const heading = async (text: string) => await page.locator("h1", { hasText: text }).waitFor();

  beforeAll(async () => {
    ops = await Ops.start();
    api = await firstSignIn(ops.server);
    const usual = /^Failed to load resource|^htmx: htmx:error: Failed to fetch/;
    first = await openBrowser(() => origin, { usual });
  });

  afterEach(async () => {
    await person?.close();
  });

  afterAll(async () => {
    await first?.close();
    await ops?.server.kill("SIGTERM");
  });

  test("a click leads to our page, which returns to the same address by itself", async () => {
    await openAt("/trackers");
    await ops.goAway();
    await page.click("nav >> text=Executors");
    await heading("Tidemark is not responding");
    expect(page.url()).toBe(`${ops.address}/executors`);
    await page.locator("[data-away-wait]", { hasText: "Next attempt in" }).waitFor();
    await page.click("text=Try now");
    await heading("Tidemark is not responding");
    await ops.comeBack();
    await heading("Executors");
    expect(page.url()).toBe(`${ops.address}/executors`);
  });

  test.each<[Motion, boolean]>([
    ["no-preference", true],
    ["reduce", false],
  ])("pages fade into each other, with reduced motion %p: %p", async (motion, fades) => {
    await openAt("/trackers", ops.address, motion);
    await page.addInitScript(() => {
      addEventListener("pagereveal", (event) => {
        const { faded = "0" } = sessionStorage;
        if ("viewTransition" in event && event.viewTransition !== null)
          sessionStorage.faded = String(Number(faded) + 1);
      });
    });
    await page.click("nav >> text=Executors");
    await heading("Executors");
    await page.click("nav >> text=Runs");
    await heading("Runs");
    await page.goBack();
    await heading("Executors");
    // A browser that is busy leaves a fade out.
    expect(await page.evaluate(() => Number(sessionStorage.faded ?? 0) > 0)).toBe(fades);
    // No page of ours, which has no part in it.
    await person.go("/docs");
    await page.click("main a[href$='/openapi.json']");
    await page.waitForURL("**/openapi.json");
    await page.goBack();
    await page.locator("h1").waitFor();
  });

  test("the page speaks the language and wears the theme of its reader", async () => {
    await openAt("/account");
    await page.context().addCookies([
      { name: "tidemark_language", value: "zh", url: `${ops.address}/` },
      { name: "tidemark_theme", value: "dark", url: `${ops.address}/` },
    ]);
    await person.go("/account");
    // The worker stays, the page that it shows is another.
    const workers = await page.evaluate(async () => {
      const { active, waiting, installing } = await navigator.serviceWorker.ready;
      return [active?.state, waiting, installing];
    });
    expect(workers).toEqual(["activated", null, null]);
    await eventually("the page in that language and theme to be kept", async () => {
      const [first = ""] = (await keptFiles()).filter((file) => file.startsWith("/ops/away/"));
      return first.includes("language=zh&theme=dark");
    });
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const before = await ground();
    await ops.goAway();
    await person.go("/runs");
    await heading("Tidemark 没有响应");
    expect(await page.getAttribute("html", "data-theme")).toBe("dark");
    expect(await ground()).toBe(before);
    await ops.comeBack();
    await heading("运行");
  });

  test("the browser keeps nothing but that page and its files", async () => {
    await openAt("/");
    for (const path of ["/trackers", "/account", "/settings/audit"]) await person.go(path);
    const files = ["app.css", "away.js", "icon.svg", "transition.js"].map((name) => `/ops/assets/${name}`);
    const kept = (await keptFiles()).map((path) => path.replace(/\.[0-9a-f]{16}\./, ".").replace(/\?.*/, ""));
    expect(kept.toSorted()).toEqual([...files, "/ops/away/opened", "/ops/away/sent"]);
    expect(await page.evaluate(async () => (await navigator.serviceWorker.ready).scope)).toBe(`${ops.address}/`);
  });

  test("a form that got no response is not sent again, whoever failed", async () => {
    const front = await startFront(ops.port);
    await api.request("PATCH", "/settings", { base_url: `http://127.0.0.1:${front.port}/ops` });
    try {
      for (const failure of ["cut", "bad gateway"] as const) {
        await openAt("/settings/backups", `http://127.0.0.1:${front.port}/ops`);
        front.posts.length = 0;
        front.answerBy(failure);
        await page.click("text=Back up now");
        await heading("No response from Tidemark");
        // Chromium itself, without any service worker, sends what was cut off once more over a new connection.
        const sent = [...front.posts];
        if (failure === "bad gateway") expect(sent).toEqual(["/ops/settings/backups"]);
        front.answerBy("server");
        await page.locator("output", { hasText: "Tidemark is responding again" }).waitFor();
        await heading("No response from Tidemark");
        await page.click("a.btn >> text=Go back");
        await heading("Settings");
        expect(page.url()).toBe(`${origin}/settings/backups`);
        expect(front.posts).toEqual(sent);
        await person.close();
      }
      expect(await backupsMade()).toEqual([]);
    } finally {
      await api.request("PATCH", "/settings", { base_url: ops.address });
      front.stop();
    }
  });

  test("a browser that never finishes to activate the worker, and forgets what it preloads, keeps no page waiting", async () => {
    const front = await startFront(ops.port);
    front.beforeWorker(`
      const never = () => new Promise(() => {});
      self.registration.navigationPreload.enable = never;
      Object.defineProperty(FetchEvent.prototype, "preloadResponse", { get: never });
    `);
    await api.request("PATCH", "/settings", { base_url: `http://127.0.0.1:${front.port}/ops` });
    try {
      await openAt("/trackers", `http://127.0.0.1:${front.port}/ops`);
      await page.click("nav >> text=Executors");
      await heading("Executors");
    } finally {
      await api.request("PATCH", "/settings", { base_url: ops.address });
      front.stop();
    }
  });

  test("a part of a page that cannot be had is told in a line, which goes when the server is back", async () => {
    await openAt("/trackers/import");
    await ops.goAway();
    await page.fill("textarea", "nginx:1.27");
    await page.click("form.form .btn.main");
    const line = page.locator("#away");
    await line.getByText("It is not known whether the last action was carried out").waitFor();
    expect(await page.locator("form[data-busy], button[aria-busy]").count()).toBe(0);
    expect(await page.inputValue("textarea")).toBe("nginx:1.27");
    await ops.comeBack();
    await line.getByText("Tidemark is responding again").waitFor();
    expect(await line.getByText("Reload to check").getAttribute("href")).toBe(`${ops.address}/trackers/import`);
    await page.click("form.form .btn.main");
    await page.getByRole("button", { name: "Add selected trackers" }).waitFor();
  });

  test.each([
    ["/executors", "#search"],
    ["/settings/audit", "#search"],
    ["/trackers/new", "main input:visible"],
  ])("%s notices by itself, and keeps what was typed", async (path, field) => {
    await openAt(path);
    const typed = page.locator(field).first();
    await typed.fill("ghcr.io/owner/app");
    await ops.goAway();
    await page.locator("#away", { hasText: "Tidemark is not responding" }).waitFor();
    await ops.comeBack();
    await page.locator("#away", { hasText: "Tidemark is responding again" }).waitFor();
    expect(await typed.inputValue()).toBe("ghcr.io/owner/app");
  });

  test("the form of a foreign page stays foreign", async () => {
    await openAt("/");
    const foreign = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: () =>
        new Response(`<form method="post" action="${ops.address}/settings/backups"><button>Go</button></form>`, {
          headers: { "content-type": "text/html" },
        }),
    });
    try {
      await page.goto(`http://localhost:${foreign.port}/`);
      await page.click("button");
      await page.locator("main", { hasText: "does not come from a page of this address" }).waitFor();
    } finally {
      await foreign.stop(true);
    }
    expect(await backupsMade()).toEqual([]);
  });

  test("neither the policy nor a script refused anything", async () => {
    expect(first.complaints).toEqual([]);
  });
});

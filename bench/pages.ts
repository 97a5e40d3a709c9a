// How long pages take for one client on a large database, and what the first visit loads. See README.md.
import { rmSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { startServer } from "../tests/support/server.ts";
import {
  countOption,
  type Figure,
  kilobytes,
  megabytes,
  ms,
  printFigures,
  processorMs,
  quantile,
  residentBytes,
} from "./figures.ts";
import { createInstallation, thousandTrackers } from "./installation.ts";

const goalMs = 25;
const goalBytes = 60_000;

interface Page {
  name: string;
  path: string;
  /** The page that asks for it. */
  from?: string;
}

type Get = (path: string, from?: string) => Promise<Awaited<ReturnType<typeof load>> & { ms: number }>;

/** As a browser loads it; it is unpacked only when it is asked for. */
async function load(address: URL, headers: Record<string, string>) {
  const response = await fetch(address, {
    headers: { ...headers, "accept-encoding": "gzip" },
    redirect: "manual",
    decompress: false,
  });
  const body = new Uint8Array(await response.arrayBuffer());
  const isPacked = response.headers.get("content-encoding") === "gzip";
  const plain = () => (isPacked ? gunzipSync(body) : body);
  return { status: response.status, body, plain, text: () => new TextDecoder().decode(plain()) };
}

async function measure(page: Page, get: Get, requests: number, pid: number): Promise<Figure[]> {
  // Until the code that answers has been compiled.
  for (let warm = 0; warm < 200; warm += 1) await get(page.path, page.from);
  const times: number[] = [];
  const before = processorMs(pid);
  for (let request = 0; request < requests; request += 1) {
    const answer = await get(page.path, page.from);
    if (answer.status !== 200) throw new Error(`${page.path} answered ${answer.status}`);
    times.push(answer.ms);
  }
  const work = (processorMs(pid) - before) / requests;
  const bytes = (await get(page.path, page.from)).text().length;
  const p99 = quantile(times, 0.99);
  return [
    {
      what: `${page.name}, p99`,
      measured: `${ms(p99)} (p50 ${ms(quantile(times, 0.5))}, processor ${ms(work)}, ${kilobytes(bytes)})`,
      goal: `${goalMs} ms or less`,
      met: p99 <= goalMs,
    },
  ];
}

/** What an open list of the address asks for every 20 seconds, while its rows show what is true. */
async function followed({ name, path }: Page, get: Get): Promise<Page> {
  const text = (await get(path)).text();
  const rows = [...text.matchAll(/<tr id="([^"]+)"[^>]*class="leads/g)].map(([, id]) => id);
  const seen = /name="seen" value="([^"]+)"/.exec(text)?.[1] ?? "";
  const query = new URLSearchParams({ section: path.slice(1), seen, shown: rows.join() });
  return { name: `${name}, followed`, path: `/changes?${query}`, from: path };
}

/** As a browser loads it: the page, and every script, style and icon that it names, each once. */
async function firstLoad(url: string, path: string, headers: Record<string, string>) {
  const page = await load(new URL(path, url), headers);
  const named = new Set(
    [...page.text().matchAll(/(?:src|href)="([^"]*\/assets\/[^"]+)"/g)].map(([, address = ""]) => address),
  );
  const parts = [page, ...(await Promise.all([...named].map((address) => load(new URL(address, url), headers))))];
  return {
    count: parts.length,
    packed: parts.reduce((sum, part) => sum + part.body.length, 0),
    plain: parts.reduce((sum, part) => sum + part.plain().length, 0),
  };
}

const requests = countOption("requests", 400, 10_000);
const installation = await createInstallation(thousandTrackers);
const server = await startServer({ data_dir: installation.data_dir });
try {
  const cookie = { cookie: `tidemark_session=${installation.token}` };
  const bearer = { authorization: `Bearer ${installation.token}` };
  const getWith =
    (headers: Record<string, string>): Get =>
    async (path, from) => {
      const asked = from === undefined ? {} : { "hx-request": "true", "hx-current-url": `${server.url}${from}` };
      const at = performance.now();
      const answer = await load(new URL(`${server.url}${path}`), { ...headers, ...asked });
      return { ...answer, ms: performance.now() - at };
    };
  const pages: Page[] = [
    { name: "Overview", path: "/" },
    { name: "Trackers", path: "/trackers" },
    { name: "Tracker", path: `/trackers/${installation.tracker}` },
    { name: "Upstreams", path: "/upstreams" },
    { name: "Run", path: `/runs/${installation.run_id}` },
    { name: "Runs", path: "/runs" },
    { name: "Executors", path: "/executors" },
    { name: "Connections", path: "/connections" },
    { name: "Audit", path: "/settings/audit" },
    { name: "Executor", path: `/executors/${installation.executor_id}` },
  ];
  const api: Page[] = [
    { name: "API: trackers", path: "/api/trackers" },
    { name: "API: tracker", path: `/api/trackers/${installation.tracker}` },
    { name: "API: releases of a tracker", path: `/api/trackers/${installation.tracker}/releases` },
    { name: "API: runs", path: "/api/runs" },
    { name: "API: run", path: `/api/runs/${installation.run_id}` },
    { name: "API: executors", path: "/api/executors" },
  ];
  const figures: Figure[] = [];
  const measureAll = async (some: readonly Page[], get: Get) => {
    for (const page of some) {
      const first = await get(page.path, page.from);
      if (first.status === 200) figures.push(...(await measure(page, get, requests, server.pid)));
      else figures.push({ what: page.name, measured: `answers ${first.status}` });
    }
  };
  await measureAll(pages, getWith(cookie));
  // Once the first evaluations are done, nothing changes.
  const lists = pages.filter(({ name }) => ["Trackers", "Runs", "Executors"].includes(name));
  await measureAll(await Promise.all(lists.map((page) => followed(page, getWith(cookie)))), getWith(cookie));
  await measureAll(api, getWith(bearer));
  const loads = [
    ["sign-in page", "/login", {}],
    ["overview", "/", cookie],
    ["run", `/runs/${installation.run_id}`, cookie],
  ] as const;
  for (const [name, path, headers] of loads) {
    const load = await firstLoad(server.url, path, headers);
    figures.push({
      what: `first load, ${name}`,
      measured: `${kilobytes(load.packed)} gzipped, ${kilobytes(load.plain)} plain, ${load.count} requests`,
      goal: "60 kB or less, gzipped",
      met: load.packed <= goalBytes,
    });
  }
  figures.push({ what: "resident memory afterwards", measured: megabytes(residentBytes(server.pid)) });
  printFigures(`Pages on 1,000 trackers, one client, ${requests} requests each`, figures);
} finally {
  await server.kill("SIGTERM");
  rmSync(installation.data_dir, { recursive: true, force: true });
}

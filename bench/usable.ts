// From the address to a page that can be used, on a slow processor, and from an action to what it changes on the screen. See README.md.
import { rmSync } from "node:fs";
import { openBrowser, type Person } from "../tests/support/browser-person.ts";
import { startServer } from "../tests/support/server.ts";
import { countOption, type Figure, median, ms, printFigures } from "./figures.ts";
import { createInstallation, thousandTrackers } from "./installation.ts";

const slowdown = 4;
const usableMs = 1_000;
const swapMs = 100;

/** From the start of the navigation until everything named by the page has run and been drawn, with nothing kept from before. */
async function usable(person: Person, path: string): Promise<number> {
  await person.go(path);
  return await person.page.evaluate(
    () => new Promise<number>((drawn) => requestAnimationFrame(() => setTimeout(() => drawn(performance.now())))),
  );
}

/** From an event until the frame after the swap that it leads to; with it, how long the server took. */
async function swap(person: Person, selector: string, act: "click" | "input", value = "") {
  return await person.page.evaluate(
    async ([where = "", what = "", text = ""]) => {
      const element = document.querySelector<HTMLInputElement>(where);
      if (element === null) throw new Error(`There is no ${where}`);
      // As a press by mouse or key does before it acts.
      element.focus();
      performance.clearResourceTimings();
      const swapped = new Promise((done) => document.addEventListener("htmx:after:swap", done, { once: true }));
      const from = performance.now();
      if (what === "click") element.click();
      else {
        element.value = text;
        element.dispatchEvent(new Event("input", { bubbles: true }));
      }
      await swapped;
      await new Promise((drawn) => requestAnimationFrame(() => setTimeout(drawn)));
      const whole = performance.now() - from;
      const asked = performance.getEntriesByType("resource").map((entry) => entry as PerformanceResourceTiming);
      const request = asked.find(({ initiatorType }) => initiatorType === "fetch");
      // Waiting for more letters is meant.
      const waited = request === undefined ? 0 : request.startTime - from;
      const server = request === undefined ? 0 : request.responseEnd - request.requestStart;
      return { whole, waited, server };
    },
    [selector, act, value] as const,
  );
}

const rounds = countOption("rounds", 9, 100);
const installation = await createInstallation(thousandTrackers);
const server = await startServer({ data_dir: installation.data_dir });
const person = await openBrowser(() => server.url);
try {
  await person.signIn();
  const chromium = await person.page.context().newCDPSession(person.page);
  await chromium.send("Network.enable");
  await chromium.send("Network.setCacheDisabled", { cacheDisabled: true });
  const slowDown = async (rate: number) => await chromium.send("Emulation.setCPUThrottlingRate", { rate });
  await slowDown(slowdown);
  const figures: Figure[] = [];
  const pages = [
    "/",
    "/trackers",
    "/executors",
    "/runs",
    `/executors/${installation.executor_id}`,
    `/runs/${installation.run_id}`,
  ];
  for (const path of pages) {
    await usable(person, path);
    const times: number[] = [];
    for (let round = 0; round < rounds; round += 1) times.push(await usable(person, path));
    const middle = median(times);
    const name = path.replace(/\/[0-9a-f-]{36}$/, "/ID");
    figures.push({
      what: `${name} usable, slowed down`,
      measured: ms(middle),
      goal: `${usableMs} ms or less`,
      met: middle <= usableMs,
    });
  }
  await chromium.send("Network.setCacheDisabled", { cacheDisabled: false });
  const swaps = [
    ["search in trackers", "/trackers", "main input[name=q]", "input"],
    ["search in executors", "/executors", "main input[name=q]", "input"],
    ["check from the row of a tracker", "/trackers", "main tbody .row-actions button", "click"],
  ] as const;
  for (const [[name, path, selector, act], rate] of swaps.flatMap((each) => [
    [each, 1] as const,
    [each, slowdown] as const,
  ])) {
    await slowDown(rate);
    const times: number[] = [];
    const servers: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      await person.go(path);
      await person.untilSettled();
      const { whole, waited, server } = await swap(person, selector, act, `app-00${10 + round}`);
      times.push(whole - waited - server);
      servers.push(server);
    }
    const middle = median(times);
    const measured = `${ms(middle)} besides ${ms(median(servers))} for the response`;
    const goal = rate === 1 ? { goal: `${swapMs} ms or less`, met: middle <= swapMs } : {};
    figures.push({ what: `${name}, swap to paint${rate === 1 ? "" : ", slowed down"}`, measured, ...goal });
  }
  printFigures(`A browser at full speed and slowed down ${slowdown} times, median of ${rounds}`, figures);
} finally {
  await person.close();
  await server.kill("SIGTERM");
  rmSync(installation.data_dir, { recursive: true, force: true });
}

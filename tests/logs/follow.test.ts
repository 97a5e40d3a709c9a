import { afterEach, beforeEach, expect, test } from "bun:test";
import { PluginError } from "../../src/errors.ts";
import { followLogs, longestMs } from "../../src/logs/follow.ts";
import { type LogMark, marksText } from "../../src/logs/marks.ts";
import { logMask } from "../../src/logs/mask.ts";
import type { LogNews } from "../../src/logs/schema.ts";
import { plain, say } from "../../src/messages/message.ts";
import type { LogLine, LogPart } from "../../src/runtimes/logs.ts";
import { createFakeClock, type FakeClock } from "../support/fake-clock.ts";

/** A container that writes what it is told. */
class Writer {
  state: LogPart["state"] = "running";
  start = "1";
  failure: PluginError | null = null;
  /** Whether a stream ends at once, as behind a proxy that cuts it. */
  isCut = false;
  readonly lines: LogLine[] = [];
  readings = 0;
  #streams = new Set<{ take: (lines: readonly LogLine[] | PluginError | null) => void }>();

  constructor(readonly key: string) {}

  write(second: number, ...texts: readonly string[]): void {
    const lines = texts.map((text) => ({ at: timeOf(second), text }));
    for (const line of lines) this.lines.push(line);
    for (const { take } of this.#streams) take(lines);
  }

  /** Ends all streams, as a connection does that breaks. */
  cut(): void {
    for (const { take } of this.#streams) take(null);
  }

  /** Nothing can be read any more. */
  fail(failure: PluginError): void {
    this.failure = failure;
    for (const { take } of this.#streams) take(failure);
  }

  get streams(): number {
    return this.#streams.size;
  }

  part(): LogPart {
    return {
      ...{ key: this.key, service: this.key, pod: "", container: this.key, state: this.state, start: this.start },
      ...{ unreadable: null, secrets: [] },
      read: (reading) => this.#read(reading),
    };
  }

  async *#read({ tail, since, follow, signal }: Parameters<LogPart["read"]>[0]) {
    this.readings += 1;
    if (this.failure !== null) throw this.failure;
    const from = since === null ? "" : timeOf(since - begin);
    yield this.lines.slice(-tail).filter(({ at }) => at >= from);
    if (!follow || this.isCut) return;
    const queue: (readonly LogLine[] | PluginError | null)[] = [];
    let wake: () => void = () => undefined;
    const stream = {
      take: (lines: readonly LogLine[] | PluginError | null) => {
        queue.push(lines);
        wake();
      },
    };
    this.#streams.add(stream);
    signal.addEventListener("abort", () => stream.take(null));
    try {
      for (;;) {
        const next = queue.shift();
        if (next === null || signal.aborted) return;
        if (next instanceof PluginError) throw next;
        if (next === undefined) await new Promise<void>((resolve) => (wake = resolve));
        else yield next;
      }
    } finally {
      this.#streams.delete(stream);
    }
  }
}

/** Seconds since 1970 of second 0. */
const begin = Date.UTC(2026, 0, 5, 12) / 1000;
const timeOf = (second: number) => `${new Date((begin + second) * 1000).toISOString().slice(0, 19)}.000000000Z`;

let clock: FakeClock;
let stopping: AbortController;
let writers: Writer[];
let listFailure: PluginError | null;
let told: LogNews[];
let marks: ReadonlyMap<string, LogMark>;
let over: Promise<void>;

beforeEach(() => {
  clock = createFakeClock();
  stopping = new AbortController();
  writers = [];
  listFailure = null;
  told = [];
});
afterEach(async () => {
  stopping.abort();
  await over;
});

function follow(from: ReadonlyMap<string, LogMark> = new Map(), lines = 100): void {
  const following = followLogs({
    list: async () => {
      if (listFailure !== null) throw listFailure;
      return writers.map((each) => each.part());
    },
    isChosen: () => true,
    linesOf: () => lines,
    marks: from,
    mask: logMask((text) => text),
    ...{ clock, signal: stopping.signal },
  });
  ({ marks } = following);
  over = (async () => {
    for await (const news of following.news) told.push(news);
  })();
}
function writer(key = "web"): Writer {
  const made = new Writer(key);
  writers.push(made);
  return made;
}
const linesOf = () =>
  told.flatMap((news) => (news.kind === "lines" ? news.lines.map(({ text }) => `${news.part.name} ${text}`) : []));
/** `name state reason`, each change of it. */
const statesOf = () => {
  const states = told.flatMap((news) =>
    news.kind === "parts"
      ? news.parts.map(({ name, state, why_data }) => `${name} ${state} ${why_data?.code ?? "-"}`)
      : [],
  );
  return states.filter((state, at) => state !== states[at - 1]);
};
const endOf = () => told.flatMap((news) => (news.kind === "end" ? [news.why.code] : []));

test("begins with the last lines and goes on with what is written", async () => {
  const web = writer();
  web.write(1, "a", "b", "c");
  follow(new Map(), 2);
  await clock.advance(1_000);
  expect(linesOf()).toEqual(["web b", "web c"]);
  web.write(1, "d");
  web.write(2, "e");
  await clock.advance(1_000);
  expect(linesOf()).toEqual(["web b", "web c", "web d", "web e"]);
  expect(statesOf()).toEqual(["web waiting -", "web running -"]);
});

test("takes a log up again where it was cut, without repeating or losing a line, and its state does not change", async () => {
  const web = writer();
  web.write(1, "a");
  follow();
  await clock.advance(1_000);
  web.cut();
  web.write(1, "b");
  web.write(1, "c");
  await clock.advance(3_000);
  web.write(1, "d");
  await clock.advance(1_000);
  expect(linesOf()).toEqual(["web a", "web b", "web c", "web d"]);
  expect(statesOf()).toEqual(["web waiting -", "web running -"]);
});

test("goes on from the marks of an earlier view", async () => {
  const web = writer();
  web.write(1, "a", "b");
  follow();
  await clock.advance(1_000);
  stopping.abort();
  await over;
  const before = marks;
  web.write(1, "c");
  stopping = new AbortController();
  told = [];
  follow(before);
  await clock.advance(1_000);
  expect(linesOf()).toEqual(["web c"]);
  expect(marksText(marks)).not.toBe(marksText(before));
});

test("reads a container to its end once it stopped, and says that it was started again", async () => {
  const web = writer();
  web.write(1, "a");
  follow();
  await clock.advance(1_000);
  web.state = "stopped";
  web.write(2, "last");
  web.cut();
  await clock.advance(5_000);
  const readings = web.readings;
  await clock.advance(20_000);
  expect(web.readings).toBe(readings);
  web.state = "running";
  web.start = "2";
  web.write(3, "b");
  await clock.advance(5_000);
  expect(linesOf()).toEqual(["web a", "web last", "web b"]);
  expect(statesOf()).toEqual(["web waiting -", "web running -", "web stopped -", "web running -"]);
  expect(told.flatMap((news) => (news.kind === "lines" && news.has_restarted ? [news.part.name] : []))).toEqual([
    "web",
  ]);
});

test("a refused log waits with the reason, and neither flaps nor ends the view", async () => {
  const web = writer();
  web.failure = new PluginError("unauthorized", say("kubernetes.logs_forbidden", { namespace: "shop" }));
  follow();
  await clock.advance(longestMs / 2);
  expect(statesOf()).toEqual(["web waiting -", "web waiting kubernetes.logs_forbidden"]);
  expect([endOf(), linesOf()]).toEqual([[], []]);
  expect(web.readings).toBeLessThan(20);
  web.failure = null;
  web.write(1, "a");
  await clock.advance(60_000);
  expect(linesOf()).toEqual(["web a"]);
});

test("ends when the log of a container that runs cannot be read any more", async () => {
  const [web, db] = [writer(), writer("db")];
  db.write(1, "x");
  web.failure = new PluginError("rejected", plain("500"));
  follow();
  await clock.advance(30_000);
  await over;
  expect([endOf(), linesOf()]).toEqual([["logs.ended_by_cut"], ["db x"]]);
});

test("ends when every stream is cut at once, without spinning", async () => {
  const web = writer();
  web.isCut = true;
  web.write(1, "a");
  follow();
  await clock.advance(60_000);
  await over;
  expect(endOf()).toEqual(["logs.ended_by_cut"]);
  expect(web.readings).toBeLessThan(25);
});

test("ends after its longest time, and leaves no stream behind", async () => {
  const web = writer();
  follow();
  await clock.advance(longestMs - 1_000);
  expect([endOf(), web.streams]).toEqual([[], 1]);
  await clock.advance(1_500);
  await over;
  expect([endOf(), web.streams]).toEqual([["logs.ended_by_time"], 0]);
});

test("ends at once, and says nothing, when nobody reads any more", async () => {
  const web = writer();
  follow();
  await clock.advance(1_000);
  stopping.abort();
  await over;
  expect([endOf(), web.streams]).toEqual([[], 0]);
});

test("an update may replace the target, but a target that is gone ends the view", async () => {
  const web = writer();
  web.write(1, "a");
  follow();
  await clock.advance(1_000);
  listFailure = new PluginError("not_found", plain("gone"));
  web.cut();
  await clock.advance(10_000);
  listFailure = null;
  web.start = "2";
  web.write(2, "b");
  await clock.advance(5_000);
  expect([endOf(), linesOf()]).toEqual([[], ["web a", "web b"]]);
  listFailure = new PluginError("not_found", plain("gone"));
  await clock.advance(40_000);
  await over;
  expect(endOf()).toEqual(["logs.ended_by_target"]);
});

test("a runtime that does not respond ends the view after a while, or at once if nothing was shown", async () => {
  writer();
  follow();
  await clock.advance(1_000);
  listFailure = new PluginError("unreachable", plain("no route"));
  await clock.advance(3_000);
  expect(endOf()).toEqual([]);
  await clock.advance(10_000);
  expect(endOf()).toEqual(["logs.ended_by_runtime"]);
  await over;
  told = [];
  stopping = new AbortController();
  follow();
  await clock.advance(1_000);
  expect(endOf()).toEqual(["logs.ended_by_runtime"]);
});

test("a runtime that goes down is the reason, not the logs that end with it", async () => {
  const [web, db] = [writer(), writer("db")];
  follow();
  await clock.advance(1_000);
  listFailure = new PluginError("unreachable", plain("no route"));
  for (const each of [web, db]) each.fail(listFailure);
  await clock.advance(30_000);
  await over;
  expect(endOf()).toEqual(["logs.ended_by_runtime"]);
});

test("a flood is cut to what a person can read, and told, while others are shown at once", async () => {
  const [web, db] = [writer(), writer("db")];
  follow();
  await clock.advance(1_000);
  web.write(1, ...Array.from({ length: 5_000 }, (_, at) => `line ${at}`));
  db.write(1, "x");
  await clock.advance(200);
  expect(linesOf()).toContain("db x");
  expect(linesOf().length).toBeLessThan(50);
  await clock.advance(20_000);
  const skipped = told.reduce((sum, news) => sum + (news.kind === "lines" ? (news.skipped ?? 0) : 0), 0);
  expect(skipped + linesOf().length).toBe(5_001);
  expect(linesOf().at(-1)).toBe("web line 4999");
});

test("of more containers than can be read, the others are counted", async () => {
  for (let at = 0; at < 25; at += 1) writer(`web-${at}`);
  follow();
  await clock.advance(1_000);
  const last = told.findLast((news) => news.kind === "parts");
  expect([last?.parts.length, last?.more, last?.all.length]).toEqual([20, 5, 25]);
});

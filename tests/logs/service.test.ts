import { afterEach, beforeEach, expect, test } from "bun:test";
import { systemActor } from "../../src/auth/schema.ts";
import { audit_entries, connections } from "../../src/db/tables.ts";
import { PluginError } from "../../src/errors.ts";
import { plain } from "../../src/messages/message.ts";
import { seenIn } from "../support/log-reader.ts";
import { createWorld, type World } from "../support/run-world.ts";

let world: World;
let executor: string;
const live = new AbortController().signal;

beforeEach(async () => {
  world = await createWorld();
  executor = await world.addExecutor({});
});
afterEach(() => world.close());

const read = (query: Readonly<Record<string, string>> = {}) => world.main.logs.read(systemActor, executor, query, live);
const entries = async () =>
  (await world.db.read.select().from(audit_entries)).filter(({ event }) => event === "logs_read");

test("the last lines are read, without secrets, and nothing is stored but that they were", async () => {
  const text = "a line nobody else writes";
  world.engine.logOf = () => [
    { at: "2026-01-05T11:59:59.000000007Z", text },
    { at: "2026-01-05T11:59:59.000000008Z", text: "uses correct-horse-battery and hunter2-token" },
  ];
  const { view, all } = await read({ lines: "2" });
  expect(view.containers).toMatchObject([
    {
      ...{ name: "web", service: "main", state: "running", why: null },
      lines: [
        { at: "2026-01-05T11:59:59.000000007Z", text },
        { at: "2026-01-05T11:59:59.000000008Z", text: "uses [redacted] and [redacted]" },
      ],
    },
  ]);
  expect(all).toEqual(["web"]);
  const [entry, ...others] = await entries();
  expect([entry?.subject_id, others.length]).toEqual([executor, 0]);
  expect(JSON.stringify(entry)).not.toContain(text);
});

test("one entry of the audit stands for ten minutes, and counts once it is stored", async () => {
  const insert = world.db.write;
  Object.assign(world.db, { write: () => Promise.reject(new Error("The disk is full")) });
  await expect(read()).rejects.toThrow("The disk is full");
  Object.assign(world.db, { write: insert });
  await read();
  await read();
  expect(await entries()).toHaveLength(1);
  await world.clock.advance(11 * 60_000);
  await read();
  expect(await entries()).toHaveLength(2);
});

test("a log that cannot be read is told beside the others", async () => {
  world.engine.failures.set("log web", new PluginError("unauthorized", plain("Not for you")));
  expect(seenIn((await read()).view)).toEqual({ web: { state: "waiting", why: "text.plain", lines: [] } });
});

test("a log that does not respond says nothing about the connection", async () => {
  world.engine.failures.set("log web", new PluginError("unreachable", plain("no answer")));
  for (let count = 0; count < 3; count += 1) {
    expect((await read()).view.containers[0]).toMatchObject({ state: "waiting", why: "no answer" });
  }
  const [row] = await world.db.read.select().from(connections);
  expect(row?.missed_looks).toBe(0);
  // That the containers cannot be listed does.
  world.engine.isUnreachable = true;
  await expect(read()).rejects.toMatchObject({ code: "unreachable" });
  const [missed] = await world.db.read.select().from(connections);
  expect(missed?.missed_looks).toBe(1);
});

test("a wrong number of lines is refused", async () => {
  for (const lines of ["0", "501", "many"]) await expect(read({ lines })).rejects.toMatchObject({ status: 422 });
});

test("a disabled connection is not asked", async () => {
  const { connection_id } = await world.main.executors.get(executor);
  await world.main.connections.update(systemActor, connection_id, { is_enabled: false });
  await expect(read()).rejects.toMatchObject({ code: "connection_disabled" });
});

test("a session may follow four targets at once, and one that is closed makes room", async () => {
  const open = async (session: string) => {
    const stopping = new AbortController();
    const { follow } = await world.main.logs.open(systemActor, session, executor, { query: {}, after: "" });
    const news = follow(stopping.signal);
    await world.clock.runUntil(news.next());
    return async () => {
      stopping.abort();
      for await (const _ of news);
    };
  };
  const closes = [];
  for (let count = 0; count < 4; count += 1) closes.push(await open("own"));
  expect(world.main.logs.refusal("own")?.code).toBe("logs.too_many_own");
  await expect(open("own")).rejects.toMatchObject({ status: 429 });
  for (const session of ["a", "b", "c"]) for (let count = 0; count < 4; count += 1) closes.push(await open(session));
  await expect(open("d")).rejects.toMatchObject({ status: 429 });
  for (const close of closes) await close();
  expect(world.main.logs.refusal("own")).toBeNull();
});

test.each<[what: string, change: (connection: string) => Promise<unknown>, code: string]>([
  ["executor is deleted", () => world.main.executors.remove(systemActor, executor), "request.not_found"],
  [
    "connection is disabled",
    (id) => world.main.connections.update(systemActor, id, { is_enabled: false }),
    "connections.disabled",
  ],
])("a view ends when its %s", async (_what, change, code) => {
  const { connection_id } = await world.main.executors.get(executor);
  const { follow } = await world.main.logs.open(systemActor, "own", executor, { query: {}, after: "" });
  const told: string[] = [];
  const watching = (async () => {
    for await (const { news } of follow(live)) told.push(news.kind === "end" ? news.why.code : news.kind);
  })();
  await world.clock.advance(5_000);
  expect(told).toContain("parts");
  await change(connection_id);
  await world.clock.advance(5_000);
  expect(told.at(-1)).toBe(code);
  await watching;
});

import { describe, expect, test } from "bun:test";
import { redactedRuntimes } from "../../src/connections/redacted-runtime.ts";
import { PluginError } from "../../src/errors.ts";
import { plain } from "../../src/messages/message.ts";
import type { RuntimeSession } from "../../src/runtimes/session.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { FakeEngine, fakeRuntime, fakeRuntimes, fakeSession } from "../support/fake-runtime.ts";
import { memoryJournal } from "../support/memory-journal.ts";

const excerpt = (text: string) => text.replaceAll("kelp-otter", "[redacted]");
const context = {
  fetch: () => Promise.reject(new Error("Engines bring their own transport")),
  signal: new AbortController().signal,
  clock: createFakeClock(),
  self: { hostname: "", data_dir: "" },
};

async function preparedFor(session: RuntimeSession, reference: string) {
  const change = { kind: "image", service: "main", reference, digest: null, image_config: null } as const;
  return await session.prepare(await session.plan({ kind: "container", id: "web" }, [change]), [], memoryJournal());
}

async function faultOf(work: (session: RuntimeSession) => Promise<unknown>, said: string): Promise<unknown> {
  const engine = new FakeEngine();
  engine.add("web", "app:1", null);
  const fault = new PluginError("rate_limited", plain(said), { retry_after_ms: 5 });
  engine.inspectFault = fault;
  for (const step of ["discover", "capture", "pull app:2", "create", "log web"]) engine.failures.set(step, fault);
  await using session = await redactedRuntimes(fakeRuntimes(engine), excerpt).docker.open({}, null, context);
  return await work(session).catch((error: unknown) => error);
}

describe("redactedRuntimes()", () => {
  test.each<[string, (session: RuntimeSession) => Promise<unknown>]>([
    ["discover", (session) => session.discover()],
    ["inspect", (session) => session.inspect({ kind: "container", id: "web" })],
    ["capture", async (session) => await session.snapshots?.capture({ kind: "container", id: "web" })],
    [
      "logParts",
      async (session) => {
        for (const { read } of (await session.logParts?.({ kind: "container", id: "web" })) ?? []) {
          const signal = new AbortController().signal;
          for await (const _ of read({ tail: 1, since: null, follow: false, signal }));
        }
      },
    ],
    ["prepare", async (session) => await preparedFor(session, "app:2")],
    ["apply", async (session) => await (await preparedFor(session, "app:3")).apply()],
  ])("takes secrets out of what %s throws, and keeps the rest of it", async (_name, work) => {
    const fault = await faultOf(work, "said kelp-otter");
    expect(fault).toBeInstanceOf(PluginError);
    expect(fault).toMatchObject({ code: "rate_limited", retry_after_ms: 5, message: "said [redacted]" });
  });

  test("keeps faults of ours as they are", async () => {
    const fault = new Error("kelp-otter");
    const runtime = { ...fakeRuntime(new FakeEngine()), open: () => Promise.reject(fault) };
    expect(
      await redactedRuntimes({ ...fakeRuntimes(new FakeEngine()), docker: runtime }, excerpt)
        .docker.open({}, null, context)
        .catch((error: unknown) => error),
    ).toBe(fault);
  });

  test("leaves no member of a session out", async () => {
    const runtime = fakeRuntime(new FakeEngine());
    await using bare = await runtime.open({}, null, context);
    await using redacted = await redactedRuntimes(
      { ...fakeRuntimes(new FakeEngine()), docker: runtime },
      excerpt,
    ).docker.open({}, null, context);
    expect(Object.keys(redacted).toSorted()).toEqual(Object.keys(bare).toSorted());
    expect(Object.keys(redacted.snapshots ?? {}).toSorted()).toEqual(Object.keys(bare.snapshots ?? {}).toSorted());
  });

  test("passes on all that a caller says", async () => {
    const settled: unknown[] = [];
    const runtime = {
      ...fakeRuntime(new FakeEngine()),
      open: async () => ({
        ...fakeSession(new FakeEngine()),
        settle: async (...given: unknown[]) => {
          settled.push(...given);
          return null;
        },
      }),
    };
    const { docker } = redactedRuntimes({ ...fakeRuntimes(new FakeEngine()), docker: runtime }, excerpt);
    await using session = await docker.open({}, null, context);
    const given = [{ kind: "helm_release", id: "a/b" }, memoryJournal(), context.signal] as const;
    await session.settle?.(...given, { is_status_enough: true });
    expect(settled).toEqual([...given, { is_status_enough: true }]);
  });
});

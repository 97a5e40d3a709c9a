import { afterEach, expect, test } from "bun:test";
import type { IncomingMessage, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import * as v from "valibot";
import { say } from "../../../src/messages/message.ts";
import { lastLinesOf } from "../../../src/runs/log-lines.ts";
import { openCluster } from "../../../src/runtimes/kubernetes/client.ts";
import { logPartsOf, logReader } from "../../../src/runtimes/kubernetes/logs.ts";
import { Pod, Workload } from "../../../src/runtimes/kubernetes/objects.ts";
import { failingContainers } from "../../../src/runtimes/kubernetes/pods.ts";
import { foundFrom } from "../../../src/runtimes/kubernetes/workloads.ts";
import { type LogPart, type LogReading, maxLogBytes } from "../../../src/runtimes/logs.ts";
import { authorityMissing } from "../../peers/authority.ts";
import { type ApiServer, json, startApiServer } from "../../support/api-server.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { peerSuite } from "../../support/peer.ts";

const found = foundFrom(
  "deployment",
  v.parse(Workload, {
    metadata: { name: "web", namespace: "shop" },
    spec: {
      template: {
        spec: {
          containers: [
            {
              ...{ name: "web", image: "web:2" },
              env: [
                { name: "DB_PASSWORD", value: "kelp-otter" },
                { name: "LOG_LEVEL", value: "verbose" },
                { name: "DATABASE_URL", value: "postgres://app:sea-urchin@db/app" },
                { name: "API_TOKEN", valueFrom: { secretKeyRef: { name: "api", key: "token" } } },
              ],
              args: ["--api-key", "lantern-42", "--port=8080", "client_secret=abc-def"],
            },
          ],
        },
      },
    },
  }),
);
const ended = { terminated: { exitCode: 1, reason: "Error" } };
const crashing = { restartCount: 2, state: { waiting: { reason: "CrashLoopBackOff" } }, lastState: ended };

function pod(name: string, status: object, told: { image?: string; isInit?: boolean; deleted?: string } = {}): Pod {
  const { image = "web:2", isInit = false, deleted = null } = told;
  const statuses = [{ name: isInit ? "prepare" : "web", ...status }];
  return v.parse(Pod, {
    metadata: { name, namespace: "shop", uid: `uid-${name}`, deletionTimestamp: deleted },
    spec: { containers: [{ name: "web", image }] },
    status: isInit ? { initContainerStatuses: statuses } : { containerStatuses: statuses },
  });
}

test.each<[what: string, pod: Pod, failing: object | null]>([
  ["that waits after a crash", pod("a", crashing), { is_previous: true, has_crashed: true }],
  ["that ended and was not restarted", pod("a", { state: ended }), { is_previous: false, has_crashed: true }],
  ["that runs again after a crash", pod("a", { state: { running: {} }, lastState: ended }), { is_previous: true }],
  ["that ended without an error", pod("a", { state: { terminated: { exitCode: 0 } } }), { has_crashed: true }],
  ["that runs and is not ready", pod("a", { state: { running: {} } }), { is_previous: false, has_crashed: false }],
  ["whose image cannot be pulled", pod("a", { state: { waiting: { reason: "ImagePullBackOff" } } }), null],
  ["that is being created", pod("a", { state: { waiting: { reason: "ContainerCreating" } } }), null],
  ["that prepared the pod", pod("a", { state: { terminated: { exitCode: 0 } } }, { isInit: true }), null],
  ["that could not prepare it", pod("a", { state: ended }, { isInit: true }), { container: "prepare" }],
  ["that is ready again", pod("a", { ready: true, state: { running: {} }, lastState: ended }), null],
  ["of a pod that goes", pod("a", crashing, { deleted: "2026-01-02T03:04:05Z" }), null],
])("a container %s", (_what, given, failing) => {
  const all = failingContainers([given]);
  if (failing === null) expect(all).toEqual([]);
  else expect(all).toMatchObject([failing]);
});

test("of several pods, the one that was restarted most often is read", () => {
  const often = pod("often", { ...crashing, restartCount: 5 });
  const all = failingContainers([pod("a", crashing), often, pod("b", crashing)]);
  expect(all.map((each) => each.pod.metadata.name)).toEqual(["often"]);
});

peerSuite("the log of a pod", authorityMissing(), () => {
  let server: ApiServer;
  afterEach(() => server[Symbol.asyncDispose]());
  const serve = async (answer: (response: ServerResponse, url: URL, request: IncomingMessage) => void) => {
    server = await startApiServer((request, response, url) => answer(response, url, request));
    return logReader(server.cluster);
  };
  const one = async (answer: (response: ServerResponse, url: URL, request: IncomingMessage) => void) => {
    const [log] = await (await serve(answer)).ofFailing(found, [pod("web-1", crashing)]);
    if (log === undefined) throw new Error("There is no log");
    return log;
  };
  const shown = (text: string | null) => lastLinesOf(text ?? "", (lines) => lines);

  test("is read of the time before the restart, within bounds", async () => {
    const log = await one((response) => response.end("no database\n"));
    expect(log).toMatchObject({
      ...{ key: "deployment/shop/web/web", pod: "web-1", container: "web", is_previous: true },
      ...{ text: "no database\n", why: null, secrets: ["kelp-otter", "lantern-42", "abc-def", "sea-urchin"] },
    });
    const url = new URL(server.asked[0]?.split(" ")[1] ?? "", "https://x");
    expect([url.pathname, Object.fromEntries(url.searchParams)]).toEqual([
      "/api/v1/namespaces/shop/pods/web-1/log",
      { container: "web", tailLines: "20", limitBytes: String(maxLogBytes), previous: "true" },
    ]);
  });

  test("is that of the present when the one before is gone", async () => {
    const log = await one((response, { searchParams }) => {
      if (searchParams.has("previous")) json(response, 400, { message: "previous terminated container not found" });
      else response.end("starting\n");
    });
    expect(log).toMatchObject({ is_previous: false, text: "starting\n", why: null });
  });

  test("that never ends is cut off", async () => {
    const line = `${"x".repeat(1_000)}\n`;
    const log = await one((response) => {
      const more = () => {
        while (response.write(line));
        response.once("drain", more);
      };
      more();
    });
    expect(log.text).toHaveLength(maxLogBytes);
    expect(shown(log.text).length).toBeLessThanOrEqual(20);
  });

  test("that is packed as a bomb stays within the bound", async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, "x"));
    const log = await one((response) => response.writeHead(200, { "content-encoding": "gzip" }).end(bomb));
    expect((log.text ?? "").length).toBeLessThanOrEqual(maxLogBytes);
  });

  test("that is binary and steers a terminal becomes plain text", async () => {
    const bytes = [
      Buffer.from("\u001b[31mError\u001b[0m\n"),
      Buffer.from([0xff, 0xfe, 0x00, 0xc3, 0x28, 0x07]),
      Buffer.from("\n\u001b]0;title\u0007end\n"),
    ];
    expect(shown((await one((response) => response.end(Buffer.concat(bytes)))).text)).toEqual([
      "Error",
      "\ufffd(",
      "end",
    ]);
  });

  test("never has our login", async () => {
    const log = await one((response, _url, request) => response.end(`sent ${request.headers.authorization}\n`));
    expect(log.text).toBe("sent Bearer ***\n");
  });

  test.each<[what: string, answer: (response: ServerResponse) => void, code: string]>([
    ["a missing right", (response) => json(response, 403, { message: "no" }), "kubernetes.logs_forbidden"],
    ["a fault of the server", (response) => json(response, 500, { message: "node is gone" }), "kubernetes.refused"],
    ["a page of a proxy", (response) => response.writeHead(502).end("<html>"), "kubernetes.refused"],
    ["a redirection", (response) => response.writeHead(302, { location: "https://x" }).end(), "kubernetes.refused"],
    ["a withdrawn login", (response) => json(response, 401, {}), "kubernetes.unauthenticated"],
  ])("%s is why there is none", async (_what, answer, code) => {
    expect(await one(answer)).toMatchObject({ text: null, why: { code } });
  });

  test("a missing right names the namespace", async () => {
    const { why } = await one((response) => json(response, 403, {}));
    expect(why).toEqual(say("kubernetes.logs_forbidden", { namespace: "shop" }));
  });

  test("that breaks off or hangs is why there is none", async () => {
    const clock = createFakeClock();
    const broken = await one((response) => {
      response.writeHead(200, { "content-length": "100" }).write("half");
      setImmediate(() => response.destroy());
    });
    expect(broken).toMatchObject({ text: null });
    expect(broken.why).not.toBeNull();
    await server[Symbol.asyncDispose]();
    server = await startApiServer((_request, response) => response.writeHead(200).write("half"));
    const cluster = openCluster(server.access, { clock, signal: new AbortController().signal });
    const [hanging] = await clock.runUntil(logReader(cluster).ofFailing(found, [pod("web-1", crashing)]));
    cluster.close();
    expect(hanging).toMatchObject({ text: null });
    expect(hanging?.why).not.toBeNull();
  });

  test("of a crash is read once, and again after the next one", async () => {
    const reader = await serve((response) => response.end("no database\n"));
    const read = async (restartCount: number) =>
      (await reader.ofNewCrashes(found, [pod("web-1", { ...crashing, restartCount })])).length;
    expect([await read(1), await read(1), await read(2)]).toEqual([1, 0, 1]);
    expect(server.asked).toHaveLength(2);
  });

  test("that could not be read is not asked for at every look, but again at the end", async () => {
    const reader = await serve((response) => json(response, 403, {}));
    for (const _look of [1, 2, 3]) await reader.ofNewCrashes(found, [pod("web-1", crashing)]);
    expect(server.asked).toHaveLength(1);
    await reader.ofFailing(found, [pod("web-1", crashing)]);
    expect(server.asked).toHaveLength(2);
  });

  test("is not read of previous pods, and while a rollout goes on not of those that only start", async () => {
    const reader = await serve((response) => response.end("no database\n"));
    expect(await reader.ofFailing(found, [pod("old", crashing, { image: "web:1" })])).toEqual([]);
    expect(await reader.ofNewCrashes(found, [pod("new", { state: { running: {} } })])).toEqual([]);
    expect(server.asked).toEqual([]);
  });

  test("of what runs is read of the containers that were updated", async () => {
    const reader = await serve((response) => response.end("serving\n"));
    const running = pod("web-1", { ready: true, state: { running: {} } });
    expect(await reader.ofRunning(found, [running], new Set(["web"]))).toMatchObject([{ text: "serving\n" }]);
    expect(await reader.ofRunning(found, [running], new Set(["side"]))).toEqual([]);
  });
});

peerSuite("the logs of a workload", authorityMissing(), () => {
  let server: ApiServer;
  afterEach(() => server[Symbol.asyncDispose]());
  const { signal } = new AbortController();
  const running = { state: { running: {} }, restartCount: 0 };
  const present = { tail: 5, since: null, follow: false, signal };
  const serve = async (
    status: object,
    answer: (response: ServerResponse, url: URL) => void = (response) => response.end(),
  ) => {
    server = await startApiServer((_request, response, url) => answer(response, url));
    const [part] = logPartsOf(server.cluster, found, [pod("web-1", status)]);
    if (part === undefined) throw new Error("There is no container");
    return part;
  };
  const linesOf = async (part: LogPart, reading: LogReading = present) => {
    const lines = [];
    for await (const taken of part.read(reading)) lines.push(...taken);
    return lines;
  };
  const asked = () =>
    server.asked.map((each) => Object.fromEntries(new URL(each.split(" ")[1] ?? "", "https://x").searchParams));

  test.each<[what: string, status: object, state: string]>([
    ["runs", running, "running"],
    ["is created", { state: { waiting: { reason: "ContainerCreating" } } }, "starting"],
    ["waits after a crash", crashing, "stopped"],
    ["ended", { state: ended }, "stopped"],
  ])("of a container that %s", async (_what, status, state) => {
    expect(await serve(status)).toMatchObject({
      ...{ key: "web-1/web", service: "web", pod: "web-1", container: "web", state, unreadable: null },
      secrets: ["kelp-otter", "lantern-42", "abc-def", "sea-urchin"],
    });
  });

  test("have the cluster's times, and no login that a proxy quotes", async () => {
    const part = await serve(running, (response) =>
      response.end("2026-01-05T13:00:00.5+01:00 has very-secret-token\n"),
    );
    expect(await linesOf(part)).toEqual([{ at: "2026-01-05T12:00:00.500000000Z", text: "has ***" }]);
    expect(asked()).toEqual([{ container: "web", timestamps: "true", tailLines: "5" }]);
  });

  test("that were missed over a restart are those of the container before, too, as far as the node has it", async () => {
    const again = { ...present, since: 1_767_614_400 };
    const part = await serve({ ...running, restartCount: 1 }, (response, { searchParams }) => {
      if (searchParams.has("previous")) json(response, 400, { message: "previous terminated container not found" });
      else response.end("2026-01-05T12:00:01Z on\n");
    });
    expect((await linesOf(part, again)).map(({ text }) => text)).toEqual(["on"]);
    const since = { sinceTime: "2026-01-05T12:00:00Z" };
    expect(asked()).toMatchObject([{ ...since, previous: "true" }, since]);
  });

  test.each<[what: string, status: number, code: string]>([
    ["a missing right", 403, "unauthorized"],
    ["a node that is gone", 500, "unreachable"],
    ["a pod that is gone", 404, "not_found"],
  ])("that cannot be read for %s", async (_what, status, code) => {
    const part = await serve(running, (response) => json(response, status, { message: "no", reason: "No" }));
    await expect(linesOf(part)).rejects.toMatchObject({ code });
  });

  test("that are followed end, without an error, when nobody reads them any more", async () => {
    const stopping = new AbortController();
    const part = await serve(running, (response) => response.write("2026-01-05T12:00:00Z one\n"));
    const texts: string[] = [];
    for await (const taken of part.read({ ...present, follow: true, signal: stopping.signal })) {
      for (const { text } of taken) texts.push(text);
      if (texts.length > 0) stopping.abort();
    }
    expect([texts, asked()]).toEqual([["one"], [expect.objectContaining({ follow: "true" })]]);
  });
});

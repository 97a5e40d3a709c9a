import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { dockerFlavour } from "../../../src/runtimes/docker/flavour.ts";
import { addressWarnings, engineAddress, parseAddress } from "../../../src/runtimes/engine/address.ts";
import { chooseApiVersion, defaultDeadlines, engineClient, negotiate } from "../../../src/runtimes/engine/client.ts";
import { pullReader } from "../../../src/runtimes/engine/pull.ts";
import type { EngineRequest, EngineResponse } from "../../../src/runtimes/engine/transport.ts";
import { runtimes } from "../../../src/runtimes/index.ts";
import type { PullProgress } from "../../../src/runtimes/journal.ts";

describe("parseAddress()", () => {
  test.each([
    ["unix:///var/run/docker.sock", { kind: "unix", path: "/var/run/docker.sock" }],
    ["/run/podman/podman.sock", { kind: "unix", path: "/run/podman/podman.sock" }],
    ["unix:///run/user/1000/podman/podman.sock", { kind: "unix", path: "/run/user/1000/podman/podman.sock" }],
    ["tcp://engine.example.com:2376", { kind: "tcp", host: "engine.example.com", port: 2376 }],
    ["tcp://192.0.2.7:2375", { kind: "tcp", host: "192.0.2.7", port: 2375 }],
    ["tcp://[2001:db8::7]:2376", { kind: "tcp", host: "2001:db8::7", port: 2376 }],
  ] as const)("takes %s", (text, parsed) => {
    expect(parseAddress(text)).toEqual(parsed);
  });

  test.each([
    "",
    "docker.sock",
    "./docker.sock",
    "unix://docker.sock",
    "unix:////double",
    "//double",
    "/with\nnewline",
    `/${"long".repeat(40)}`,
    "tcp://host",
    "tcp://host:0",
    "tcp://host:65536",
    "tcp://host:2375/path",
    "tcp://user:password@host:2375",
    "tcp://:2375",
    "tcp://[nonsense]:2375",
    "tcp://ho st:2375",
    "http://host:2375",
    "https://host:2376",
    "ssh://host",
    "npipe:////./pipe/docker_engine",
    "host:2375",
  ])("refuses %p", (text) => {
    expect(parseAddress(text)).toBeNull();
  });
});

test.each([
  [runtimes.docker, "/var/run/docker.sock"],
  [runtimes.podman, "/run/podman/podman.sock"],
] as const)("a blank address is the usual socket of %p", ({ Config }, socket) => {
  for (const config of [{}, { address: "" }, { address: "  " }]) {
    expect(v.parse(Config, config)).toMatchObject({ address: `unix://${socket}` });
  }
  expect(v.safeParse(Config, { address: "docker.sock" }).success).toBe(false);
});

describe("addressWarnings()", () => {
  test.each([
    ["unix:///var/run/docker.sock", false, []],
    ["tcp://engine:2376", true, []],
    ["tcp://127.0.0.1:2375", false, ["tls_not_verified"]],
    ["tcp://engine:2375", false, ["tls_not_verified", "plain_tcp"]],
  ] as const)("of %s, verified %p", (address, isVerified, codes) => {
    expect(addressWarnings(address, isVerified).map((each) => each.code)).toEqual([...codes]);
  });

  test("a verified address speaks TLS even without any material", () => {
    expect(engineAddress("tcp://engine:2376", true, null)).toMatchObject({ tls: { is_verified: true } });
    expect(engineAddress("tcp://engine:2375", false, null)).toMatchObject({ tls: null });
  });
});

describe("chooseApiVersion()", () => {
  test.each([
    ["1.12", "1.41", null, "1.41"],
    ["1.24", "1.99", null, "1.56"],
    ["1.40", "1.51", "1.44", "1.44"],
    ["1.9", "1.41", "1.41", "1.41"],
  ] as const)("of %s to %s, wanted %p, is %s", (min, max, wanted, chosen) => {
    expect(chooseApiVersion(min, max, wanted)).toBe(chosen);
  });

  test.each([
    ["1.12", "1.39", null],
    ["1.57", "1.60", null],
    ["1.24", "1.41", "1.42"],
    ["1.44", "1.51", "1.43"],
    ["1.12", "1.41", "1.24"],
  ] as const)("of %s to %s, wanted %p, is refused with both ranges", (min, max, wanted) => {
    expect(() => chooseApiVersion(min, max, wanted)).toThrow(`The engine supports API ${min} to ${max}`);
  });
});

test.each([
  [{ status: 404, text: "404 page not found" }, "The engine refused GET /version (404): 404 page not found"],
  [{ text: "<html>" }, "The response to GET /version is not a valid engine response"],
])("what responds to the first request with %p may be another service", async (answer, cause) => {
  const send = async () => ({ status: 200, contentType: "text/html", ...answer });
  const asked = negotiate({ send, stream: send }, null, defaultDeadlines, dockerFlavour);
  const error = await asked.catch((reason: unknown) => reason);
  expect(String(error)).toContain(cause);
  expect(String(error)).toContain("Check the address");
  expect(error).toMatchObject({ code: "malformed" });
});

function clientThatGets(answer: Partial<EngineResponse>) {
  const requests: EngineRequest[] = [];
  const send = async (request: EngineRequest) => {
    requests.push(request);
    return { status: 200, contentType: "application/json", text: "", ...answer };
  };
  return {
    requests,
    client: engineClient({
      flavour: dockerFlavour,
      transport: { send, stream: send },
      apiVersion: "1.41",
      deadlines: defaultDeadlines,
    }),
  };
}

describe("engineClient()", () => {
  test.each([
    [401, "unauthorized"],
    [403, "unauthorized"],
    [404, "not_found"],
    [409, "rejected"],
    [429, "rate_limited"],
    [500, "rejected"],
    [502, "unreachable"],
    [503, "unreachable"],
  ])("turns status %d into %s with the engine's own words", async (status, code) => {
    const { client } = clientThatGets({ status, text: '{"message":"the very reason"}' });
    const error = await client.startContainer("x").catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code, status, message: expect.stringContaining("the very reason") });
  });

  test("takes a look at what was just removed for one that found nothing, also where the engine calls it a fault", async () => {
    const gone = { message: "container 1f does not exist in database: no such container" };
    const { client } = clientThatGets({ status: 500, text: JSON.stringify(gone) });
    const failure = async (work: Promise<unknown>) => await work.catch((reason: unknown) => reason);
    expect(await failure(client.inspectContainer("1f"))).toMatchObject({ code: "not_found", status: 404 });
    // A start says so of an owner of a namespace, too.
    expect(await failure(client.startContainer("1f"))).toMatchObject({ code: "rejected", status: 500 });
  });

  test.each<[string, Partial<EngineResponse>, boolean | null]>([
    ["there", { text: '{"Name":"data","Id":"5f"}' }, true],
    ["another, whose id begins so", { text: '{"Name":"front","Id":"data5f"}' }, false],
    ["gone", { status: 404, text: '{"message":"no such thing"}' }, false],
    ["just removed", { status: 500, text: '{"message":"no such volume"}' }, false],
    ["not to be seen", { status: 403, text: "<h1>403 Forbidden</h1>" }, null],
    ["not to be seen either", { status: 404, text: "<h1>404 Not Found</h1>" }, null],
  ])("tells a volume and a network that is %s", async (_, answer, expected) => {
    const { client, requests } = clientThatGets(answer);
    expect([await client.hasVolume("data"), await client.hasNetwork("data")]).toEqual([expected, expected]);
    expect(requests.map(({ path }) => path)).toEqual(["/v1.41/volumes/data", "/v1.41/networks/data"]);
  });

  test("knows a network by its id, and says what else the engine answers", async () => {
    const Id = "5f".repeat(32);
    const { client } = clientThatGets({ text: JSON.stringify({ Name: "front", Id }) });
    expect(await client.hasNetwork(Id)).toBe(true);
    await expect(clientThatGets({ status: 500, text: "{}" }).client.hasVolume("data")).rejects.toThrow("(500)");
  });

  test("shows a proxy's page as text, bounded", async () => {
    const { client } = clientThatGets({ status: 403, text: `<html><h1>403 Forbidden</h1>${"x".repeat(5000)}</html>` });
    const error = await client.renameContainer("x", "y").catch((reason: unknown) => reason);
    expect(String(error)).toContain("403 Forbidden");
    expect(String(error)).not.toContain("<h1>");
    expect(String(error).length).toBeLessThan(800);
  });

  test.each(["", "<html>", '{"Id":', "[]", '{"Id":7}'])("calls the answer %p to an inspect malformed", async (text) => {
    const { client } = clientThatGets({ text });
    expect(await client.inspectContainer("x").catch((reason: unknown) => reason)).toMatchObject({ code: "malformed" });
  });

  test("takes 304 for a start or stop that found its work done", async () => {
    const { client } = clientThatGets({ status: 304 });
    await client.startContainer("x");
    await client.stopContainer("x", 10_000);
  });

  test("keeps names from a runtime inside their path segment", async () => {
    const { client, requests } = clientThatGets({ status: 204 });
    await client.startContainer("../../images/x?y#z");
    expect(requests[0]?.path).toBe("/v1.41/containers/..%2F..%2Fimages%2Fx%3Fy%23z/start");
  });

  test("gives a stop the container's own grace on top of the deadline", async () => {
    const { client, requests } = clientThatGets({ status: 204 });
    await client.stopContainer("x", 60_000);
    expect(requests[0]?.deadlineMs).toBe(defaultDeadlines.readMs + 60_000);
  });

  test("never removes named volumes and never forces", async () => {
    const { client, requests } = clientThatGets({ status: 204 });
    await client.removeContainer("x", false);
    expect(requests[0]?.query).toEqual({ v: "false", force: "false" });
  });

  test("sends a registry's login in its header and nowhere else", async () => {
    const { client, requests } = clientThatGets({ text: '{"status":"Pulling"}\n' });
    const auth = { username: "ci", password: "se/cr+et?", host: "registry.example.com" };
    await client.pullImage("registry.example.com/app:1", null, auth, () => undefined).catch(() => undefined);
    const [request] = requests;
    const header = request?.headers?.["x-registry-auth"] ?? "";
    expect(JSON.parse(Buffer.from(header, "base64url").toString())).toEqual({
      username: "ci",
      password: "se/cr+et?",
      serveraddress: "registry.example.com",
    });
    expect(JSON.stringify([request?.path, request?.query])).not.toContain("ci");
    expect(request?.query).toEqual({ fromImage: "registry.example.com/app", tag: "1" });
  });
});

describe("pullReader()", () => {
  function read(...chunks: readonly string[]) {
    const progress: PullProgress[] = [];
    const reader = pullReader("app:1", (each) => progress.push(each));
    for (const chunk of chunks) reader.take(chunk);
    reader.end();
    return progress;
  }
  const event = (value: unknown) => `${JSON.stringify(value)}\r\n`;

  test("counts no more layers than an image can have, and only bytes that are a number of them", () => {
    const layers = Array.from({ length: 3_000 }, (_, index) => event({ status: "Waiting", id: `layer-${index}` }));
    const odd = [-1, 1e308, 0.5, "7"].map((current) =>
      event({ status: "Downloading", id: "layer-1", progressDetail: { current, total: current } }),
    );
    const progress = read(...layers, event({ status: "Waiting", id: "i".repeat(300) }), ...odd);
    expect(progress.at(-1)).toEqual({ bytes: null, total_bytes: null, layers_done: 0, layers_total: 1_000 });
  });

  test("ends at the first piece that is no engine's", () => {
    const reader = pullReader("app:1", () => undefined);
    for (const piece of ["[]\n", `${"[".repeat(500)}\n`, "x".repeat(1024 * 1024 + 1)]) {
      expect(() => reader.take(piece)).toThrow("The engine's response to the pull of app:1");
    }
  });

  test("adds the layers up, whatever the pieces are that it comes in", () => {
    const text = [
      event({ status: "Pulling from app", id: "1" }),
      event({ status: "Pulling fs layer", id: "a" }),
      event({ status: "Already exists", id: "b" }),
      event({ status: "Downloading", id: "a", progressDetail: { current: 40, total: 100 } }),
      event({ status: "Download complete", id: "a" }),
      event({ status: "Pull complete", id: "a" }),
      event({ status: "Digest: sha256:abc" }),
    ].join("");
    for (const size of [1, 7, 1000]) {
      const pieces = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
      const progress = read(...pieces);
      expect(progress).toContainEqual({ bytes: 40, total_bytes: 100, layers_done: 1, layers_total: 2 });
      expect(progress.at(-1)).toEqual({ bytes: 100, total_bytes: 100, layers_done: 2, layers_total: 2 });
    }
  });

  test.each([
    ["unauthorized: authentication required", "unauthorized"],
    ["pull access denied for app", "unauthorized"],
    ["no basic auth credentials", "unauthorized"],
    ["manifest unknown", "not_found"],
    ["no matching manifest for linux/amd64", "not_found"],
    ["toomanyrequests: You have reached your pull rate limit", "rate_limited"],
    ["dial tcp 127.0.0.1:1: connect: connection refused", "unreachable"],
    ["no space left on device", "rejected"],
  ])("throws the error %p inside the stream as %s", (message, code) => {
    const failing = () =>
      read(event({ status: "Pulling", id: "a" }), event({ error: message, errorDetail: { message } }));
    expect(failing).toThrow(message);
    try {
      failing();
    } catch (error) {
      expect(error).toMatchObject({ code });
    }
  });

  test.each([
    ["a page", "<html>proxy</html>"],
    ["nothing", ""],
    ["a list", "[1]\n"],
    ["an endless line", "x".repeat(2_000_000)],
  ])("does not take %s for a pull", (_what, text) => {
    expect(() => read(text)).toThrow();
  });
});

describe("startContainer() says who has a port that the engine refuses", () => {
  const refusal =
    "driver failed programming external connectivity on endpoint web (af): Bind for 127.0.0.1:8080 failed: port is already allocated";
  const startAmong = async (message: string, listed: EngineResponse | null) => {
    const answer = (status: number, body: unknown): EngineResponse => ({
      status,
      contentType: "application/json",
      text: JSON.stringify(body),
    });
    const client = engineClient({
      flavour: dockerFlavour,
      transport: {
        send: async ({ path }) => (path.endsWith("/start") ? answer(500, { message }) : (listed ?? answer(403, {}))),
        stream: async () => answer(200, null),
      },
      apiVersion: "1.41",
      deadlines: defaultDeadlines,
    });
    return await client.startContainer("web").then(String, String);
  };
  const containers = (...ports: readonly number[]): EngineResponse => ({
    status: 200,
    contentType: "application/json",
    text: JSON.stringify([
      { Id: "a", Names: ["/idle"], Ports: [{ PrivatePort: 8080, Type: "tcp" }] },
      { Id: "b", Names: ["/front"], Ports: ports.map((PublicPort) => ({ PrivatePort: 80, PublicPort, Type: "tcp" })) },
    ]),
  });

  test.each([
    ["another container", refusal, containers(80, 8080), /already allocated\. "front" publishes port 8080$/],
    [
      "nobody, which is for an engine to be restarted",
      refusal,
      containers(80),
      /already allocated\. No container publishes port 8080: the engine did not release it\. Restart the engine to free it$/,
    ],
    ["nobody knows, where lists are not let through", refusal, null, /port is already allocated$/],
    ["a refusal of another kind", "listen tcp4: bind: address already in use", containers(), /address already in use$/],
  ])("%s", async (_what, message, listed, expected) => {
    expect(await startAmong(message, listed)).toMatch(expected);
  });
});

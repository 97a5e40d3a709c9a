import { engineMissing, startEngine, type TestEngine } from "../peers/engine.ts";
import { freePort } from "../peers/free-port.ts";
import { account, type Registry, registryMissing, startRegistry } from "../peers/registry.ts";
import { eventually } from "./eventually.ts";
import { type ImageOptions, pushImage, runnableImageMissing, serveHttp } from "./oci-image.ts";
import { type ApiClient, type RunningServer, startServer, temporaryDir } from "./server.ts";

/** Why the whole story cannot be told here, or null when it can. */
export function storyMissing(): string | null {
  return engineMissing() ?? registryMissing() ?? runnableImageMissing();
}

export interface ReceivedDelivery {
  headers: Headers;
  body: Record<string, unknown>;
}

export interface WebhookReceiver {
  url: string;
  /** `127.0.0.1:PORT`, as OUTBOUND_ALLOW names it. */
  host: string;
  received: ReceivedDelivery[];
  /** Deliveries of an event, in their order. */
  of(event: string): ReceivedDelivery[];
  stop(): Promise<void>;
}

/** Takes webhooks on loopback and remembers them. */
export function startReceiver(): WebhookReceiver {
  const received: ReceivedDelivery[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      const body: unknown = await request.json();
      if (typeof body === "object" && body !== null) {
        received.push({ headers: request.headers, body: Object.fromEntries(Object.entries(body)) });
      }
      return new Response("ok");
    },
  });
  const host = `127.0.0.1:${server.port}`;
  return {
    url: `http://${host}/hook/very-secret-token`,
    host,
    received,
    of: (event) => received.filter(({ body }) => body.event === event),
    stop: () => server.stop(true),
  };
}

export interface Story {
  engine: TestEngine;
  registry: Registry;
  receiver: WebhookReceiver;
  server: RunningServer;
  repository: string;
  /** Where the container's page is served: its text is the version. */
  page_url: string;
  /** Pushes a version; what it serves is its tag unless `options` say otherwise. Returns the digest. */
  push(tag: string, options?: ImageOptions): Promise<string>;
  /** What the published port answers, as soon as anything answers: a container that was started is not there at once. */
  serves(): Promise<string>;
  /** Containers whose name begins with `web`: name, state and image. */
  containers(): Promise<{ name: string; state: string; image: string }[]>;
  /** Starts the server again on the same data. */
  restartServer(): Promise<RunningServer>;
  stop(): Promise<void>;
}

let builds = 0;

/**
 * A real engine with a container `web` that came from a real registry with Basic auth, a webhook receiver, and the real
 * server beside them. Everything is on loopback; `stop` ends exactly what was started.
 */
export async function startStory(options: { env?: Readonly<Record<string, string>> } = {}): Promise<Story> {
  const started: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const end of started.splice(0).reverse()) await end();
  };
  try {
    return await build(options, started, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function build(
  options: { env?: Readonly<Record<string, string>> },
  started: (() => Promise<unknown>)[],
  stop: () => Promise<void>,
): Promise<Story> {
  const engine = await startEngine();
  started.push(() => engine.stop());
  const registry = await startRegistry({ auth: "basic" });
  started.push(() => registry.stop());
  const receiver = startReceiver();
  started.push(() => receiver.stop());
  const repository = "acme/web";
  const port = await freePort();
  const dataDir = temporaryDir();
  const env = { OUTBOUND_ALLOW: receiver.host, LOG_LEVEL: "debug", ...options.env };

  const push = async (tag: string, image: ImageOptions = {}) => {
    builds += 1;
    // Each push is younger than the one before, as builds are; the content differs by its build number.
    const created = new Date(Date.UTC(2026, 5, 1) + builds * 60_000).toISOString();
    return await pushImage(registry.url, registry.auth, repository, tag, {
      version: tag,
      created,
      cmd: serveHttp,
      labels: { build: String(builds) },
      ...image,
    });
  };
  const pull = async (reference: string) => {
    // With its padding: the engine takes the URL alphabet but not the short form.
    const auth = Buffer.from(JSON.stringify({ ...account, serveraddress: registry.host }))
      .toString("base64")
      .replaceAll("+", "-")
      .replaceAll("/", "_");
    const response = await fetch(`http://localhost/images/create?fromImage=${encodeURIComponent(reference)}`, {
      method: "POST",
      unix: engine.socket,
      headers: { "X-Registry-Auth": auth },
    });
    const text = await response.text();
    if (!response.ok || text.includes('"error"')) throw new Error(`Pull of ${reference}: ${text}`);
  };
  const serves = () =>
    eventually("the container to serve", async () => (await (await fetch(`http://127.0.0.1:${port}/`)).text()).trim());

  await push("1.0.0");
  const reference = `${registry.host}/${repository}:1.0.0`;
  await pull(reference);
  await engine.call("POST", "/containers/create?name=web", {
    Image: reference,
    Env: ["COLOUR=blue"],
    Labels: { "com.example.owner": "tests" },
    ExposedPorts: { "80/tcp": {} },
    HostConfig: {
      PortBindings: { "80/tcp": [{ HostIp: "127.0.0.1", HostPort: String(port) }] },
      RestartPolicy: { Name: "unless-stopped" },
    },
  });
  await engine.call("POST", "/containers/web/start");
  await eventually("the first container to serve", async () => (await serves()) === "1.0.0");

  const world: Story = {
    engine,
    registry,
    receiver,
    server: await startServer({ data_dir: dataDir, env }),
    repository,
    page_url: `http://127.0.0.1:${port}/`,
    push,
    serves,
    containers: async () => {
      const list = await engine.call("GET", "/containers/json?all=1");
      if (!Array.isArray(list)) throw new Error("The engine listed no containers");
      return list
        .map((item) => ({ name: String(item.Names[0]).slice(1), state: String(item.State), image: String(item.Image) }))
        .filter(({ name }) => name.startsWith("web"));
    },
    restartServer: async () => {
      world.server = await startServer({ data_dir: dataDir, env });
      return world.server;
    },
    stop,
  };
  started.push(() => world.server.kill("SIGTERM"));
  return world;
}

/** The credential of the registry, and a tracker `web` of the image with the channel `stable` of its source `image`. */
export async function addWebTracker({ registry, repository }: Story, api: ApiClient): Promise<void> {
  const credential = await api.ok("POST", "/credentials", { name: "registry", kind: "oci", secret: { ...account } });
  const config = { image: repository, registry: registry.url };
  const channels = [{ type: "stable", include_pattern: "^\\d+\\.\\d+\\.\\d+$" }];
  const source = { key: "image", kind: "oci", config, credential_id: credential.id, channels };
  await api.ok("POST", "/trackers", { name: "web", sources: [source] });
}

/** An executor `web` of the container that follows the tracker `web`, over a connection `nas`: the ids of both. */
export async function addWebExecutor(
  { engine }: Story,
  api: ApiClient,
  settings: Readonly<Record<string, unknown>> = {},
) {
  const config = { address: engine.address };
  const connection = await api.ok("POST", "/runtime-connections", { name: "nas", kind: "docker", config });
  const executor = await api.ok("POST", "/executors", {
    name: "web",
    connection_id: connection.id,
    target: { kind: "container", id: "web" },
    bindings: [{ tracker: "web", source: "image", channel: "stable" }],
    trigger: "manual",
    health_check: { strategy: "disabled" },
    ...settings,
  });
  return { connection: String(connection.id), executor: String(executor.id) };
}

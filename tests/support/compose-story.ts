import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Compose, type ComposeVersion, composeMissing, startCompose } from "../peers/compose.ts";
import { type EngineMode, engineMissing, startEngine, type TestEngine } from "../peers/engine.ts";
import { freePort } from "../peers/free-port.ts";
import { account, type Registry, registryMissing, startRegistry } from "../peers/registry.ts";
import { composeFolder } from "./compose-project.ts";
import { eventually } from "./eventually.ts";
import {
  hostPlatform,
  type ImageOptions,
  pushImage,
  runnableImageMissing,
  serveHttp,
  waitForever,
} from "./oci-image.ts";
import { type RunningServer, startServer, temporaryDir } from "./server.ts";
import type { Inspect } from "./stack-state.ts";
import { startReceiver, type WebhookReceiver } from "./story.ts";

export const services = ["db", "web", "worker"] as const;
export type Service = (typeof services)[number];

export interface StoryOptions {
  mode: EngineMode;
  compose: ComposeVersion;
  /** Whether the server finds a compose beside it, which tells the hashes of the edited file. */
  has_compose: boolean;
}

/** Why the story of a stack cannot be told with these, or null when it can. */
export function storyMissing({ mode, compose }: StoryOptions): string | null {
  return engineMissing(mode) ?? composeMissing(compose) ?? registryMissing() ?? runnableImageMissing();
}

export interface ComposeStory {
  engine: TestEngine;
  registry: Registry;
  receiver: WebhookReceiver;
  server: RunningServer;
  project: string;
  /** Of the static address of the web server. */
  address: string;
  /** Where the compose file lies. */
  folder: string;
  file(): string;
  /** Pushes a version of a service's image; a broken one ends as soon as it is started. */
  push(service: Service, tag: string, options?: { broken?: boolean }): Promise<void>;
  /** `docker compose up -d`; answers the ids by service after it. */
  up(): Promise<Readonly<Record<Service, string>>>;
  /** Applies a patch to the compose file with the tool that people have. */
  patch(text: string): void;
  /** Everything of the project that the engine has, stopped ones and leftovers too: its name, state and tag. */
  containers(): Promise<readonly string[]>;
  inspect(service: Service): Promise<Inspect>;
  ids(): Promise<Readonly<Record<Service, string>>>;
  /** What the published port answers; its root is the version. */
  page(path: string): Promise<string>;
  /** A file in a volume, as it lies on the host. */
  volumeFile(service: Service, destination: string, name: string): Promise<string>;
  restartServer(): Promise<RunningServer>;
  stop(): Promise<void>;
}

let builds = 0;

/** What a person wrote into the database's volume. */
export const orders = "42 orders, and not one to lose\n";

const images: Readonly<Record<Service, ImageOptions>> = {
  db: { cmd: waitForever },
  // Of several platforms, as published ones are.
  web: { cmd: serveHttp, platforms: [hostPlatform(), "linux/arm/v7"] },
  // What it fetches from its own loopback is the web server's page: they share a network.
  worker: {
    cmd: [
      "/bin/sh",
      "-c",
      "trap 'exit 0' TERM INT; while :; do wget -q -O /var/jobs/seen http://127.0.0.1/; sleep 1 & wait $!; done",
    ],
  },
};

function composeFile(host: string, port: number, subnet: string): string {
  return `# The shop. Ask before you touch it.
services:
  db:
    image: ${host}/shop/db:1.0.0
    restart: unless-stopped
    environment:
      DB_PASSWORD: "only-in-the-file"
    volumes:
      - /var/lib/orders
    healthcheck:
      test: ["CMD", "/bin/test", "-d", "/var/lib/orders"]
      interval: 1s
      timeout: 10s
      retries: 10
    networks: [back]

  web:
    image: "${host}/shop/web:1.0.0"   # what customers see
    restart: unless-stopped
    depends_on:
      db: { condition: service_healthy }
    environment: { COLOUR: blue }
    labels:
      com.example.owner: the shop
    ports:
      - "127.0.0.1:${port}:80"
    configs:
      - source: greeting
        target: /www/greeting.txt
    networks:
      front:
        aliases: [shop, shop.internal]
        ipv4_address: ${subnet}.20
      back: {}

  worker:
    image: ${host}/shop/worker:1.0.0
    restart: unless-stopped
    network_mode: service:web
    volumes:
      - jobs:/var/jobs

configs:
  greeting:
    content: |
      Welcome to the shop

networks:
  front:
    ipam:
      config:
        - subnet: ${subnet}.0/24
  back: {}

volumes:
  jobs: {}
`;
}

/**
 * A stack of three that a real compose brought up on a real engine from a real registry with sign-in: a web server, a worker in
 * its network, and a database with an anonymous volume. Beside it a webhook receiver and the real server.
 */
export async function startComposeStory(options: StoryOptions): Promise<ComposeStory> {
  const started: (() => unknown)[] = [];
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
  { mode, compose: version, has_compose: hasCompose }: StoryOptions,
  started: (() => unknown)[],
  stop: () => Promise<void>,
): Promise<ComposeStory> {
  const engine = await startEngine({ mode });
  started.push(() => engine.stop());
  const registry = await startRegistry({ auth: "basic" });
  started.push(() => registry.stop());
  const receiver = startReceiver();
  started.push(() => receiver.stop());
  const project = "shop";
  const folder = mkdtempSync(join(tmpdir(), "tidemark-shop-"));
  const home = mkdtempSync(join(tmpdir(), "tidemark-home-"));
  for (const each of [folder, home]) started.push(() => rmSync(each, { recursive: true, force: true }));
  if (hasCompose) {
    const plugins = join(home, ".docker", "cli-plugins");
    mkdirSync(plugins, { recursive: true });
    symlinkSync(join(composeFolder(version), "docker-compose"), join(plugins, "docker-compose"));
  }
  const port = await freePort();
  // Outside of the engines' own blocks, and nobody else's while the port is ours.
  const subnet = `10.${200 + (port % 50)}.${port >> 8}`;
  const compose: Compose = startCompose({ engine, version, folder, logins: { [registry.host]: account } });
  started.push(() => compose.stop());

  const push = async (service: Service, tag: string, { broken = false } = {}) => {
    builds += 1;
    // Each push is younger than the one before, as builds are.
    const created = new Date(Date.UTC(2026, 5, 1) + builds * 60_000).toISOString();
    const ends = broken ? { cmd: ["/bin/sh", "-c", "echo no queue to work on >&2; exit 3"] } : {};
    const labels = { build: String(builds) };
    await pushImage(registry.url, registry.auth, `shop/${service}`, tag, {
      version: tag,
      created,
      labels,
      ...images[service],
      ...ends,
    });
  };
  for (const service of services) await push(service, "1.0.0");
  const file = join(folder, "compose.yaml");
  writeFileSync(file, composeFile(registry.host, port, subnet));

  const inspectAll = async (): Promise<readonly Inspect[]> => {
    const filters = JSON.stringify({ label: [`com.docker.compose.project=${project}`] });
    const listed = await engine.call("GET", `/containers/json?all=1&filters=${encodeURIComponent(filters)}`);
    if (!Array.isArray(listed)) throw new Error("The engine listed no containers");
    return await Promise.all(
      listed.map(async ({ Id }) => (await engine.call("GET", `/containers/${Id}/json`)) as Inspect),
    );
  };
  const inspect = async (service: Service) =>
    (await engine.call("GET", `/containers/${project}-${service}-1/json`)) as Inspect;
  const ids = async () => {
    const found = await Promise.all(services.map(async (service) => [service, (await inspect(service)).Id] as const));
    return Object.fromEntries(found) as Record<Service, string>;
  };
  const up = async () => {
    await compose.must(["-p", project, "up", "-d"]);
    return await ids();
  };
  await up();
  started.push(() => compose.run(["-p", project, "down", "-v", "-t", "1"]));
  const page = async (path: string) => await (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  await eventually("the shop to open", async () => (await page("/")).trim() === "1.0.0");
  const sourceOf = async (service: Service, destination: string) => {
    const { Mounts } = await inspect(service);
    return String(Mounts.find((each) => each.Destination === destination)?.Source);
  };
  writeFileSync(join(await sourceOf("db", "/var/lib/orders"), "orders.txt"), orders);

  const env = { HOME: home, OUTBOUND_ALLOW: receiver.host, LOG_LEVEL: "debug" };
  const dataDir = temporaryDir();
  const story: ComposeStory = {
    engine,
    registry,
    receiver,
    server: await startServer({ data_dir: dataDir, env }),
    project,
    address: `${subnet}.20`,
    folder,
    file: () => readFileSync(file, "utf8"),
    push,
    up,
    patch: (text) => void execFileSync("patch", ["-p0", "--quiet"], { cwd: folder, input: text }),
    containers: async () =>
      (await inspectAll())
        .map(({ Name, State, Config }) => `${Name.slice(1)} ${State.Status} ${Config.Image.split(":").at(-1)}`)
        .sort(),
    inspect,
    ids,
    page,
    volumeFile: async (service, destination, name) =>
      readFileSync(join(await sourceOf(service, destination), name), "utf8"),
    restartServer: async () => {
      story.server = await startServer({ data_dir: dataDir, env });
      return story.server;
    },
    stop,
  };
  started.push(() => story.server.kill("SIGTERM"));
  return story;
}

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startEngine } from "../peers/engine.ts";
import { startRegistry } from "../peers/registry.ts";
import { openBrowser } from "../support/browser-person.ts";
import { eventually } from "../support/eventually.ts";
import { type ImageOptions, pushImage, serveHttp } from "../support/oci-image.ts";
import { startServer } from "../support/server.ts";

// Draws the pictures of README.md with the real server on a real engine: `bun tests/gallery/pictures.ts`, whenever those pages change.
const directory = join(import.meta.dir, "../../docs/pictures");

interface Service {
  name: string;
  /** What runs. */
  from: string;
  /** What is published meanwhile; the same if nothing is. */
  to: string;
  project?: string;
  /** Of the new version; by default it serves. */
  cmd?: readonly string[];
}

const refuses = [
  "/bin/sh",
  "-c",
  "echo 'Connecting to postgres://paperless@db:5432/paperless'; sleep 1; echo 'FATAL: the database has a newer schema'; exit 1",
];
const services: readonly Service[] = [
  { name: "traefik", from: "3.5.3", to: "3.6.1" },
  { name: "vaultwarden", from: "1.34.1", to: "1.34.3" },
  { name: "jellyfin", from: "10.10.7", to: "10.11.3" },
  { name: "grafana", from: "11.6.0", to: "12.3.0" },
  { name: "uptime-kuma", from: "2.0.2", to: "2.0.2" },
  { name: "gitea", from: "1.25.1-rootless", to: "1.25.2-rootless" },
  { name: "home-assistant", from: "2026.11.1", to: "2026.11.2" },
  { name: "server", project: "immich", from: "2.2.3", to: "2.3.1" },
  { name: "machine-learning", project: "immich", from: "2.2.3", to: "2.3.1" },
  { name: "paperless", from: "2.18.4", to: "2.19.6", cmd: refuses },
];

const registry = await startRegistry();
const repositoryOf = ({ name, project }: Service) => (project === undefined ? `${name}/${name}` : `${project}/${name}`);
const containerOf = ({ name, project }: Service) => (project === undefined ? name : `${project}-${name}-1`);
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
const publish = (service: Service, tag: string, options: ImageOptions = {}) => {
  const created = daysAgo(tag === service.to ? 1 + services.indexOf(service) : 40);
  const image = { version: tag, created, cmd: serveHttp, ...options };
  return pushImage(registry.url, registry.auth, repositoryOf(service), tag, image);
};
const engine = await startEngine();
for (const service of services) {
  await publish(service, service.from);
  const image = `${registry.host}/${repositoryOf(service)}:${service.from}`;
  await engine.call("POST", `/images/create?fromImage=${encodeURIComponent(image)}`);
  const labels = {
    "com.docker.compose.project": service.project,
    "com.docker.compose.service": service.name,
    "com.docker.compose.container-number": "1",
    "com.docker.compose.oneoff": "False",
  };
  const name = containerOf(service);
  const body = { Image: image, Labels: service.project === undefined ? {} : labels };
  await engine.call("POST", `/containers/create?name=${name}`, body);
  await engine.call("POST", `/containers/${name}/start`);
  if (service.to !== service.from)
    await publish(service, service.to, service.cmd === undefined ? {} : { cmd: service.cmd });
}

const server = await startServer();
const person = await openBrowser(() => server.url);
const { page } = person;
const list = async (path: string): Promise<Record<string, unknown>[]> => {
  const answer = await page.request.get(person.at(`/api${path}`));
  return ((await answer.json()) as { items: Record<string, unknown>[] }).items;
};
const idOf = async (executor: string) =>
  String((await list("/executors?limit=100")).find(({ name }) => name === executor)?.id);
/** Runs an executor's plan, and waits for the end of the run: its id. */
const update = async (executor: string): Promise<string> => {
  await person.go(`/executors/${await idOf(executor)}`);
  await person.openPlan();
  await person.confirm();
  const run = await eventually(`the end of the run of ${executor}`, async () =>
    (await list("/runs")).find((each) => each.executor === executor && each.ended_at !== null),
  );
  return String(run.id);
};

mkdirSync(directory, { recursive: true });
const draw = async (name: string, themes: readonly ("light" | "dark")[]) => {
  await page.evaluate(() => document.querySelector("#toasts")?.replaceChildren());
  for (const colorScheme of themes) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(directory, `${name}-${colorScheme}.png`) });
  }
};

await person.signInFirst(server);
await person.go("/connections/new");
await person.fill("name", "nas");
await person.fill("config.address", engine.address);
await person.save();
await page.waitForURL(/\/adopt$/);
await page.locator("main", { hasText: "Checking" }).waitFor({ state: "detached" });
await draw("adopt", ["light", "dark"]);
await page.locator('.choice-bar [name="_action"][value="adopt"]').click();
await page.getByRole("heading", { level: 1, name: /^Adopted/ }).waitFor();
const isBehind = (name: unknown) =>
  services.some((each) => (each.project ?? each.name) === name && each.to !== each.from);
await eventually("all updates", async () =>
  (await list("/executors?limit=100")).every(({ name, state }) => state === (isBehind(name) ? "update" : "current")),
);
await update("vaultwarden");
const failed = await update("paperless");
await person.go("/");
await draw("overview", ["light", "dark"]);
await person.go(`/runs/${failed}`);
await draw("run", ["light"]);
await person.go("/executors/bulk?safe=1");
await person.untilSettled();
await draw("updates", ["light"]);
await person.close();
await server.kill("SIGTERM");
await engine.stop();
await registry.stop();

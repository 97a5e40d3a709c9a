import type { Journal } from "../../src/runtimes/journal.ts";
import type { Change, UpdatePlan } from "../../src/runtimes/plan.ts";
import type { RuntimeSession } from "../../src/runtimes/session.ts";
import type { TargetRef } from "../../src/runtimes/target.ts";
import type { TestEngine } from "../peers/engine.ts";
import { apply } from "./prepared.ts";
import { images } from "./update-target.ts";

/** The images of the services: each with a further version, one of them broken, and one that never gets healthy. */
export const groupImages = {
  old: images.old,
  next: images.next,
  broken: images.exits,
  sick: "lab/app:sick",
} as const;

const probe = (command: string) => ({
  Test: ["CMD-SHELL", command],
  Interval: 300_000_000,
  Timeout: 2_000_000_000,
  Retries: 2,
});

/** With it the database of `runStack` never gets healthy. */
export async function importSick(engine: TestEngine): Promise<void> {
  await engine.importImage(groupImages.sick, ["ENV APP_VERSION=4.0.0"]);
}

export function group(project: string): TargetRef {
  return { kind: "compose", id: project };
}

export function changes(to: Readonly<Record<string, string>>): readonly Change[] {
  return Object.entries(to).map(([service, reference]) => ({
    kind: "image",
    service,
    reference,
    digest: null,
    image_config: null,
  }));
}

interface ServiceOptions {
  number?: number;
  dependsOn?: string;
  body?: Readonly<Record<string, unknown>>;
  host?: Readonly<Record<string, unknown>>;
}

export function containerName(project: string, service: string, number = 1): string {
  return `${project}-${service}-${number}`;
}

/** Creates and starts one container with the labels that compose would give it. */
export async function runService(
  engine: TestEngine,
  project: string,
  service: string,
  { number = 1, dependsOn = "", body = {}, host = {} }: ServiceOptions = {},
): Promise<string> {
  const name = containerName(project, service, number);
  const created = (await engine.call("POST", `/containers/create?name=${name}`, {
    Image: groupImages.old,
    StopTimeout: 1,
    ...body,
    Labels: {
      "com.docker.compose.project": project,
      "com.docker.compose.service": service,
      "com.docker.compose.container-number": String(number),
      "com.docker.compose.oneoff": "False",
      "com.docker.compose.config-hash": "0".repeat(64),
      "com.docker.compose.depends_on": dependsOn,
      owner: `people of ${service}`,
    },
    HostConfig: { RestartPolicy: { Name: "always" }, ...host },
  })) as { Id: string };
  await engine.call("POST", `/containers/${name}/start`);
  return created.Id;
}

/**
 * A stack of three: a database with an anonymous volume and a health check, a web server that needs it healthy, on a network of
 * the project with an alias, and a worker inside the web server's network.
 */
export async function runStack(engine: TestEngine, project: string): Promise<void> {
  await engine.call("POST", "/networks/create", { Name: `${project}_default`, CheckDuplicate: true });
  const network = `${project}_default`;
  const endpoint = (alias: string) => ({ EndpointsConfig: { [network]: { Aliases: [alias] } } });
  await runService(engine, project, "db", {
    body: {
      Volumes: { "/data": {} },
      Healthcheck: probe('test -d /data && test "$APP_VERSION" != 4.0.0'),
      NetworkingConfig: endpoint("db"),
    },
    host: { NetworkMode: network },
  });
  const web = await runService(engine, project, "web", {
    dependsOn: "db:service_healthy:false",
    body: { NetworkingConfig: endpoint("web"), ExposedPorts: { "80/tcp": {} } },
    host: { NetworkMode: network, PortBindings: { "80/tcp": [{ HostIp: "127.0.0.1", HostPort: "0" }] } },
  });
  await runService(engine, project, "worker", {
    dependsOn: "web:service_started:false",
    host: { NetworkMode: `container:${web}` },
  });
}

/** Podman is told to check by `startHealthTimer`. */
export async function untilHealthy(engine: TestEngine, name: string): Promise<void> {
  while ((await inspectOne(engine, name)).State.Health?.Status !== "healthy") await Bun.sleep(50);
}

export interface Inspected {
  Id: string;
  Name: string;
  Image: string;
  State: { Status: string; Running: boolean; Health?: { Status: string } };
  Config: { Image: string; Labels: Record<string, string>; Env: string[] };
  HostConfig: { NetworkMode: string; RestartPolicy: { Name: string }; Links: string[] | null };
  Mounts: { Type: string; Name?: string; Destination: string }[];
  NetworkSettings: { Networks: Record<string, { Aliases: string[] | null; IPAddress: string; MacAddress?: string }> };
}

export async function inspectOne(engine: TestEngine, name: string): Promise<Inspected> {
  return (await engine.call("GET", `/containers/${name}/json`)) as Inspected;
}

/** `name state image` of everything whose name begins with the project's. */
export async function containerStates(engine: TestEngine, project: string): Promise<readonly string[]> {
  const listed = (await engine.call("GET", "/containers/json?all=1")) as { Id: string; Names: string[] }[];
  const lines: string[] = [];
  for (const { Id, Names } of listed) {
    // Links give further names, with a slash inside.
    const name = Names.map((each) => each.slice(1)).find((each) => !each.includes("/")) ?? "";
    if (!name.startsWith(`${project}-`)) continue;
    const { State, Config } = await inspectOne(engine, Id);
    // Podman says in full what is meant.
    lines.push(
      `${name} ${State.Status === "stopped" ? "exited" : State.Status} ${Config.Image.replace(/^docker\.io\//, "")}`,
    );
  }
  return lines.sort();
}

export async function removeGroup(engine: TestEngine, project: string): Promise<void> {
  // Podman keeps a container that others hang on: here those come later in the alphabet.
  for (const line of (await containerStates(engine, project)).toReversed()) {
    await engine.call("DELETE", `/containers/${line.split(" ")[0]}?force=1&v=1`);
  }
  await engine.call("DELETE", `/networks/${project}_default`).catch(() => undefined);
}

/** Plans, prepares nothing (the images are here), and applies. */
export async function updateGroup(
  session: RuntimeSession,
  project: string,
  to: Readonly<Record<string, string>>,
  journal: Journal,
): Promise<UpdatePlan> {
  const plan = await session.plan(group(project), changes(to));
  await apply(session, plan, journal);
  return plan;
}

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { engineAddress } from "../../src/runtimes/engine/address.ts";
import { attachNetworks } from "../../src/runtimes/engine/apply.ts";
import { blueprint, createBody, restartPolicyOf } from "../../src/runtimes/engine/carry.ts";
import { defaultDeadlines, type EngineClient, negotiate } from "../../src/runtimes/engine/client.ts";
import {
  carriedFilesLabels,
  findInjectedFiles,
  readInjectedFiles,
  writeInjectedFiles,
} from "../../src/runtimes/engine/compose/injected-files.ts";
import { composeLabels } from "../../src/runtimes/engine/compose/labels.ts";
import { type ComposeOutlook, configHashLabels } from "../../src/runtimes/engine/compose/outlook.ts";
import { type ContainerInspect, nameOf } from "../../src/runtimes/engine/objects.ts";
import { objectAt, stringMapAt } from "../../src/runtimes/engine/raw.ts";
import { engineTransport } from "../../src/runtimes/engine/transport.ts";
import { type ComposeVersion, startCompose } from "../peers/compose.ts";
import type { TestEngine } from "../peers/engine.ts";
import { flavours, kindOf } from "./engine-modes.ts";

/** Where the compose lies that a project is made with. */
export function composeFolder(version: ComposeVersion): string {
  return join(process.env.TIDEMARK_PEERS ?? join(homedir(), ".cache/tidemark-peers"), `compose-${version}`);
}

export interface ComposeProject extends AsyncDisposable {
  name: string;
  folder: string;
  write(file: string, text: string): void;
  /** `docker compose up -d`, and the ids of the project's containers by their names after it. */
  up(): Promise<Readonly<Record<string, string>>>;
  ids(): Promise<Readonly<Record<string, string>>>;
  container(service: string): Promise<ContainerInspect>;
  /** The image of each service as `docker compose config` reads the files. */
  images(): Promise<Readonly<Record<string, string>>>;
  /** Applies a patch with the tool that people have. */
  patch(text: string): void;
}

let count = 0;

/** A project of the real compose in a folder of its own. */
export function createProject(
  engine: TestEngine,
  client: EngineClient,
  version: ComposeVersion,
  files: Readonly<Record<string, string>>,
): ComposeProject {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-project-"));
  count += 1;
  const name = `fidelity-${version.replaceAll(".", "-")}-${count}`;
  const compose = startCompose({ engine, version, folder });
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
  for (const [file, text] of Object.entries(files)) write(file, text);
  const mine = async () => {
    const listed = await client.listContainers();
    return listed.filter((each) => stringMapAt(each.Labels)[composeLabels.project] === name);
  };
  const ids = async () => {
    const containers = await Promise.all((await mine()).map((each) => client.inspectContainer(each.Id)));
    return Object.fromEntries(containers.map((each) => [nameOf(each), each.Id]));
  };
  return {
    name,
    folder,
    write,
    ids,
    async up() {
      await compose.must(["-p", name, "up", "-d"]);
      return ids();
    },
    async container(service) {
      const found = (await mine()).find((each) => stringMapAt(each.Labels)[composeLabels.service] === service);
      if (found === undefined) throw new Error(`The project has no container of "${service}"`);
      return client.inspectContainer(found.Id);
    },
    async images() {
      const config = JSON.parse(await compose.must(["-p", name, "config", "--format", "json"])) as {
        services: Record<string, { image: string }>;
      };
      return Object.fromEntries(Object.entries(config.services).map(([service, { image }]) => [service, image]));
    },
    patch(text) {
      execFileSync("patch", ["-p0", "--quiet"], { cwd: folder, input: text });
    },
    async [Symbol.asyncDispose]() {
      await compose.run(["-p", name, "down", "-v", "-t", "1"]);
      compose.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function openClient(engine: TestEngine): Promise<{ client: EngineClient; api_version: string }> {
  const transport = engineTransport(engineAddress(engine.address, false, null), new AbortController().signal);
  return negotiate(transport, null, defaultDeadlines, flavours[kindOf(engine.mode)]);
}

/**
 * Replaces a container as a run does, but by hand: with what compose injected, and the labels that an outlook gives. `moved` leads
 * from old to new ids for what it shares a network with.
 */
export async function remake(
  { client, api_version: apiVersion }: { client: EngineClient; api_version: string },
  container: ContainerInspect,
  reference: string,
  outlook: ComposeOutlook | undefined,
  moved: ReadonlyMap<string, string> = new Map(),
): Promise<string> {
  const { files } = await findInjectedFiles(client, container);
  const archive = await readInjectedFiles(client, container.Id, files);
  const newImage = await client.inspectImage(reference);
  const shape = blueprint({
    container,
    oldImage: await client.inspectImage(container.Image),
    newImage,
    reference,
    inherited: new Set(),
    apiVersion,
  });
  const body = createBody(
    shape,
    newImage.Config,
    { ...carriedFilesLabels(archive), ...configHashLabels(outlook) },
    apiVersion,
  );
  const host = objectAt(body.HostConfig);
  const mode = String(host.NetworkMode).replace(/^container:(.*)$/, (_, id) => `container:${moved.get(id) ?? id}`);
  const name = nameOf(container);
  const id = await client.createContainer(
    `${name}-next`,
    { ...body, HostConfig: { ...host, NetworkMode: mode } },
    null,
  );
  await attachNetworks(client, shape, id);
  if (archive !== null) await writeInjectedFiles(client, id, archive);
  await client.stopContainer(container.Id, 10_000);
  await client.removeContainer(container.Id, false);
  await client.renameContainer(id, name);
  await client.startContainer(id);
  await client.updateRestartPolicy(id, restartPolicyOf(container));
  return id;
}

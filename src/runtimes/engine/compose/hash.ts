import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Message, say } from "../../../messages/message.ts";
import type { ContainerInspect } from "../objects.ts";
import { stringAt, stringsAt } from "../raw.ts";
import { configHashes, isServiceName } from "./command.ts";
import type { ComposeContainer } from "./labels.ts";
import type { SourceFile } from "./sources.ts";

export interface HashQuestion {
  service: string;
  container: ContainerInspect;
  /** Its current `config-hash` label. */
  present_hash: string | null;
  /** The image that the files will name; null when it stays. */
  image: { from: string; to: string; is_written: boolean } | null;
}

export type HashAnswer = { hash: string; reason: null } | { hash: null; reason: Message };

interface HashOptions {
  command: string;
  compose: ComposeContainer;
  /** The environment files after the edit; null when none changes. */
  environment: readonly SourceFile[] | null;
  /** New ids of replaced containers, by their old ones. */
  moved: ReadonlyMap<string, string>;
}

const otherFiles = say("compose.other_files");

/**
 * The config hashes of services after the edit of their files: with these labels `docker compose up` finds nothing to do. Only when the
 * current files give exactly the container's hash; otherwise they were edited since, or used variables of a shell, and nothing is certain.
 * Compose hashes a shared namespace and volumes of another container by the owner's id, so that is overlaid on the file.
 */
export async function nextHashes(
  { command, compose, environment, moved }: HashOptions,
  questions: readonly HashQuestion[],
): Promise<ReadonlyMap<string, HashAnswer>> {
  const answers = new Map<string, HashAnswer>();
  const open = questions.filter((question) => {
    const reason = unknowable(question);
    if (reason !== null) answers.set(question.service, { hash: null, reason });
    return reason === null;
  });
  if (open.length === 0) return answers;
  const services = open.map((question) => question.service);
  const give = (reason: Message) =>
    new Map([...answers, ...services.map((each) => [each, { hash: null, reason }] as const)]);

  const overlaid = (imageOf: (question: HashQuestion) => string | null, ids: ReadonlyMap<string, string>) => {
    return overlay(
      open.map((each) => ({ ...each, image: imageOf(each) })),
      ids,
    );
  };
  const still = new Map<string, string>();
  // A file that already names the new image is compared as if it still named the old one.
  const asFound = overlaid(({ image }) => (image?.is_written ? image.from : null), still);
  const [found, alone, next] = await withEnvironment(environment, async (paths) => {
    const edited = { compose, services, environment: paths };
    const present = configHashes(command, { compose, services, environment: null, override: asFound });
    return Promise.all([
      present,
      // An edited variable may affect more than the image: the container would lack that, and compose not notice.
      paths === null
        ? present
        : configHashes(command, { ...edited, override: overlaid(({ image }) => image?.from ?? null, still) }),
      configHashes(command, { ...edited, override: overlaid(({ image }) => image?.to ?? null, moved) }),
    ]);
  });
  if (found.hashes === null) return give(found.reason);
  if (alone.hashes === null || next.hashes === null) return give(say("compose.no_hashes_edited"));
  for (const { service, present_hash: label } of open) {
    const hash = next.hashes.get(service);
    if (hash === undefined || found.hashes.get(service) !== label) {
      answers.set(service, { hash: null, reason: otherFiles });
    } else if (alone.hashes.get(service) !== label) {
      answers.set(service, { hash: null, reason: say("compose.edit_changes_more") });
    } else answers.set(service, { hash, reason: null });
  }
  return answers;
}

function unknowable({ service, container, present_hash: label }: HashQuestion): Message | null {
  if (label === null) return say("compose.no_hash_label");
  const names = [service, ...volumeOwners(container, new Map()).map((each) => each.split(":")[0] ?? "")];
  if (!names.every(isServiceName)) return say("compose.odd_names");
  return null;
}

const namespaces = [
  ["network_mode", "NetworkMode"],
  ["ipc", "IpcMode"],
  ["pid", "PidMode"],
] as const;

interface Laid {
  service: string;
  container: ContainerInspect;
  image: string | null;
}

/** JSON is YAML: nothing in a label or an id can break out. Null when there is nothing to overlay. */
function overlay(services: readonly Laid[], moved: ReadonlyMap<string, string>): string | null {
  const laid = services.map(({ service, container, image }) => {
    const shared = namespaces.flatMap(([key, field]) => {
      const mode = stringAt(container.HostConfig[field]);
      if (!mode.startsWith("container:")) return [];
      const id = mode.slice("container:".length);
      return [[key, `container:${moved.get(id) ?? id}`] as const];
    });
    const owners = volumeOwners(container, moved);
    const members = {
      ...(image === null ? {} : { image: escaped(image) }),
      ...Object.fromEntries(shared),
      ...(owners.length === 0 ? {} : { volumes_from: owners }),
    };
    return [service, members] as const;
  });
  const filled = laid.filter(([, members]) => Object.keys(members).length > 0);
  if (filled.length === 0) return null;
  // Compose needs a service for each owner's name, and hashes only the requested ones.
  const owners = services.flatMap(({ container }) => volumeOwners(container, moved));
  const named = owners.map((each) => [each.split(":")[0] ?? "", { image: "none" }] as const);
  const text = JSON.stringify({ services: Object.fromEntries([...named, ...filled]) });
  // Otherwise the list would be appended. No text in JSON has quotes like these.
  return text.replaceAll('"volumes_from":[', '"volumes_from":!override [');
}

/** As compose passes them to the engine: ids of its services' containers, and a file's names of other containers. */
function volumeOwners({ HostConfig: host }: ContainerInspect, moved: ReadonlyMap<string, string>): readonly string[] {
  return stringsAt(host.VolumesFrom).map((each) => {
    const [id = "", ...options] = each.split(":");
    return [moved.get(id) ?? id, ...options].join(":");
  });
}

/** Compose would read it as a variable. */
function escaped(text: string): string {
  return text.replace(/\$/g, "$$$$");
}

async function withEnvironment<T>(
  files: readonly SourceFile[] | null,
  work: (paths: readonly string[] | null) => Promise<T>,
): Promise<T> {
  if (files === null) return work(null);
  const folder = await mkdtemp(join(tmpdir(), "tidemark-compose-"));
  try {
    const paths = files.map((_, index) => join(folder, `${index}.env`));
    await Promise.all(
      files.map(({ text }, index) => writeFile(paths[index] ?? folder, text, { mode: 0o600, flag: "wx" })),
    );
    return await work(paths);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

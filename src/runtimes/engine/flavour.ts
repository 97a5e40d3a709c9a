import { PluginError } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import type { EngineVersion } from "./objects.ts";
import { isObject, listAt, objectAt, type RawObject, stringAt } from "./raw.ts";

/**
 * In what Docker and Podman differ, chosen once when a session is opened. Everything behind it speaks of containers and images in
 * the words of Docker's API.
 */
export interface Flavour {
  kind: "docker" | "podman";
  /** How the engine calls itself among its version's components; null for the one that is assumed where nothing is said. */
  component: string | null;
  /** The oldest version of the engine that is spoken to; null for the API's version alone. */
  oldest: string | null;
  /** Whether the restart policy of a container can be changed. If not, it is made with its last one, and no move changes one. */
  changesRestartPolicy: boolean;
  /** With the version of their API where it is another than the negotiated one. Ids and references come encoded. */
  paths: {
    inspectContainer(id: string): string;
    inspectImage(reference: string): string;
    createContainer: string;
    connectNetwork(network: string): string;
  };
  /** The image whose inspect `readContainer` needs; null for none. */
  imageOf(answer: unknown): string | null;
  readContainer(answer: unknown, image: RawObject | null): unknown;
  readImage(answer: unknown): unknown;
  createQuery(name: string, platform: string | null): Readonly<Record<string, string>>;
  createBody(name: string, body: RawObject, platform: string | null): RawObject;
  connectBody(container: string, endpoint: RawObject): RawObject;
  /** A reference as the engine is to get it. */
  qualify(reference: string): string;
}

const podman = "Podman Engine";

/** Throws `rejected` with the type to choose when the engine is of the other flavour, or too old for ours. */
export function requireFlavour(version: EngineVersion, flavour: Flavour): void {
  const components = listAt(version.Components).filter(isObject);
  const found = components.find((component) => stringAt(component.Name) === podman);
  if (found !== undefined && flavour.component !== podman) {
    throw new PluginError("rejected", say("engine.is_podman", { version: stringAt(found.Version) }));
  }
  if (found === undefined && flavour.component === podman) {
    throw new PluginError("rejected", say("engine.is_not_podman"));
  }
  if (found === undefined || flavour.oldest === null) return;
  const api = stringAt(objectAt(found.Details).APIVersion) || stringAt(found.Version);
  if (isOlder(api, flavour.oldest)) {
    throw new PluginError("rejected", say("engine.podman_too_old", { version: api, oldest: flavour.oldest }));
  }
}

function isOlder(version: string, oldest: string): boolean {
  const [left, right] = [version, oldest].map((text) => text.split(".").map((part) => Number.parseInt(part, 10) || 0));
  for (const [index, part] of (right ?? []).entries()) {
    const difference = (left?.[index] ?? 0) - part;
    if (difference !== 0) return difference < 0;
  }
  return false;
}

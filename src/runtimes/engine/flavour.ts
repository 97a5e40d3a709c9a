import { PluginError } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import type { EngineVersion } from "./objects.ts";
import { isObject, listAt, objectAt, type RawObject, stringAt } from "./raw.ts";

/**
 * The differences between Docker and Podman, chosen when a session is opened. All other code sees containers and images in
 * the form of Docker's API.
 */
export interface Flavour {
  kind: "docker" | "podman";
  /** The engine's name among the components of its version; null for the one that is assumed by default. */
  component: string | null;
  /** The oldest supported version of the engine; null if only the API version matters. */
  oldest: string | null;
  /** Whether a container's restart policy can be changed. If not, it is created with its final one, and no step changes it. */
  changesRestartPolicy: boolean;
  /** With their API version if it is not the negotiated one. IDs and references are already encoded. */
  paths: {
    inspectContainer(id: string): string;
    inspectImage(reference: string): string;
    createContainer: string;
    connectNetwork(network: string): string;
  };
  /** Whether the engine has an ID that it keeps. */
  keepsId: boolean;
  /** The image whose inspection `readContainer` needs; null for none. */
  imageOf(answer: unknown): string | null;
  readContainer(answer: unknown, image: RawObject | null): unknown;
  readImage(answer: unknown): unknown;
  createQuery(name: string, platform: string | null): Readonly<Record<string, string>>;
  createBody(name: string, body: RawObject, platform: string | null): RawObject;
  connectBody(container: string, endpoint: RawObject): RawObject;
  /** A reference in the form that the engine expects. */
  qualify(reference: string): string;
}

const podman = "Podman Engine";

/** Throws `rejected` with the type to choose if the engine is of the other flavour, or if it is too old. */
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

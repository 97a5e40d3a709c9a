import type { FieldDiff } from "../plan.ts";
import type { Blueprint } from "./carry.ts";
import { comparableConfig, comparableEndpoint, comparableHost, differingKeys } from "./compare.ts";
import { variableName } from "./merge.ts";
import type { ContainerInspect } from "./objects.ts";
import { canonical, isBlank, isSame, objectAt, type RawObject, stringAt, stringsAt } from "./raw.ts";
import { isAssigned, isSecretArgument, isSecretName, isSecretPath, isSecretText, isSecretWord } from "./secret-form.ts";

const maxValueLength = 500;
const mask = "••••";

/** What inspect will show differently, in the engine's terms, with the values of secret-looking variables masked. */
export function fieldDiffs(service: string, container: ContainerInspect, plan: Blueprint): readonly FieldDiff[] {
  const before = comparableConfig(container.Config, container);
  const after = comparableConfig(plan.config, container);
  const diffs: FieldDiff[] = [];
  const push = (path: string, old: unknown, now: unknown, because: FieldDiff["because"]) => {
    diffs.push({ service, path, ...shown(path, old, now), because });
  };
  for (const key of differingKeys(before, after)) {
    if (key === "Image") push("Image", before[key], after[key], "desired");
    else if (key === "Env") pushMembers(push, "Env", variables(before[key]), variables(after[key]));
    else if (key === "Labels" || key === "Healthcheck")
      pushMembers(push, key, objectAt(before[key]), objectAt(after[key]));
    else if (key === "ExposedPorts" || key === "Volumes") push(key, names(before[key]), names(after[key]), "image");
    else push(key, before[key], after[key], "image");
  }
  const host = comparableHost(container.HostConfig);
  const nextHost = comparableHost(plan.host_config);
  for (const key of differingKeys(host, nextHost)) push(`HostConfig.${key}`, host[key], nextHost[key], "runtime");
  return diffs.sort((left, right) => order(left) - order(right) || (left.path < right.path ? -1 : 1));
}

/**
 * What creating a container from one blueprint changes compared with another; empty if nothing.
 * `owner` is the existing container.
 */
export function blueprintDiffs(
  service: string,
  owner: ContainerInspect,
  now: Blueprint,
  then: Blueprint,
): readonly FieldDiff[] {
  const settings = fieldDiffs(service, { ...owner, Config: now.config, HostConfig: now.host_config }, then);
  const added: FieldDiff[] = [];
  const push = (path: string, old: unknown, next: unknown) => {
    added.push({ service, path, ...shown(path, old, next), because: "desired" });
  };
  const has = (...paths: readonly string[]) => settings.some(({ path }) => paths.includes(path));
  if (now.image_id !== then.image_id && !has("Image")) push("Image", now.image_id, then.image_id);
  if (!isSame(now.restart_policy, then.restart_policy)) {
    push("HostConfig.RestartPolicy", now.restart_policy, then.restart_policy);
  }
  const [networks, nextNetworks] = [networksOf(now), networksOf(then)];
  for (const key of differingKeys(networks, nextNetworks)) push(`Networks.${key}`, networks[key], nextNetworks[key]);
  // They mostly differ because the settings do, which explain it better.
  const [mounts, nextMounts] = has("HostConfig.Binds", "HostConfig.Mounts")
    ? [{}, {}]
    : [mountsOf(now), mountsOf(then)];
  for (const key of differingKeys(mounts, nextMounts)) push(`Mounts.${key}`, mounts[key], nextMounts[key]);
  return [...settings, ...added];
}

/** If the engine does not say who chose the address, it may be random for this start. */
function networksOf({ attachments }: Blueprint): RawObject {
  const networks = attachments.map(({ network, endpoint: { MacAddress: _address, ...endpoint } }) => {
    return [network, comparableEndpoint(endpoint)] as const;
  });
  return Object.fromEntries(networks);
}

function mountsOf({ mounts }: Blueprint): RawObject {
  return Object.fromEntries(
    mounts.map((mount) => [stringAt(mount.Destination), [mount.Type, mount.Name ?? mount.Source, mount.RW]]),
  );
}

type Push = (path: string, before: unknown, after: unknown, because: FieldDiff["because"]) => void;

function pushMembers(push: Push, path: string, before: RawObject, after: RawObject): void {
  for (const key of differingKeys(before, after)) {
    const isOurs = path === "Labels" && key === "com.docker.compose.image";
    // The ID is only known once the image is pulled.
    if (isOurs && stringAt(after[key]) === "") continue;
    push(`${path}.${key}`, before[key], after[key], isOurs ? "desired" : "image");
  }
}

function variables(lines: unknown): RawObject {
  return Object.fromEntries(
    stringsAt(lines).map((line) => {
      const name = variableName(line);
      return [name, line.slice(name.length + 1)];
    }),
  );
}

function names(map: unknown): string {
  return Object.keys(objectAt(map)).sort().join(", ");
}

function order(diff: FieldDiff): number {
  return { desired: 0, image: 1, chart: 1, runtime: 2 }[diff.because];
}

/** Values of secret-looking names or forms are masked; the diff only says that they differ. */
function shown(path: string, before: unknown, after: unknown): { before: string | null; after: string | null } {
  const isCommand = path === "Cmd" || path === "Entrypoint";
  const hide = (value: unknown) => {
    if (isSecretPath(path)) return isBlank(value) ? value : mask;
    return isCommand && Array.isArray(value) ? concealedWords(value) : concealed(value);
  };
  const texts = { before: text(hide(before)), after: text(hide(after)) };
  const isHidden = texts.after !== null && texts.after === texts.before && texts.after.includes(mask);
  return isHidden ? { ...texts, after: `${texts.after} (differs)` } : texts;
}

function concealedWords(words: readonly unknown[]): readonly unknown[] {
  return words.map((word, index) => {
    const before = words[index - 1];
    if (typeof word !== "string") return word;
    const isArgument = typeof before === "string" && isSecretArgument(before, word);
    return isArgument || isSecretWord(word) || isSecretText(word) ? mask : word;
  });
}

/** `isOptions`: options of volume and log drivers, such as `o: "username=u,password=p"`. */
function concealed(value: unknown, isOptions = false): unknown {
  if (typeof value === "string") return isSecretText(value) || (isOptions && isAssigned(value)) ? mask : value;
  if (Array.isArray(value)) return value.map((item: unknown) => concealed(item, isOptions));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, item]: [string, unknown]) => {
    if (isOptions && isSecretName(key) && typeof item === "string" && item !== "") return [key, mask];
    return [key, concealed(item, isOptions || key === "Options" || key === "Config")];
  });
  return Object.fromEntries(entries);
}

function text(value: unknown): string | null {
  if (isBlank(value)) return null;
  const full = typeof value === "string" ? value : canonical(value);
  return full.length > maxValueLength ? `${full.slice(0, maxValueLength - 1)}…` : full;
}

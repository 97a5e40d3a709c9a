import { isBlank, isObject, isSame, isUnset, objectAt, type RawObject, stringMapAt, stringsAt } from "./raw.ts";

/**
 * Three-way merge of a container's `Config` with the image it was created from and the image it will be created from (both as the
 * engine's image `Config`). A value equal to the old image's default becomes the new image's default; any other value stays. The new
 * container's inspection must show the result. A value set to exactly the old default cannot be distinguished from the
 * default and follows the image, as in a fresh `run`.
 *
 * Variables, labels, ports, volumes and the members of the health check are merged one by one. `Entrypoint` and `Cmd`
 * belong together: setting an entrypoint decides about the command too.
 */
export function mergeConfig(container: RawObject, oldImage: RawObject, newImage: RawObject): RawObject {
  const merged: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(container)) {
    const isFromImage = !ofContainerAlone.has(key) && follows(value, oldImage[key]);
    merged[key] = isFromImage ? newImage[key] : value;
  }
  // The engine sets these for a container without its own, so they appear although the old image had none.
  for (const key of ["User", "WorkingDir", "StopSignal"]) {
    if (isUnset(merged[key]) && !isUnset(newImage[key])) merged[key] = newImage[key];
  }
  return {
    ...merged,
    ...mergeCommand(container, oldImage, newImage),
    Env: mergeEnv(stringsAt(container.Env), stringsAt(oldImage.Env), stringsAt(newImage.Env)),
    Labels: mergeMap(container.Labels, oldImage.Labels, newImage.Labels),
    ExposedPorts: mergeMap(container.ExposedPorts, oldImage.ExposedPorts, newImage.ExposedPorts),
    Volumes: mergeMap(container.Volumes, oldImage.Volumes, newImage.Volumes),
    Healthcheck: mergeHealthcheck(container.Healthcheck, oldImage.Healthcheck, newImage.Healthcheck),
  };
}

/**
 * Settings that no engine takes from an image at create, although the configuration of a committed image has them. They are the
 * container's own even if both are equal.
 */
const ofContainerAlone = new Set([
  "ArgsEscaped",
  "AttachStderr",
  "AttachStdin",
  "AttachStdout",
  "Domainname",
  "Hostname",
  "MacAddress",
  "NetworkDisabled",
  "OnBuild",
  "OpenStdin",
  "Shell",
  "StdinOnce",
  "StopTimeout",
  "Tty",
]);

/** A value equal to the image's default is the image's; a value without a default is the container's own. */
function follows(value: unknown, oldDefault: unknown): boolean {
  return !isUnset(oldDefault) && isSame(value, oldDefault);
}

function mergeCommand(container: RawObject, oldImage: RawObject, newImage: RawObject): RawObject {
  if (isTakenAway(container.Entrypoint) && !isTakenAway(oldImage.Entrypoint)) {
    const command = isSame(container.Cmd, oldImage.Cmd) ? newImage.Cmd : container.Cmd;
    return { Entrypoint: [], Cmd: command ?? null };
  }
  const isOwnEntrypoint = !isSame(container.Entrypoint, oldImage.Entrypoint);
  // An engine fills in the image's command unless an entrypoint was given, so a missing command implies an entrypoint.
  const isCommandDropped = isBlank(container.Cmd) && !isBlank(oldImage.Cmd);
  if (isOwnEntrypoint || isCommandDropped) {
    return { Entrypoint: container.Entrypoint ?? null, Cmd: container.Cmd ?? null };
  }
  const isOwnCommand = !isSame(container.Cmd, oldImage.Cmd);
  return {
    Entrypoint: newImage.Entrypoint ?? null,
    Cmd: (isOwnCommand ? container.Cmd : newImage.Cmd) ?? null,
  };
}

/**
 * Whether somebody set `[]`: no entrypoint, and the image's command unless one is set. `[""]` also removes the entrypoint, but does not
 * take the image's command; engines then show `null`.
 */
function isTakenAway(entrypoint: unknown): boolean {
  return Array.isArray(entrypoint) && entrypoint.length === 0;
}

/**
 * `NAME=value` lines. The container's own come first, in their order, as an engine writes them. A name with several lines is
 * one setting whose last line counts: all of them stay, or all follow the image.
 */
function mergeEnv(
  container: readonly string[],
  oldImage: readonly string[],
  newImage: readonly string[],
): readonly string[] {
  const linesOf = (lines: readonly string[], name: string) => lines.filter((line) => variableName(line) === name);
  const names = new Set(container.map(variableName));
  const own = new Set([...names].filter((name) => !isSame(linesOf(container, name), linesOf(oldImage, name))));
  return [
    ...container.filter((line) => own.has(variableName(line))),
    ...newImage.filter((line) => !own.has(variableName(line))),
  ];
}

export function variableName(line: string): string {
  const equals = line.indexOf("=");
  return equals < 0 ? line : line.slice(0, equals);
}

function mergeMap(container: unknown, oldImage: unknown, newImage: unknown): RawObject {
  const defaults = objectAt(oldImage);
  const own = Object.entries(objectAt(container)).filter(([key, value]) => {
    return !(key in defaults) || !isSame(defaults[key], value);
  });
  return { ...objectAt(newImage), ...Object.fromEntries(own) };
}

function mergeHealthcheck(container: unknown, oldImage: unknown, newImage: unknown): RawObject | null {
  const own = objectAt(container);
  const oldDefault = objectAt(oldImage);
  const newDefault = objectAt(newImage);
  const merged: Record<string, unknown> = {};
  for (const key of new Set([...Object.keys(own), ...Object.keys(newDefault)])) {
    const isOwn = !isUnset(own[key]) && !isSame(own[key], oldDefault[key]);
    const value = isOwn ? own[key] : newDefault[key];
    if (!isUnset(value)) merged[key] = value;
  }
  return isBlank(merged) ? null : merged;
}

/** How many variables and labels differ from the old image's, for the plan's summary. */
export function ownCounts(container: RawObject, oldImage: RawObject): { environment: number; labels: number } {
  const envDefaults = new Set(stringsAt(oldImage.Env));
  const labelDefaults = stringMapAt(oldImage.Labels);
  return {
    environment: stringsAt(container.Env).filter((line) => !envDefaults.has(line)).length,
    labels: Object.entries(stringMapAt(container.Labels)).filter(([key, value]) => labelDefaults[key] !== value).length,
  };
}

/**
 * `Config` for a create call that results in the merged one: an engine reads a missing entrypoint as "use the image's", and `[""]` as
 * "none".
 */
export function configForCreate(merged: RawObject, newImage: RawObject): RawObject {
  const isReset = isBlank(merged.Entrypoint) && !isTakenAway(merged.Entrypoint) && !isBlank(newImage.Entrypoint);
  const entries = Object.entries(merged).filter(([key, value]) => {
    return !isBlank(value) || isObject(value) || (key === "Entrypoint" && isTakenAway(value));
  });
  return { ...Object.fromEntries(entries), ...(isReset ? { Entrypoint: [""] } : {}) };
}

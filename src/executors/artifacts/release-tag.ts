import { AppError, PluginError } from "../../errors.ts";
import { type Message, say } from "../../messages/message.ts";
import { parseImageReference } from "../../versions/image-reference.ts";
import { tagsOfRelease } from "../../versions/tag-form.ts";
import type { Unmet } from "../observation-schema.ts";
import type { DesiredRelease, RegistryAccess } from "../releases.ts";
import type { ExecutorSettings } from "../settings.ts";
import { type AskedEngine, type RegistryAccessDeps, registryAccess } from "./registry-access.ts";

interface SoughtTag {
  /** The reference of what runs. */
  image: string;
  /** The name of what it runs; null if unknown. */
  tag: string | null;
  release: DesiredRelease;
  engine: AskedEngine;
}

/** The tag and digest, in the running repository, of a release that is not an image. */
export async function tagOfRelease(
  deps: RegistryAccessDeps,
  settings: ExecutorSettings,
  { image: running, tag: runningTag, release, engine }: SoughtTag,
): Promise<{ tag: string; digest: string } | Unmet> {
  const { registry, repository } = parseImageReference(running);
  const image = `${registry}/${repository}`;
  if (runningTag === null) {
    return { code: "no_tag", message: say("executors.runs_by_digest", { image }) };
  }
  const tags = tagsOfRelease(runningTag, release);
  if (tags.length === 0) {
    const version = release.app_version ?? release.tag;
    return { code: "no_tag", message: say("executors.tag_not_formed", { version, tag: runningTag }) };
  }
  let access: RegistryAccess | null = null;
  try {
    access = await registryAccess(deps, settings, image, engine);
    for (const tag of tags) {
      const digest = await deps.releases.findDigest(image, tag, access);
      if (digest !== null) return { tag, digest };
    }
  } catch (error) {
    if (!(error instanceof PluginError) && !(error instanceof AppError)) throw error;
    return { code: "registry_failed", message: registryFault({ image, tag: tags[0] ?? "", access, error }) };
  }
  return { code: "no_tag", message: say("executors.tag_not_found", { image, tags }) };
}

interface RegistryFault {
  image: string;
  tag: string;
  /** Null if it could not be determined. */
  access: RegistryAccess | null;
  error: PluginError | AppError;
}

/** Why a registry did not return a tag, and what to do if that is known. */
function registryFault({ image, tag, access, error }: RegistryFault): Message {
  const { code, said: cause } = error;
  if (access?.login === null && code === "unauthorized") {
    return say("executors.registry_needs_login", { image, tag, cause });
  }
  if (access?.is_plain === null && code === "unreachable") {
    return say("executors.registry_needs_http", { image, tag, cause });
  }
  return say("executors.registry_failed", { image, tag, cause });
}

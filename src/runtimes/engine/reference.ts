import {
  DOCKER_HUB,
  formatImageReference,
  type ImageName,
  ImageReferenceError,
  parseImageReference,
} from "../../versions/image-reference.ts";

/** An image reference as an engine reads it: `repository[:tag][@digest]`; the repository may start with `host[:port]/`. */
export interface SplitReference {
  repository: string;
  tag: string | null;
  digest: string | null;
}

/** Splits without judging or rewriting: what an engine once accepted is sent back as written. */
export function splitReference(reference: string): SplitReference {
  const [named = "", digest = null] = reference.split("@", 2);
  const slash = named.lastIndexOf("/");
  const colon = named.lastIndexOf(":");
  if (colon <= slash) return { repository: named, tag: null, digest };
  return { repository: named.slice(0, colon), tag: named.slice(colon + 1), digest };
}

/** The registry host of a reference; null if it names no repository (an image ID). */
export function registryOf(reference: string): string | null {
  return imageName(splitReference(reference).repository)?.registry ?? null;
}

export function isSameRegistry(left: string, right: string): boolean {
  return canonicalHost(left) === canonicalHost(right);
}

/** With registry and namespace made explicit: `nginx:1` becomes `docker.io/library/nginx:1`. What names no repository is unchanged. */
export function qualifyReference(reference: string): string {
  const { repository, tag, digest } = splitReference(reference);
  if (/^(sha256:)?[0-9a-f]{64}$/.test(reference)) return reference;
  const suffix = `${tag === null ? "" : `:${tag}`}${digest === null ? "" : `@${digest}`}`;
  return `${canonicalRepository(repository)}${suffix}`;
}

/** `nginx` and `docker.io/library/nginx` are equal. */
export function isSameRepository(left: string, right: string): boolean {
  return canonicalRepository(left) === canonicalRepository(right);
}

/** Equal repository and equal digest, or without a digest equal tag. */
export function isSameReference(left: string, right: string): boolean {
  const [a, b] = [splitReference(left), splitReference(right)];
  if (!isSameRepository(a.repository, b.repository)) return false;
  if (a.digest !== null || b.digest !== null) return a.digest === b.digest;
  return (a.tag ?? "latest") === (b.tag ?? "latest");
}

/** The digest under which an image was pulled from this repository, or null. */
export function digestFor(repoDigests: readonly string[], repository: string): string | null {
  for (const each of repoDigests) {
    const split = splitReference(each);
    if (split.digest !== null && isSameRepository(split.repository, repository)) return split.digest;
  }
  return null;
}

function canonicalRepository(repository: string): string {
  const name = imageName(repository);
  return name === null ? repository : formatImageReference(name);
}

function canonicalHost(host: string): string {
  const bare = host.replace(/^https?:\/\//, "").replace(/\/.*$/, "");
  return bare === "" ? DOCKER_HUB : (imageName(`${bare}/name/name`)?.registry ?? bare.toLowerCase());
}

function imageName(text: string): ImageName | null {
  try {
    return parseImageReference(text);
  } catch (error) {
    if (error instanceof ImageReferenceError) return null;
    throw error;
  }
}

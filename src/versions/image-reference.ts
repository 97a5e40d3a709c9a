import { SaidError } from "../errors.ts";
import { say } from "../messages/message.ts";

/** The canonical name of Docker Hub; the others are aliases. */
export const DOCKER_HUB = "docker.io";
const dockerHubHosts: ReadonlySet<string> = new Set([
  DOCKER_HUB,
  "index.docker.io",
  "registry-1.docker.io",
  "registry.hub.docker.com",
  "www.docker.io",
]);
/** The registry of a bare image name; the distribution specification allows 255 characters for registry and repository. */
const MAX_NAME_CHARACTERS = 255;
const MAX_REFERENCE_CHARACTERS = 1_024;

/** An invalid image reference; the message quotes it and says what would be valid. */
export class ImageReferenceError extends SaidError {}

/** The parts of an image's name: `docker.io` and `library/nginx`. */
export interface ImageName {
  /** `http` only for an explicit `http://`. */
  scheme: "https" | "http";
  /** Host, with an explicit port; Docker Hub is always `docker.io`. */
  registry: string;
  /** With `library/` for Docker Hub's own images. */
  repository: string;
}

export interface ImageReference extends ImageName {
  tag: string | null;
  digest: string | null;
}

/**
 * Parses `[registry[:port]/]repository[:tag][@digest]` like engines: the first part is a registry when it has a dot or a colon or is
 * `localhost`. Throws ImageReferenceError.
 */
export function parseImageReference(text: string): ImageReference {
  const trimmed = text.trim();
  if (trimmed === "") throw new ImageReferenceError(say("images.blank"));
  if (trimmed.length > MAX_REFERENCE_CHARACTERS) throw tooLong(trimmed, MAX_REFERENCE_CHARACTERS);
  if (isImageId(trimmed)) {
    throw new ImageReferenceError(say("images.id", { image: quote(trimmed) }));
  }
  const { scheme, rest } = withoutScheme(trimmed);
  const at = rest.indexOf("@");
  const digest = at === -1 ? null : parseDigest(rest.slice(at + 1), trimmed);
  const named = at === -1 ? rest : rest.slice(0, at);
  const colon = named.lastIndexOf(":");
  const hasTag = colon > named.lastIndexOf("/") && !named.endsWith("]");
  const tag = hasTag ? parseTag(named.slice(colon + 1), trimmed) : null;
  const name = parseName(hasTag ? named.slice(0, colon) : named, trimmed);
  return { scheme, ...name, tag, digest };
}

/**
 * The image of a source's two fields, registry address and image name. A blank registry is Docker Hub. A full reference in the image field
 * does not repeat the host, loses its tag and digest, and overrides Docker Hub; two different registries are refused. Throws
 * ImageReferenceError.
 */
export function parseImageName(image: string, registryAddress = ""): ImageName {
  const address = parseRegistryAddress(registryAddress);
  if (address === null) return nameOnly(parseImageReference(image));
  const given = withoutScheme(image.trim());
  const first = given.rest.split("/")[0] ?? "";
  const scheme = given.scheme === "http" ? given.scheme : address.scheme;
  if (given.rest.includes("/") && isRegistry(first)) {
    const full = nameOnly(parseImageReference(given.rest));
    if (full.registry === address.registry) return { ...full, scheme };
    if (address.registry === DOCKER_HUB && address.path === "") return { ...full, scheme: given.scheme };
    const values = { image: quote(image), named: full.registry, address: address.registry };
    throw new ImageReferenceError(say("images.two_registries", values));
  }
  const isUnderPath = address.path === "" || given.rest.startsWith(`${address.path}/`);
  const path = isUnderPath ? given.rest : `${address.path}/${given.rest}`;
  return { ...nameOnly(parseImageReference(`${address.registry}/${path}`)), scheme };
}

/** The canonical text, with registry and `library/`, without a scheme: `docker.io/library/nginx:1.27@sha256:…`. */
export function formatImageReference(reference: ImageName & Partial<ImageReference>): string {
  return `${reference.registry}/${reference.repository}${suffixOf(reference)}`;
}

/** True for an engine's id of an unnamed image: `sha256:…` or 64 hexadecimal digits. */
export function isImageId(text: string): boolean {
  return /^(?:sha256:)?[0-9a-f]{64}$/.test(text);
}

function suffixOf(reference: Partial<ImageReference>): string {
  const tag = reference.tag == null ? "" : `:${reference.tag}`;
  return reference.digest == null ? tag : `${tag}@${reference.digest}`;
}

function nameOnly(reference: ImageReference): ImageName {
  return { scheme: reference.scheme, registry: reference.registry, repository: reference.repository };
}

function withoutScheme(text: string): { scheme: "https" | "http"; rest: string } {
  const end = text.indexOf("://");
  if (end === -1) return { scheme: "https", rest: text };
  const scheme = text.slice(0, end).toLowerCase();
  const rest = text.slice(end + 3);
  if (scheme === "http") return { scheme: "http", rest };
  if (scheme === "https" || scheme === "docker" || scheme === "oci") return { scheme: "https", rest };
  throw new ImageReferenceError(say("images.scheme", { image: quote(text), scheme: quote(scheme) }));
}

interface RegistryAddress {
  scheme: "https" | "http";
  registry: string;
  path: string;
}

/** A registry's address as pasted: with a scheme, a trailing `/v2/`, or a path to the images. */
function parseRegistryAddress(text: string): RegistryAddress | null {
  const trimmed = text.trim();
  if (trimmed === "") return null;
  const { scheme, rest } = withoutScheme(trimmed);
  const [named = "", ...segments] = rest.split("/").filter((segment, index) => index === 0 || segment !== "");
  // `registry.example.` with the root dot is `registry.example`.
  const host = named.replace(/\.(?=(?::\d+)?$)/, "");
  if (segments[0] === "v1" || segments[0] === "v2") segments.shift();
  if (!isHost(host)) throw badRegistry(host, trimmed);
  if (!isRegistry(host)) {
    const values = { address: quote(trimmed), host: quote(host), port: scheme === "http" ? 80 : 443 };
    throw new ImageReferenceError(say("images.owner_as_registry", values));
  }
  return { scheme, registry: canonicalRegistry(host), path: segments.join("/") };
}

function parseName(text: string, whole: string): { registry: string; repository: string } {
  const slash = text.indexOf("/");
  const first = slash === -1 ? "" : text.slice(0, slash);
  const hasRegistry = slash !== -1 && isRegistry(first);
  if (hasRegistry && !isHost(first)) throw badRegistry(first, whole);
  const registry = hasRegistry ? canonicalRegistry(first) : DOCKER_HUB;
  const path = hasRegistry ? text.slice(slash + 1) : text;
  const lower = path.toLowerCase();
  const isPath = lower.split("/").every(isPathComponent);
  if (isPath && path !== lower) {
    throw new ImageReferenceError(say("images.uppercase", { image: quote(whole), lower: quote(lower) }));
  }
  if (!isPath) {
    throw new ImageReferenceError(say("images.repository", { image: quote(whole) }));
  }
  const repository = registry === DOCKER_HUB && !path.includes("/") ? `library/${path}` : path;
  if (registry.length + repository.length + 1 > MAX_NAME_CHARACTERS) throw tooLong(whole, MAX_NAME_CHARACTERS);
  return { registry, repository };
}

/** The engines' rule to distinguish `host/app` from `owner/app`. */
function isRegistry(first: string): boolean {
  return first.includes(".") || first.includes(":") || first.toLowerCase() === "localhost" || first.startsWith("[");
}

function isHost(text: string): boolean {
  const match = /^(\[[0-9a-fA-F:.]{2,45}\]|[^:[\]]{1,253})(?::(\d{1,5}))?$/.exec(text);
  if (match === null) return false;
  const [, host = "", port] = match;
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return false;
  return (
    host.startsWith("[") ||
    host.split(".").every((label) => /^[a-zA-Z0-9](?:[a-zA-Z0-9_-]{0,61}[a-zA-Z0-9])?$/.test(label))
  );
}

function canonicalRegistry(host: string): string {
  const lower = host.toLowerCase();
  const withoutDefaultPort = lower.endsWith(":443") ? lower.slice(0, -":443".length) : lower;
  return dockerHubHosts.has(withoutDefaultPort) ? DOCKER_HUB : lower;
}

function isPathComponent(component: string): boolean {
  return /^[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*$/.test(component);
}

function parseTag(text: string, whole: string): string {
  if (/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/.test(text)) return text;
  throw new ImageReferenceError(say("images.tag", { tag: quote(text), image: quote(whole) }));
}

function parseDigest(text: string, whole: string): string {
  if (/^sha256:[0-9a-f]{64}$/.test(text) || /^sha512:[0-9a-f]{128}$/.test(text)) return text;
  throw new ImageReferenceError(say("images.digest", { digest: quote(text), image: quote(whole) }));
}

function badRegistry(host: string, whole: string): ImageReferenceError {
  return new ImageReferenceError(say("images.registry", { registry: quote(host), image: quote(whole) }));
}

function tooLong(text: string, limit: number): ImageReferenceError {
  return new ImageReferenceError(say("images.too_long", { image: quote(text), limit }));
}

function quote(text: string): string {
  const safe = text.replace(/\p{Cc}/gu, "?");
  return safe.length > 100 ? `${safe.slice(0, 99)}…` : safe;
}

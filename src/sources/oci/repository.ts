/** A repository of a registry, and where its API answers. */
export interface Repository {
  /** As image references write it, with its port: `docker.io`, `ghcr.io`, `127.0.0.1:5000`. */
  registry: string;
  /** The path without tag or digest: `library/nginx`. */
  name: string;
  /** Origin of the API: `https://registry-1.docker.io`; `http:` only where a person wrote it out. */
  origin: string;
}

/** What a person typed and cannot be meant, with the field that has it. */
export class RepositoryError extends Error {
  readonly field: "image" | "registry";

  constructor(field: "image" | "registry", message: string) {
    super(message);
    this.name = "RepositoryError";
    this.field = field;
  }
}

export const dockerHub = "docker.io";
const dockerHubApi = "https://registry-1.docker.io";
// All of these are printed by Docker's own tools and pages for the same registry.
const dockerHubNames = new Set(["docker.io", "index.docker.io", "registry-1.docker.io", "registry.hub.docker.com"]);

const hostPattern = /^(?:\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(?::([0-9]{1,5}))?$/;
const componentPattern = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const tagPattern = /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/;
/** Longest repository path that registries take, in characters. */
const maxNameCharacters = 255;

/** True for a tag in the grammar of the distribution specification: at most 128 characters of ASCII. */
export function isTag(text: string): boolean {
  return tagPattern.test(text);
}

interface Address {
  isPlain: boolean;
  host: string;
}

function parseAddress(text: string, field: "image" | "registry"): Address {
  const scheme = /^(https?):\/\//i.exec(text);
  const rest = text.slice(scheme?.[0].length ?? 0).toLowerCase();
  // People paste what `docker login` stores: `https://index.docker.io/v1/`.
  const host = rest.replace(/\/(?:v[12]\/?)?$/, "");
  const port = hostPattern.exec(host)?.[1];
  const isHost = hostPattern.test(host) && (port === undefined || (Number(port) > 0 && Number(port) < 65_536));
  if (!isHost || !URL.canParse(`https://${host}/`)) {
    throw new RepositoryError(
      field,
      `"${text.slice(0, 100)}" is no registry address: write a host such as "ghcr.io" or "http://127.0.0.1:5000", without a path`,
    );
  }
  return { isPlain: scheme?.[1]?.toLowerCase() === "http", host };
}

// `registry/app` would be a user of Docker Hub: only a dot, a port or `localhost` makes the first part a host.
function isHostLike(component: string): boolean {
  return /[.:[]/.test(component) || component.toLowerCase() === "localhost";
}

function canonicalHost({ isPlain, host }: Address): string {
  if (dockerHubNames.has(host)) return dockerHub;
  return isHostLike(host) ? host : `${host}:${isPlain ? 80 : 443}`;
}

function splitImage(image: string): { address: Address | null; path: string } {
  const scheme = /^([a-z]+):\/\//i.exec(image);
  const text = image.slice(scheme?.[0].length ?? 0);
  const withoutDigest = text.split("@")[0] ?? "";
  const lastSlash = withoutDigest.lastIndexOf("/");
  const colon = withoutDigest.indexOf(":", lastSlash + 1);
  const name = colon === -1 ? withoutDigest : withoutDigest.slice(0, colon);
  const firstSlash = name.indexOf("/");
  const first = name.slice(0, Math.max(firstSlash, 0));
  if (first === "" || (scheme === null && !isHostLike(first))) return { address: null, path: name };
  const isHttp = scheme?.[1]?.toLowerCase() === "http";
  return { address: parseAddress(isHttp ? `http://${first}` : first, "image"), path: name.slice(firstSlash + 1) };
}

/**
 * The repository that the two fields of a source mean. The image may be a full reference: its registry is not doubled, its tag
 * and digest are dropped. A blank registry is the image's own, else Docker Hub, where `nginx` is `library/nginx`.
 * @throws RepositoryError with the field and what would be right.
 */
export function parseRepository(image: string, registry: string): Repository {
  const { address: own, path } = splitImage(image);
  const given = registry === "" ? null : parseAddress(registry, "registry");
  const chosen = given ?? own ?? { isPlain: false, host: dockerHub };
  const host = canonicalHost(chosen);
  let name = path;
  if (given !== null && own !== null && canonicalHost({ ...own, isPlain: given.isPlain }) !== host) {
    throw new RepositoryError(
      "image",
      `The image names the registry "${own.host}", the registry address is "${given.host}": leave one of them out`,
    );
  }
  if (host !== dockerHub && own === null && path.startsWith(`${chosen.host}/`))
    name = path.slice(chosen.host.length + 1);
  if (name === "" || name.length > maxNameCharacters || !name.split("/").every((part) => componentPattern.test(part))) {
    throw new RepositoryError(
      "image",
      `"${image.slice(0, 100)}" is no image name: write lower-case letters, digits and . _ - / as in "library/nginx" or "ghcr.io/owner/app"`,
    );
  }
  if (host === dockerHub)
    return { registry: host, name: name.includes("/") ? name : `library/${name}`, origin: dockerHubApi };
  return { registry: host, name, origin: new URL(`${chosen.isPlain ? "http" : "https"}://${host}`).origin };
}

/** Where a person sees this tag, for the registries whose pages have a fixed form; null for the rest. */
export function tagPage({ registry, name }: Repository, tag: string): string | null {
  if (registry === dockerHub) {
    const path = name.startsWith("library/") ? `_/${name.slice("library/".length)}` : `r/${name}`;
    return `https://hub.docker.com/${path}/tags?name=${encodeURIComponent(tag)}`;
  }
  return registry === "quay.io" ? `https://quay.io/repository/${name}?tab=tags&tag=${encodeURIComponent(tag)}` : null;
}

import { say } from "../../messages/message.ts";
import { DOCKER_HUB, ImageReferenceError, parseImageName } from "../../versions/image-reference.ts";
import { AddressError } from "../address-fields.ts";

/** A repository of a registry, and the origin of its API. */
export interface Repository {
  /** As in image references, with its port: `docker.io`, `ghcr.io`, `127.0.0.1:5000`. */
  registry: string;
  /** The path without tag or digest: `library/nginx`. */
  name: string;
  /** Origin of the API: `https://registry-1.docker.io`; `http:` only if it was entered. */
  origin: string;
}

const dockerHubApi = "https://registry-1.docker.io";
const tagPattern = /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/;

/** True for a tag in the grammar of the distribution specification: at most 128 characters of ASCII. */
export function isTag(text: string): boolean {
  return tagPattern.test(text);
}

// `registry/app` would be a user of Docker Hub, also for engines: a one-word host keeps its port.
function withPort(address: string): string {
  const [, scheme = "", host = ""] = /^(https?:\/\/)?([a-z0-9-]+)\/?$/i.exec(address) ?? [];
  if (host === "" || host.toLowerCase() === "localhost") return address;
  return `${scheme}${host}:${scheme.toLowerCase() === "http://" ? 80 : 443}`;
}

function parseField(field: "image" | "registry", image: string, registry: string) {
  try {
    return parseImageName(image, registry);
  } catch (error) {
    if (error instanceof ImageReferenceError) throw new AddressError(field, error.said, error);
    throw error;
  }
}

/**
 * The repository that the two fields of a source mean, as `parseImageName` reads them, and the origin of its API.
 * @throws AddressError with the field and what would be right.
 */
export function parseRepository(image: string, registryAddress: string): Repository {
  const address = withPort(registryAddress.trim());
  // First by itself: after that, only the image can be wrong.
  if (address !== "") parseField("registry", "image", address);
  const { scheme, registry, repository } = parseField("image", image, address);
  if (registry === DOCKER_HUB) return { registry, name: repository, origin: dockerHubApi };
  const url = `${scheme}://${registry}/`;
  if (!URL.canParse(url)) {
    const field = address === "" ? "image" : "registry";
    throw new AddressError(field, say("addresses.no_registry", { registry: registry.slice(0, 100) }));
  }
  return { registry, name: repository, origin: new URL(url).origin };
}

/** The pages of well-known registries: of the tag, or at least of its repository. Names and tags have no characters to encode. */
const tagPages: Readonly<Record<string, (name: string, tag: string) => string | null>> = {
  [DOCKER_HUB]: (name, tag) => {
    const path = name.startsWith("library/") ? `_/${name.slice("library/".length)}` : `r/${name}`;
    return `https://hub.docker.com/${path}/tags?name=${tag}`;
  },
  "quay.io": (name, tag) => `https://quay.io/repository/${name}?tab=tags&tag=${tag}`,
  // The form for users leads on to an organization's package too. A package has slashes in its name.
  "ghcr.io": (name) => {
    const [owner = "", ...rest] = name.split("/");
    return rest.length === 0
      ? null
      : `https://github.com/users/${owner}/packages/container/package/${rest.join("%2F")}`;
  },
  "mcr.microsoft.com": (name) => `https://mcr.microsoft.com/artifact/mar/${name}/tags`,
  "public.ecr.aws": (name) => `https://gallery.ecr.aws/${name}`,
};

/** The web page of a tag; null for registries whose pages have no fixed form. */
export function tagPage({ registry, name }: Repository, tag: string): string | null {
  const pageOf = Object.hasOwn(tagPages, registry) ? tagPages[registry] : undefined;
  return pageOf === undefined || !isTag(tag) ? null : pageOf(name, tag);
}

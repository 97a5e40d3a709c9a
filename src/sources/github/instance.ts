import type { Repository } from "./repository.ts";

/** Where a repository answers. No address ends with a slash. */
export interface Places {
  /** `owner/name` */
  name: string;
  /** The page that people browse, and git's address without its `.git`: `https://github.com/owner/name`. */
  page: string;
  /** `https://api.github.com/repos/owner/name` */
  rest: string;
  graphql: string;
  /** Host of the API: what the rate limit is counted for. */
  host: string;
}

/**
 * The addresses of a repository. github.com and the tenants of data residency (`https://NAME.ghe.com`) have their API on a host of
 * its own; an Enterprise Server has all under one origin.
 */
export function placesOf({ path, instance_url }: Repository): Places {
  const web = new URL(instance_url === "" ? "https://github.com" : instance_url);
  const isHosted = instance_url === "" || web.hostname.endsWith(".ghe.com");
  const api = isHosted ? `${web.protocol}//api.${web.host}` : `${web.origin}/api`;
  return {
    name: path,
    page: `${web.origin}/${path}`,
    rest: `${api}${isHosted ? "" : "/v3"}/repos/${path}`,
    graphql: `${api}/graphql`,
    host: new URL(api).host,
  };
}

/** The `owner/name` that a page of a release belongs to; null where it does not say. */
export function repositoryOfPage(page: string | null | undefined): string | null {
  const [, owner, name] = /^https?:\/\/[^/]+\/([^/]+)\/([^/]+)\/releases\//.exec(page ?? "") ?? [];
  return owner === undefined || name === undefined ? null : `${owner}/${name}`;
}

/** Where a repository is now, when that is another place than was asked. GitHub does not tell upper from lower case. */
export function movedTo(asked: string, answered: string | null): string | null {
  return answered !== null && answered.toLowerCase() !== asked.toLowerCase() ? answered : null;
}

/** The page of a bare tag; `web` is the repository's. */
export function tagPage(web: string, tag: string): string {
  return `${web}/releases/tag/${tag.split("/").map(encodeURIComponent).join("/")}`;
}

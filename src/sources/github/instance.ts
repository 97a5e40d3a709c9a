import { pageAt, tagPath, tagRange } from "../forge/web-pages.ts";
import type { WebPages } from "../source.ts";
import type { Repository } from "./repository.ts";

/** The addresses of a repository, without slashes at the end. */
export interface Places {
  /** `owner/name` */
  name: string;
  /** The web page, and git's address without `.git`: `https://github.com/owner/name`. */
  page: string;
  /** `https://api.github.com/repos/owner/name` */
  rest: string;
  graphql: string;
  /** Host of the API, to which the rate limit applies. */
  host: string;
}

/**
 * github.com and tenants with data residency (`https://NAME.ghe.com`) have their API on its own host; an Enterprise Server has
 * everything under one origin.
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

/** The `owner/name` in the address of a release page; null for other pages. */
export function repositoryOfPage(page: string | null | undefined): string | null {
  const [, owner, name] = /^https?:\/\/[^/]+\/([^/]+)\/([^/]+)\/releases\//.exec(page ?? "") ?? [];
  return owner === undefined || name === undefined ? null : `${owner}/${name}`;
}

/** The new place of a repository; null if it has not moved. GitHub ignores case. */
export function movedTo(asked: string, answered: string | null): string | null {
  return answered !== null && answered.toLowerCase() !== asked.toLowerCase() ? answered : null;
}

/** The page of a release or a bare tag; `web` is the repository's. */
export function tagPage(web: string, tag: string): string | null {
  return pageAt(`${web}/releases/tag`, tagPath(tag));
}

export function webPages({ page }: Pick<Places, "page">): WebPages {
  return {
    version: ({ tag }) => tagPage(page, tag),
    comparison: (from, to) => pageAt(`${page}/compare`, tagRange(from.tag, to.tag)),
  };
}

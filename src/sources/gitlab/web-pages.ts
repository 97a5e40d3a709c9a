import { pageAt, tagPath, tagRange } from "../forge/web-pages.ts";
import type { ListedVersion, WebPages } from "../source.ts";
import { ownPage, projectOfPage } from "./answers.ts";
import { isNumericId, type Project } from "./project.ts";

/** GitLab takes a tag as one segment. */
function asSegment(path: string | null): string | null {
  return path?.replaceAll("/", "%2F") ?? null;
}

/** A project's pages. With only its ID configured, the pages of its releases show its path; its bare tags then have none. */
export function webPages({ instance, id }: Project): WebPages {
  const pathOf = ({ url }: ListedVersion) => (isNumericId(id) ? projectOfPage(ownPage(url, instance), instance) : id);
  return {
    version(version) {
      const path = pathOf(version);
      const list = version.stage === "tag" ? "tags" : "releases";
      return path === null ? null : pageAt(`${instance}/${path}/-/${list}`, asSegment(tagPath(version.tag)));
    },
    comparison(from, to) {
      const path = pathOf(to);
      return path === null ? null : pageAt(`${instance}/${path}/-/compare`, asSegment(tagRange(from.tag, to.tag)));
    },
  };
}

import type { SourceView } from "../../src/trackers/schema.ts";
import type { IconName } from "../components/icons.ts";
import type { PageContext } from "../page.ts";
import { texts } from "../texts/texts.ts";

/** A tracker's page; its name may have any letters. */
export function trackerPath(name: string): string {
  return `/trackers/${encodeURIComponent(name)}`;
}

/** `docker.io/library/nginx`, `github.com/owner/repo` or `http://registry.lan:5000/app`, as people write it. */
export function addressOf(source: Pick<SourceView, "config" | "host">): string {
  const { image, project, repository, chart } = source.config;
  const entered = image ?? project ?? repository ?? chart;
  if (typeof entered !== "string") return source.host;
  const name = entered.replace(/^https?:\/\//i, "");
  const scheme = /^http:\/\//i.test(entered) ? "http://" : "";
  // GitHub counts requests for its API's host, which nobody browses.
  const host = source.host.replace(/^api\.(?=github\.com$|[a-z0-9-]+\.ghe\.com$)/, "");
  return `${scheme}${name.startsWith(`${host}/`) ? name : `${host}/${name}`}`;
}

const sourceIcons: Readonly<Record<string, IconName>> = {
  gitea: "git-branch",
  github: "git-branch",
  gitlab: "git-branch",
  helm: "layers",
  oci: "container",
};

/** A source's kind as an icon and a word; one of a later version has neither. */
export function sourceKindLook(ctx: PageContext, kind: string): { name: IconName; title: string } {
  const titles: Readonly<Record<string, string>> = texts(ctx).trackers.kinds;
  return { name: sourceIcons[kind] ?? "circle-question-mark", title: titles[kind] ?? kind };
}

export function newestOf(instants: readonly (number | null)[]): number | null {
  const known = instants.filter((instant) => instant !== null);
  return known.length === 0 ? null : Math.max(...known);
}

export function soonestOf(instants: readonly (number | null)[]): number | null {
  const known = instants.filter((instant) => instant !== null);
  return known.length === 0 ? null : Math.min(...known);
}

/** The tracker form's id; buttons of its preview submit it too. */
export const trackerFormId = "tracker-form";

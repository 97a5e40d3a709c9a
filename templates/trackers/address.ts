import type { SourceView } from "../../src/trackers/schema.ts";
import type { IconName } from "../components/icons.ts";

/** A tracker's page; its name may have any letters. */
export function trackerPath(name: string): string {
  return `/trackers/${encodeURIComponent(name)}`;
}

/** `docker.io/library/nginx` or `github.com/owner/repo`, as people write it. */
export function addressOf(source: Pick<SourceView, "config" | "host">): string {
  const { image, project, repository, chart } = source.config;
  const name = image ?? project ?? repository ?? chart;
  if (typeof name !== "string") return source.host;
  // GitHub counts requests for its API's host, which nobody browses.
  const host = source.host.replace(/^api\.(?=github\.com$|[a-z0-9-]+\.ghe\.com$)/, "");
  return name.startsWith(`${host}/`) ? name : `${host}/${name}`;
}

export const sourceIcons: Readonly<Record<SourceView["kind"], IconName>> = {
  gitea: "git-branch",
  github: "git-branch",
  gitlab: "git-branch",
  helm: "layers",
  oci: "container",
};

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

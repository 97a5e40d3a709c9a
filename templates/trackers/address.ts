import type { SourceView } from "../../src/trackers/schema.ts";
import type { IconName } from "../components/icons.ts";

/** The page of a tracker; its name may have any letters. */
export function trackerPath(name: string): string {
  return `/trackers/${encodeURIComponent(name)}`;
}

/** `docker.io/library/nginx` or `gitlab.com/group/project`, as people write it. */
export function addressOf(source: Pick<SourceView, "config" | "host">): string {
  const { image, project } = source.config;
  const name = image ?? project;
  if (typeof name !== "string") return source.host;
  return name.startsWith(`${source.host}/`) ? name : `${source.host}/${name}`;
}

export const sourceIcons: Readonly<Record<SourceView["kind"], IconName>> = {
  gitlab: "git-branch",
  oci: "container",
};

/** One name for a version that sources write differently: `v1.2.3` in git is `1.2.3` in a registry. */
export function plainVersion(version: string): string {
  return version.replace(/^v(?=\d)/i, "");
}

export function newestOf(instants: readonly (number | null)[]): number | null {
  const known = instants.filter((instant) => instant !== null);
  return known.length === 0 ? null : Math.max(...known);
}

export function soonestOf(instants: readonly (number | null)[]): number | null {
  const known = instants.filter((instant) => instant !== null);
  return known.length === 0 ? null : Math.min(...known);
}

import { classify } from "../../versions/classify.ts";
import type { ReleaseFactsRow } from "./queries.ts";

export type NamesOfRelease = Pick<ReleaseFactsRow, "version" | "app_version">;

/**
 * Whether charts go by their application's version. They do beside sources of another kind, because those have that version. Alone they go
 * by their own, so that two charts of one application stay apart.
 */
export function usesAppVersions(sources: readonly { kind: string }[]): boolean {
  return sources.some(({ kind }) => kind !== "helm");
}

/** One name for what sources write differently: `v1.2.3` in git, `1.2.3` in a registry, `1.2.3` as a chart's application. */
export function displayVersion(release: NamesOfRelease, byApplication: boolean): string {
  const version = byApplication ? (release.app_version ?? release.version) : release.version;
  const parsed = classify(version);
  if (parsed.shape === null || parsed.name !== "" || parsed.prefix === "") return plainVersion(version);
  return version.slice(parsed.prefix.length);
}

/** A version without the `v` that git tags often have, whatever its format. */
export function plainVersion(version: string): string {
  return /^[vV]\d/.test(version) ? version.slice(1) : version;
}

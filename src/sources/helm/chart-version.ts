import * as v from "valibot";
import { orderTags } from "../../versions/order.ts";
import { readCreated } from "../oci/manifest.ts";
import { changesToMarkdown, type ParseYaml } from "./changes.ts";

/** Longer versions and app versions are invalid. */
const maxVersionCharacters = 256;
const maxUrlCharacters = 2_048;

/** One version of a chart, from an index or a registry. */
export interface ChartVersion {
  version: string;
  app_version: string | null;
  /** `sha256:…` of the chart's archive, or of its manifest in a registry. */
  digest: string | null;
  created_at: number | null;
  url: string | null;
  is_deprecated: boolean;
  notes: string | null;
  /** Where an index says that its archive is: `https://`, `http://` or `oci://`. Not remembered between checks. */
  archive?: string | null;
}

// Every scalar is a text; other forms count as absent.
const Text = v.fallback(v.optional(v.string(), ""), "");
const Entry = v.object({
  version: v.fallback(v.string(), ""),
  appVersion: Text,
  digest: Text,
  created: Text,
  home: Text,
  deprecated: Text,
  urls: v.fallback(v.optional(v.array(v.string()), []), []),
  annotations: v.fallback(v.optional(v.record(v.string(), v.unknown()), {}), {}),
});

/** A text without control characters, or null. */
function present(text: string): string | null {
  const trimmed = text.trim();
  return trimmed === "" || trimmed === "~" || trimmed === "null" ? null : trimmed;
}

/** True for a version that Helm can order: SemVer, also with a leading `v` or with fewer than three numbers. */
export function isChartVersion(text: string): boolean {
  return (
    text.length <= maxVersionCharacters && /^v?\d+(?:\.\d+){0,2}(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/.test(text)
  );
}

/** Tags cannot have a plus, so Helm writes an underscore before build metadata. */
export function tagOf(version: string): string {
  return version.replaceAll("+", "_");
}

/** SemVer's own rule: a version with a dash before its build metadata is a pre-release. */
export function isPrerelease(version: string): boolean {
  return version.split("+", 1)[0]?.includes("-") ?? false;
}

/** `sha256:…` in lower case, with or without the algorithm in the index; null for an invalid digest. */
function readDigest(text: string): string | null {
  const [, algorithm = "sha256", hex] = /^(?:(sha(?:256|512)):)?([0-9a-f]{64}|[0-9a-f]{128})$/i.exec(text.trim()) ?? [];
  return hex === undefined ? null : `${algorithm.toLowerCase()}:${hex.toLowerCase()}`;
}

/** The app version as bounded text; null if absent. */
export function readAppVersion(text: string): string | null {
  const version = present(text);
  return version === null || version.length > maxVersionCharacters || /\p{Cc}/u.test(version) ? null : version;
}

function isTrue(text: string): boolean {
  return /^(?:true|yes|on|y)$/i.test(text.trim());
}

/** An address that is safe as a link: http or https without a user name; relative ones are resolved. */
function linkOf(address: string, base: URL): string | null {
  const text = present(address);
  if (text === null || text.length > maxUrlCharacters || !URL.canParse(text, base)) return null;
  const url = new URL(text, base);
  const isLink = (url.protocol === "https:" || url.protocol === "http:") && url.username === "" && url.password === "";
  return isLink ? url.href : null;
}

/**
 * The address of an archive. As in Helm, one that is relative to the index takes over the query of the repository's address, which may
 * be a signature; one on another origin does not.
 */
function archiveOf(address: string, base: URL): string | null {
  if (/^oci(\+http)?:\/\//i.test(address.trim())) return address.trim();
  const link = linkOf(address, base);
  if (link === null || URL.canParse(address)) return link;
  const url = new URL(link);
  if (url.origin === base.origin) url.search = base.search;
  return url.href;
}

/** The web page of a version: the chart's home, or its archive. */
export function pageOf(home: string, urls: readonly string[], base: URL): string | null {
  // A home must be absolute.
  const page = /^https?:\/\//i.test(home.trim()) ? linkOf(home, base) : null;
  return page ?? urls.map((url) => linkOf(url, base)).find((url) => url !== null) ?? null;
}

/** A chart's home as its maker gave it; null where only the archive was known, which is a download. */
export function homeOf(url: string | null): string | null {
  const home = url === null || !URL.canParse(url) ? null : linkOf(url, new URL(url));
  return home === null || /\.(?:tgz|tar\.gz)$/i.test(new URL(home).pathname) ? null : home;
}

/** One entry of an index; its text if the version is invalid. */
export function readEntry(value: unknown, base: URL, parse: ParseYaml): ChartVersion | string {
  const parsed = v.safeParse(Entry, value);
  if (!parsed.success) return "";
  const entry = parsed.output;
  const version = entry.version.trim();
  if (!isChartVersion(version)) return version;
  return {
    version,
    app_version: readAppVersion(entry.appVersion),
    digest: readDigest(entry.digest),
    created_at: readCreated(entry.created),
    url: pageOf(entry.home, entry.urls, base),
    is_deprecated: isTrue(entry.deprecated),
    notes: changesToMarkdown(entry.annotations["artifacthub.io/changes"], parse),
    archive: entry.urls.map((url) => archiveOf(url, base)).find((url) => url !== null) ?? null,
  };
}

/** One entry for each version, from the highest version to the lowest. */
export function highestFirst(versions: readonly ChartVersion[]): readonly ChartVersion[] {
  const byVersion = new Map(versions.map((each) => [each.version, each]));
  return orderTags([...byVersion.keys()]).flatMap((version) => byVersion.get(version) ?? []);
}

import { PluginError } from "../../errors.ts";
import type { ListedVersion, WebPages } from "../../sources/source.ts";
import type { SourceRegistry } from "../schema.ts";
import type { SourceRow } from "../source-queries.ts";
import { addressOf, pluginOf } from "./source-session.ts";

type ConfiguredSource = Pick<SourceRow, "id" | "kind" | "config" | "credential_id" | "moved_to">;
type ListedRow = ListedVersion & { source_id: string };

/** Addresses for people; null where there is no page. */
export interface ReleasePages {
  of(release: ListedRow): string | null;
  /** The changes from one release to another of the same source. */
  comparison(from: ListedRow, to: ListedRow): string | null;
}

const maxCharacters = 2_048;

/** Whatever a plug-in returns, only http and https, without a user name, spelled as a browser would. */
function safeAddress(address: string | null | undefined): string | null {
  if (address === null || address === undefined || address.length > maxCharacters || !URL.canParse(address))
    return null;
  const { protocol, username, password, href } = new URL(address);
  const isWeb = protocol === "https:" || protocol === "http:";
  return isWeb && username === "" && password === "" ? href : null;
}

function openPages(registry: SourceRegistry, source: ConfiguredSource): WebPages | null {
  const { kind, config } = addressOf(registry, source);
  try {
    return pluginOf(registry, kind).pages(config);
  } catch (error) {
    // A stored configuration that is no longer valid; its checks report that.
    if (error instanceof PluginError) return null;
    throw error;
  }
}

/** The pages of these sources' releases, at each repository's present location. Sends no request. */
export function releasePages(registry: SourceRegistry, sources: readonly ConfiguredSource[]): ReleasePages {
  const opened = new Map(sources.map((source) => [source.id, openPages(registry, source)]));
  return {
    of: (release) => safeAddress(opened.get(release.source_id)?.version(release)),
    comparison: (from, to) =>
      from.source_id === to.source_id ? safeAddress(opened.get(from.source_id)?.comparison?.(from, to)) : null,
  };
}

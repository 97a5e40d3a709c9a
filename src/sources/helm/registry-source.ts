import { PluginError } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import { defaultMaxBytes } from "../../net/http.ts";
import type { PluginContext } from "../../plugin.ts";
import { failure } from "../failure.ts";
import type { AccessCache } from "../oci/access-cache.ts";
import { lookUpEach, nextInTurn } from "../oci/lookups.ts";
import { manifestReader } from "../oci/manifest.ts";
import { registrySession } from "../oci/registry-session.ts";
import { listTags } from "../oci/tag-list.ts";
import type { Listing, ListRequest, OpenSource, UpstreamRelease } from "../source.ts";
import type { ChartAddress } from "./chart-address.ts";
import { chartReader, readRegistryChart } from "./chart-manifest.ts";
import { type ChartVersion, highestFirst, isChartVersion, tagOf } from "./chart-version.ts";
import { chooseVersions, toRelease } from "./choose-versions.ts";
import { boundMemo, formatMemo, goneAfter, type Memo, parseMemo, seenBefore } from "./memo.ts";
import { loadYaml } from "./parse-yaml.ts";
import { type HelmSecret, readBasicAuth } from "./schema.ts";

type RegistryAddress = Extract<ChartAddress, { form: "registry" }>;

/** Helm only uses tags with all three numbers; shorter ones move. */
function isFullVersion(text: string): boolean {
  return isChartVersion(text) && /^v?\d+\.\d+\.\d+/.test(text);
}

/** Only an index may be large, not the responses of a registry. */
function narrowed(context: PluginContext): PluginContext {
  const cut = (response: Response, host: string): Response => {
    if (response.body === null) return response;
    let length = 0;
    const counted = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        length += chunk.byteLength;
        if (length > defaultMaxBytes) {
          throw new PluginError("malformed", say("net.answer_too_large", { host, bytes: defaultMaxBytes }));
        }
        controller.enqueue(chunk);
      },
    });
    const { status, headers } = response;
    return new Response(response.body.pipeThrough(counted), { status, headers });
  };
  return { ...context, fetch: async (url, init) => cut(await context.fetch(url, init), url.host) };
}

/** The version with missing facts that this check looks up again. */
function versionToRepair(memo: Memo | null, chosen: readonly string[], known: ListRequest["known"]): string | null {
  if (memo === null) return null;
  const facts = new Set(memo.versions.map((each) => each.version));
  const missing = chosen.filter((version) => known.has(version) && !facts.has(version));
  return nextInTurn(missing, memo.repaired);
}

/**
 * A chart in a registry, whose tags are its versions. A new version costs its manifest and its config, a watched one a `HEAD`, a known one
 * nothing. A failed lookup keeps the version with what is known of it.
 */
export function registrySource(
  { repository, chart }: RegistryAddress,
  secret: HelmSecret | null,
  outer: PluginContext,
  cache: AccessCache,
): OpenSource {
  const context = narrowed(outer);
  const of = `${repository.origin}/${repository.name}`;
  const session = registrySession(repository, secret === null ? null : readBasicAuth(secret), context, cache);
  const digests = manifestReader(repository, session);

  const listVersions = async (): Promise<readonly string[]> => {
    const tags = await listTags(repository, session);
    const versions = tags.map((tag) => tag.replaceAll("_", "+")).filter(isFullVersion);
    if (versions.length > 0 || tags.length === 0) return versions;
    const name = `${repository.registry}/${repository.name}`;
    const reason = say("charts.tags_are_no_versions", { count: tags.length, name, example: tags[0] ?? "" });
    throw failure("not_found", say("sources.find_chart", { name: chart }), reason);
  };

  /** Looks up what is missing and adds it to `facts`; null for a tag that is not a chart. */
  const lookUp = async (facts: Map<string, ChartVersion | null>, asked: readonly string[], request: ListRequest) => {
    const read = chartReader({ repository, session, parse: await loadYaml() });
    const look = async (version: string) => {
      const known = facts.get(version) ?? null;
      const digest = known === null ? null : await digests.findDigest(tagOf(version));
      if (known === null || digest !== known.digest) facts.set(version, await read(version, tagOf(version)));
    };
    // On a first check the reason of a refusal is worth more than a list of bare names.
    const isFatal = ({ code }: PluginError) => request.known.size === 0 && code === "unauthorized";
    await lookUpEach(asked, context.signal, look, isFatal);
  };

  const listReleases = async (request: ListRequest): Promise<Listing> => {
    const memo = parseMemo(request.memo, of);
    const others = new Set(memo?.others);
    const listed = await listVersions();
    const versions = listed.filter((version) => !others.has(version));
    const facts = new Map<string, ChartVersion | null>(memo?.versions.map((each) => [each.version, each]));
    const seen = seenBefore(memo);
    const appeared = seen === null ? null : new Set(versions.filter((version) => !seen.has(version)));
    const createdAt = (version: string) => facts.get(version)?.created_at ?? null;
    const chosen = await chooseVersions({ versions, createdAt, appeared: appeared ?? new Set() }, request);
    const repaired = versionToRepair(memo, chosen, request.known);
    const watched = new Set(request.watch);
    const asked = chosen.filter((version) => {
      if (watched.has(version) || version === repaired) return true;
      return !facts.has(version) && (memo === null || !request.known.has(version));
    });
    if (asked.length > 0) await lookUp(facts, asked, request);

    const releases = chosen
      .filter((version) => facts.get(version) !== null)
      .map((version): UpstreamRelease => {
        const known = request.known.get(version);
        const bare: ChartVersion = {
          version,
          app_version: null,
          digest: known?.revision ?? null,
          created_at: known?.published_at ?? null,
          url: null,
          is_deprecated: false,
          notes: null,
        };
        return toRelease(facts.get(version) ?? bare, request, appeared);
      });
    const present = new Set(listed);
    const kept = highestFirst(
      [...facts.values()].flatMap((each) => (each !== null && present.has(each.version) ? [each] : [])),
    );
    for (const [version, each] of facts) if (each === null) others.add(version);
    const charts = versions.filter((version) => !others.has(version));
    const named = new Set(kept.map((each) => each.version));
    const next = boundMemo({
      of,
      etag: null,
      last_modified: null,
      total: charts.length,
      versions: kept,
      names: charts.filter((version) => !named.has(version)),
      others: listed.filter((version) => others.has(version)),
      gone: goneAfter(memo, present),
      repaired: repaired ?? memo?.repaired ?? "",
    });
    return { releases, total: charts.length, memo: formatMemo(next) };
  };

  // By the digest of the manifest, so that a tag that was moved since brings nothing else.
  const readChart = async (version: string, digest: string | null): Promise<Uint8Array> => {
    // An archive may be larger than every other response.
    const wide = registrySession(repository, secret === null ? null : readBasicAuth(secret), outer, cache);
    const reference = digest ?? tagOf(version);
    return await readRegistryChart({ repository, session: wide }, { reference, digest: null });
  };
  return { chartName: chart, listReleases, listNames: listVersions, readChart };
}

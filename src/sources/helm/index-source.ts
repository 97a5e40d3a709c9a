import type { PluginError } from "../../errors.ts";
import { type Message, say } from "../../messages/message.ts";
import type { PluginContext } from "../../plugin.ts";
import { codeOfStatus, explainAccess, explained, failure, oneLine } from "../failure.ts";
import type { AccessCache } from "../oci/access-cache.ts";
import { basicHeader } from "../oci/token.ts";
import type { Listing, ListRequest, OpenSource } from "../source.ts";
import { upstreamWords } from "../words.ts";
import type { ChartAddress } from "./chart-address.ts";
import { type ChartVersion, highestFirst } from "./chart-version.ts";
import { chooseVersions, toRelease } from "./choose-versions.ts";
import { readIndexedChart, startOf } from "./index-archive.ts";
import { boundMemo, formatMemo, goneAfter, type Memo, parseMemo, seenBefore } from "./memo.ts";
import { readIndex } from "./read-index.ts";
import { type HelmSecret, readBasicAuth } from "./schema.ts";

type IndexAddress = Extract<ChartAddress, { form: "index" }>;

/** Longer validators are not stored. */
const maxValidatorCharacters = 512;

/** For conditional requests. */
type Validators = Pick<Memo, "etag" | "last_modified">;

function validator(response: Response, name: "etag" | "last-modified"): string | null {
  const value = response.headers.get(name);
  return value !== null && value.length <= maxValidatorCharacters ? value : null;
}

/** The error for a response that is neither an index nor "not modified". */
async function refusal(response: Response, action: Message, hasSecret: boolean): Promise<PluginError> {
  const { status } = response;
  const said = upstreamWords(await startOf(response));
  const explain = explainAccess({
    has_credential: hasSecret,
    hidden: say("sources.chart_repository_hidden"),
    unreadable: say("sources.chart_repository_unreadable"),
    hiding: { anonymous: [401, 403, 404], signed_in: [403, 404] },
  });
  return failure(codeOfStatus(status), action, explained(say("sources.answered", { status, said }), explain(status)));
}

/** The memory after an index was read. */
function remember(of: string, response: Response, memo: Memo | null, versions: readonly ChartVersion[]): Memo {
  return boundMemo({
    of,
    etag: validator(response, "etag"),
    last_modified: validator(response, "last-modified"),
    total: versions.length,
    versions: highestFirst(versions),
    names: [],
    others: [],
    gone: goneAfter(memo, new Set(versions.map(({ version }) => version))),
    repaired: "",
  });
}

/** What a check returns, only from its memory: an unchanged index gives the same result. */
async function listingOf(memo: Memo, appeared: ReadonlySet<string> | null, request: ListRequest): Promise<Listing> {
  const byVersion = new Map(memo.versions.map((each) => [each.version, each]));
  const createdAt = (version: string) => byVersion.get(version)?.created_at ?? null;
  const versions = [...byVersion.keys()];
  const chosen = await chooseVersions({ versions, createdAt, appeared: appeared ?? new Set() }, request);
  // A replaced archive is visible at no cost: the index has every digest.
  const replaced = memo.versions.filter(({ version, digest }) => {
    const known = request.known.get(version)?.revision ?? null;
    return known !== null && digest !== null && known !== digest;
  });
  const returned = new Set([...chosen, ...replaced.map((each) => each.version)]);
  const releases = [...returned]
    .map((version) => byVersion.get(version))
    .filter((each) => each !== undefined)
    .map((each) => toRelease(each, request, appeared));
  return { releases, total: memo.total, memo: formatMemo(memo) };
}

/**
 * A chart in a repository with an index. The index is requested with the validators in the source's own memory, because tens of
 * megabytes are not stored; the credential is sent only to the repository's origin.
 */
export function indexSource(
  address: IndexAddress,
  secret: HelmSecret | null,
  context: PluginContext,
  cache: AccessCache,
): OpenSource {
  const { chart, base, index } = address;
  const of = `${index.href} ${chart}`;
  // The query may be a signature, so it is not shown.
  const action = say("sources.read_chart_repository", { url: oneLine(`${base.origin}${base.pathname}`, 200) });

  const authorization = secret === null ? null : basicHeader(readBasicAuth(secret));
  const send = async (validators: Validators): Promise<Response> => {
    const headers = new Headers({ accept: "application/yaml, application/x-yaml, text/yaml, */*;q=0.5" });
    if (validators.etag !== null) headers.set("if-none-match", validators.etag);
    if (validators.last_modified !== null) headers.set("if-modified-since", validators.last_modified);
    if (authorization !== null) headers.set("authorization", authorization);
    return await context.fetch(index, { headers, cache: "no-store" });
  };
  const read = async (response: Response): Promise<readonly ChartVersion[]> => {
    if (response.status !== 200) throw await refusal(response, action, secret !== null);
    if (response.body === null) throw failure("malformed", action, say("sources.answer_empty"));
    return await readIndex(response.body, { chart, base, action, signal: context.signal });
  };
  return {
    chartName: chart,
    async listReleases(request) {
      const memo = parseMemo(request.memo, of);
      const response = await send(memo ?? { etag: null, last_modified: null });
      if (response.status === 304 && memo !== null) return await listingOf(memo, new Set(), request);
      const versions = await read(response);
      const seen = seenBefore(memo);
      const names = versions.map((each) => each.version);
      const appeared = seen === null ? null : new Set(names.filter((version) => !seen.has(version)));
      return await listingOf(remember(of, response, memo, versions), appeared, request);
    },
    async listNames() {
      const versions = await read(await send({ etag: null, last_modified: null }));
      return versions.map((each) => each.version);
    },
    async readChart(version, digest) {
      const versions = await read(await send({ etag: null, last_modified: null }));
      const found = versions.find((each) => each.version === version);
      const parts = { chart, origin: index.origin, authorization, context, cache };
      return await readIndexedChart(parts, found, { version, digest });
    },
  };
}

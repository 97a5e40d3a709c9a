import { createHash } from "node:crypto";
import * as v from "valibot";
import { issue, type Message, say } from "../../messages/message.ts";
import { failure } from "../failure.ts";
import { readJson, refusal } from "../oci/answer.ts";
import { isDigest, manifestTypes, readCreated } from "../oci/manifest.ts";
import type { RegistrySession } from "../oci/registry-session.ts";
import type { Repository } from "../oci/repository.ts";
import { readArchive, verifyDigest } from "./archive.ts";
import { changesToMarkdown, type ParseYaml } from "./changes.ts";
import { type ChartVersion, pageOf, readAppVersion } from "./chart-version.ts";

/** The config of a chart; an image or another artifact has another type. */
const chartConfigType = "application/vnd.cncf.helm.config.v1+json";

const Digest = v.pipe(v.string(), v.regex(/^sha256:[0-9a-f]{64}$/, issue("sources.no_sha_digest")));
const Manifest = v.object({
  config: v.optional(v.object({ mediaType: v.optional(v.string(), ""), digest: Digest })),
  annotations: v.optional(v.nullable(v.record(v.string(), v.unknown()))),
});
// Chart.yaml as JSON; some tools write numbers instead of texts.
const Text = v.fallback(v.optional(v.union([v.string(), v.pipe(v.number(), v.transform(String))]), ""), "");
const ChartConfig = v.object({
  appVersion: Text,
  home: Text,
  deprecated: v.fallback(v.optional(v.boolean(), false), false),
  annotations: v.fallback(v.optional(v.record(v.string(), v.unknown()), {}), {}),
});

const Layers = v.object({ layers: v.array(v.object({ mediaType: v.optional(v.string(), ""), digest: Digest })) });
/** The layer of a chart's archive; signatures are others. */
const chartLayerType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";

interface SoughtArchive {
  /** Of the chart's manifest. */
  reference: string;
  /** Of the archive, if an index has it; null: only the manifest counts. */
  digest: string | null;
}

/**
 * Reads the archive of a chart by tag or by the digest of its manifest, with two requests. Throws `not_found` for what is not a chart,
 * and `malformed` for content with another digest.
 */
export async function readRegistryChart(
  { repository, session }: Pick<ChartReaderParts, "repository" | "session">,
  { reference, digest }: SoughtArchive,
): Promise<Uint8Array> {
  const base = `${repository.origin}/v2/${repository.name}`;
  const byDigest = isDigest(reference);
  const name = `${repository.registry}/${repository.name}${byDigest ? "@" : ":"}${reference}`;
  const action = say("sources.download_chart", { name });
  const get = async (path: string, accept: string) =>
    await session.send({ method: "GET", url: new URL(`${base}${path}`), accept, action, cache: "no-store" });
  const top = await get(`/manifests/${reference}`, manifestTypes);
  const bytes = new Uint8Array(await top.arrayBuffer());
  const body = new TextDecoder().decode(bytes);
  if (!top.ok) throw refusal(top, body, action, session.explain);
  verifyDigest(bytes, byDigest ? reference : null, action);
  const layer = readJson(Layers, top, body, action).layers.find(({ mediaType }) => mediaType === chartLayerType);
  if (layer === undefined) throw failure("not_found", action, say("charts.no_chart_layer"));
  const blob = await get(`/blobs/${layer.digest}`, "*/*");
  if (!blob.ok) throw refusal(blob, await blob.text(), action, session.explain);
  const archive = await readArchive(blob, layer.digest, action);
  verifyDigest(archive, digest, action);
  return archive;
}

interface ChartReaderParts {
  repository: Repository;
  session: RegistrySession;
  parse: ParseYaml;
}

/** Reads manifest and config of one tag, with two requests; null if it is not a chart. */
export function chartReader({ repository, session, parse }: ChartReaderParts) {
  const base = `${repository.origin}/v2/${repository.name}`;

  const get = async (path: string, accept: string, action: Message, expected: string | null) => {
    // Each document is requested only once, so storing it for conditional requests is of no use.
    const response = await session.send({
      method: "GET",
      url: new URL(`${base}${path}`),
      accept,
      action,
      cache: "no-store",
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    const body = new TextDecoder().decode(bytes);
    if (!response.ok) throw refusal(response, body, action, session.explain);
    const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
    if (expected !== null && digest !== expected) {
      throw failure("malformed", action, say("sources.digest_mismatch", { digest, wanted: expected }));
    }
    return { response, body, digest };
  };

  return async (version: string, tag: string): Promise<ChartVersion | null> => {
    const name = `${repository.registry}/${repository.name}:${tag}`;
    const reading = say("sources.read_manifest", { name });
    const top = await get(`/manifests/${tag}`, manifestTypes, reading, null);
    const manifest = readJson(Manifest, top.response, top.body, reading);
    if (manifest.config?.mediaType !== chartConfigType) return null;
    const action = say("sources.read_chart", { name });
    const blob = await get(`/blobs/${manifest.config.digest}`, "*/*", action, manifest.config.digest);
    const chart = readJson(ChartConfig, blob.response, blob.body, action);
    const created = manifest.annotations?.["org.opencontainers.image.created"];
    return {
      version,
      app_version: readAppVersion(chart.appVersion),
      digest: top.digest,
      created_at: typeof created === "string" ? readCreated(created) : null,
      url: pageOf(chart.home, [], new URL(repository.origin)),
      is_deprecated: chart.deprecated,
      notes: changesToMarkdown(chart.annotations["artifacthub.io/changes"], parse),
    };
  };
}

import * as v from "valibot";
import { PluginError } from "../../errors.ts";
import { indexMaxBytes } from "../../net/http.ts";
import type { PluginContext } from "../../plugin.ts";
import { type AccessCache, accessCache } from "../oci/access-cache.ts";
import type { OpenSource, Source } from "../source.ts";
import { type ChartAddress, parseChartAddress } from "./chart-address.ts";
import { indexSource } from "./index-source.ts";
import { registrySource } from "./registry-source.ts";
import { HelmConfig, HelmSecret } from "./schema.ts";

function parseConfig(input: unknown): ChartAddress {
  const parsed = v.safeParse(HelmConfig, input);
  if (parsed.success) return parseChartAddress(parsed.output.chart, parsed.output.repository_url);
  const issue = parsed.issues[0];
  throw new PluginError(
    "rejected",
    `The source has an error in "${v.getDotPath(issue) ?? "itself"}": ${issue.message}`,
  );
}

function openHelm(config: unknown, secret: unknown, context: PluginContext, cache: AccessCache): OpenSource {
  const address = parseConfig(config);
  // Never the issue's own text: it would quote the secret.
  if (secret !== null && !v.is(HelmSecret, secret)) {
    throw new PluginError("rejected", 'The credential has no "basic_auth" of the form "username:password"');
  }
  return address.form === "index"
    ? indexSource(address, secret, context)
    : registrySource(address, secret, context, cache);
}

/**
 * Charts of repositories with an `index.yaml`, and of registries. A release's version is the chart's; the version of the
 * application in it stands beside it, so that two charts of one application stay apart.
 */
export function helmSource(cache: AccessCache = accessCache()): Source<"helm"> {
  return {
    kind: "helm",
    title: "Helm chart repository",
    Config: HelmConfig,
    open: (config, secret, context) => openHelm(config, secret, context, cache),
    host: (config) => {
      const address = parseConfig(config);
      return address.form === "index" ? address.index.host : new URL(address.repository.origin).host;
    },
    // The index, conditionally; in a registry the list of tags and the digest of each channel's current one.
    cost: (config, { channel_count }) => ({
      requests: parseConfig(config).form === "index" ? 1 : 1 + channel_count,
      quota: 0,
      hourly_limit: null,
    }),
    max_bytes: indexMaxBytes,
  };
}

export const helm = helmSource();

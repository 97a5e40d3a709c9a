import { say } from "../../messages/message.ts";
import { indexMaxBytes } from "../../net/http.ts";
import type { PluginContext } from "../../plugin.ts";
import { parseConfig, parseSecret } from "../failure.ts";
import { type AccessCache, accessCache } from "../oci/access-cache.ts";
import type { OpenSource, Source } from "../source.ts";
import { type ChartAddress, parseChartAddress } from "./chart-address.ts";
import { homeOf } from "./chart-version.ts";
import { indexSource } from "./index-source.ts";
import { registrySource } from "./registry-source.ts";
import { HelmConfig, HelmSecret } from "./schema.ts";

function addressOf(input: unknown): ChartAddress {
  const { chart, repository_url } = parseConfig(HelmConfig, input);
  return parseChartAddress(chart, repository_url);
}

function openHelm(config: unknown, secret: unknown, context: PluginContext, cache: AccessCache): OpenSource {
  const address = addressOf(config);
  const credential = parseSecret(HelmSecret, secret, say("sources.credential_without_basic_auth"));
  return address.form === "index"
    ? indexSource(address, credential, context, cache)
    : registrySource(address, credential, context, cache);
}

/**
 * Charts in repositories with an `index.yaml`, and in registries. The version of a release is the chart's; its app version is stored
 * beside it, so that two charts of one app version stay apart.
 */
export function helmSource(cache: AccessCache = accessCache()): Source<"helm"> {
  return {
    kind: "helm",
    title: "Helm chart repository",
    Config: HelmConfig,
    open: (config, secret, context) => openHelm(config, secret, context, cache),
    host: (config) => {
      const address = addressOf(config);
      return address.form === "index" ? address.index.host : new URL(address.repository.origin).host;
    },
    // The chart's publisher names its home, on any host.
    pages: () => ({ version: ({ url }) => homeOf(url) }),
    // The index, conditionally; in a registry, the list of tags and the digest of each channel's current one.
    cost: (config, { channel_count }) => ({
      requests: addressOf(config).form === "index" ? 1 : 1 + channel_count,
      quota: 0,
      hourly_limit: null,
    }),
    max_bytes: indexMaxBytes,
  };
}

export const helm = helmSource();

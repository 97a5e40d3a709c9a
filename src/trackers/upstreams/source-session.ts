import * as v from "valibot";
import type { Clock } from "../../clock.ts";
import type { CredentialService } from "../../credentials/service.ts";
import { PluginError } from "../../errors.ts";
import { say } from "../../messages/message.ts";
import type { PluginContext } from "../../plugin.ts";
import { type OpenSource, type Source, sourceKinds } from "../../sources/source.ts";
import type { SourceRegistry } from "../schema.ts";
import type { SourceRow } from "../source-queries.ts";

/** A plug-in's context that counts what it sends. */
export interface CountedContext extends PluginContext {
  stats(): { requests: number; bytes: number };
}

/**
 * Opens the connection to upstreams: bounded, conditional, paced by the rate ledger. Injected, because features never reach the network.
 */
export type OpenContext = (options: {
  /** For each request. */
  timeout_ms: number;
  credential_id: string | null;
  /** Largest body in bytes. */
  max_bytes?: number;
  signal: AbortSignal;
}) => CountedContext;

export interface SourceOpener {
  registry: SourceRegistry;
  clock: Clock;
  credentials: Pick<CredentialService, "openSecret">;
  openContext: OpenContext;
}

/** What is needed to open a source. */
export type SourceAddress = Pick<SourceRow, "kind" | "config" | "credential_id">;

/** The plug-in of a stored kind. For one that this version does not have: it is listed and can be deleted, and each check says so. */
export function pluginOf(registry: SourceRegistry, kind: string): Omit<Source, "kind"> {
  const known = sourceKinds.find((name) => name === kind);
  return known === undefined ? unknownSource(kind) : registry[known];
}

function unknownSource(kind: string): Omit<Source, "kind"> {
  return {
    title: kind,
    Config: v.record(v.string(), v.unknown()),
    open: () => {
      throw new PluginError("rejected", say("sources.kind_unknown", { kind }));
    },
    host: () => "",
    identity: (config) => JSON.stringify(config),
    cost: () => ({ requests: 0, quota: 0, hourly_limit: null }),
    pages: () => null,
  };
}

/** Where to reach a stored source: its repository's new location, or else the configured one. */
export function addressOf(
  registry: SourceRegistry,
  row: Pick<SourceRow, "kind" | "config" | "credential_id" | "moved_to">,
): SourceAddress {
  const { kind } = row;
  const config = row.config ?? {};
  const field = pluginOf(registry, kind).place_field;
  const isMoved = row.moved_to !== null && field !== undefined;
  return { kind, config: isMoved ? { ...config, [field]: row.moved_to } : config, credential_id: row.credential_id };
}

export interface SourceSession {
  source: OpenSource;
  stats(): { requests: number; bytes: number };
}

/** Opens a source with its decrypted credential, or with a secret from another credential kind. Sends nothing yet. */
export async function openSource(
  opener: SourceOpener,
  address: SourceAddress,
  { secret, ...options }: { timeout_ms: number; signal: AbortSignal; secret?: unknown },
): Promise<SourceSession> {
  const plugin = pluginOf(opener.registry, address.kind);
  const opened = secret ?? (await opener.credentials.openSecret(address.kind, address.credential_id));
  const { max_bytes } = plugin;
  const limits = max_bytes === undefined ? options : { ...options, max_bytes };
  const context = opener.openContext({ ...limits, credential_id: address.credential_id });
  return {
    source: plugin.open(address.config, opened, context),
    stats: () => context.stats(),
  };
}

/** What is known about a source without any request. */
function openOffline(
  opener: Pick<SourceOpener, "registry" | "clock">,
  address: Omit<SourceAddress, "credential_id">,
): OpenSource {
  const context: PluginContext = {
    fetch: () => Promise.reject(new PluginError("rejected", say("sources.described_only"))),
    signal: new AbortController().signal,
    clock: opener.clock,
  };
  return pluginOf(opener.registry, address.kind).open(address.config, null, context);
}

/** The image reference without a tag; null for a kind that has none. */
export function imageNameOf(
  opener: Pick<SourceOpener, "registry" | "clock">,
  address: Omit<SourceAddress, "credential_id">,
): string | null {
  return openOffline(opener, address).imageName ?? null;
}

/** The chart; null for a kind that has none. */
export function chartNameOf(
  opener: Pick<SourceOpener, "registry" | "clock">,
  address: Omit<SourceAddress, "credential_id">,
): string | null {
  return openOffline(opener, address).chartName ?? null;
}

/** Identifies the upstream of a configuration, so that what is known about one source can be used for another. */
export function identityOf(
  opener: Pick<SourceOpener, "registry" | "clock">,
  address: Omit<SourceAddress, "credential_id">,
): string {
  const plugin = pluginOf(opener.registry, address.kind);
  const name = plugin.identity?.(address.config) ?? imageNameOf(opener, address) ?? address.config;
  return JSON.stringify([address.kind, plugin.host(address.config), name]);
}

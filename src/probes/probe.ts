import * as v from "valibot";
import { issue } from "../messages/message.ts";
import { isBareHost } from "../net/destination.ts";
import type { ConfigSchema, Destination, PluginContext } from "../plugin.ts";
import type { Readiness } from "../runtimes/session.ts";

const probeKinds = ["native", "http", "tcp"] as const;
export type ProbeKind = (typeof probeKinds)[number];

export const ProbeHost = v.pipe(v.string(), v.check(isBareHost, issue("probes.host_alone")));
export const ProbePort = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535));

export interface ProbeContext extends PluginContext {
  /** The runtime's own judgement of the target, for native readiness. */
  readiness(): Promise<Readiness>;
  /** One guarded TCP connection, closed at once; throws `rejected` for a blocked destination and `unreachable` for the rest. */
  connect(host: string, port: number, signal: AbortSignal): Promise<void>;
}

/** One attempt; the caller owns delay, interval, attempts' deadline and total duration (`verify.ts`). Never throws for "not ready". */
export interface OpenProbe {
  /** `signal` ends this attempt. */
  attempt(signal: AbortSignal): Promise<Readiness>;
}

export interface Probe<K extends ProbeKind = ProbeKind> {
  kind: K;
  title: string;
  Config: ConfigSchema;
  open(config: unknown, context: ProbeContext): OpenProbe;
  /** The destination, checked by the guard when the configuration is saved. */
  destination?(config: unknown): Destination;
}

import type { ConfigSchema, PluginContext } from "../plugin.ts";
import type { Readiness } from "../runtimes/runtime.ts";

export const probeKinds = ["native", "http", "tcp"] as const;
export type ProbeKind = (typeof probeKinds)[number];

export interface ProbeContext extends PluginContext {
  /** The runtime's own judgement of the target, for native readiness. */
  readiness(): Promise<Readiness>;
}

/** One attempt; the caller owns delay, interval, attempts' deadline and total duration (`verify.ts`). Never throws for "not ready". */
export interface OpenProbe {
  attempt(): Promise<Readiness>;
}

export interface Probe<K extends ProbeKind = ProbeKind> {
  kind: K;
  title: string;
  Config: ConfigSchema;
  open(config: unknown, context: ProbeContext): OpenProbe;
}

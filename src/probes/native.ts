import * as v from "valibot";
import type { Probe } from "./probe.ts";

/** The runtime's own judgement: an engine's health check, or running through the stability period. */
export const native: Probe<"native"> = {
  kind: "native",
  title: "Engine readiness",
  Config: v.strictObject({}),
  open: (_config, context) => ({ attempt: () => context.readiness() }),
};

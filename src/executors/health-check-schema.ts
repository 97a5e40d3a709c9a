import * as v from "valibot";
import { probes } from "../probes/index.ts";
import { defaultProbeTiming } from "../probes/verify.ts";

const seconds = (title: string, description: string, least: number, most: number, fallback: number) =>
  v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(least),
      v.maxValue(most),
      v.title(title),
      v.description(description),
      v.metadata({ advanced: true }),
    ),
    fallback,
  );

const judged = {
  on_failure: v.optional(
    v.pipe(
      v.picklist(["failed", "degraded"]),
      v.title("On failure"),
      v.description("Degraded keeps the new version running"),
      v.metadata({ option_titles: { failed: "Mark as failed", degraded: "Mark as degraded" } }),
    ),
    "failed",
  ),
  initial_delay_seconds: seconds(
    "Initial delay (s)",
    "From the end of the update to the first probe",
    0,
    3600,
    defaultProbeTiming.initial_delay_seconds,
  ),
  single_timeout_seconds: seconds(
    "Single timeout (s)",
    "The longest time that one probe may take",
    1,
    300,
    defaultProbeTiming.single_timeout_seconds,
  ),
  probe_interval_seconds: seconds(
    "Probe interval (s)",
    "From one probe to the next",
    1,
    3600,
    defaultProbeTiming.probe_interval_seconds,
  ),
  total_probe_duration_seconds: seconds(
    "Total probe duration (s)",
    "How long probing goes on after the initial delay. Automatic and engine checks take at least 10 s and one interval more",
    0,
    7200,
    defaultProbeTiming.total_probe_duration_seconds,
  ),
};

const strategyTitles = {
  auto: "Auto (recommended)",
  native: "Engine readiness",
  http: "Manual HTTP probe",
  tcp: "Manual TCP probe",
  release: "Helm release status",
  disabled: "Disabled",
};
const strategy = <K extends keyof typeof strategyTitles>(kind: K) =>
  v.pipe(v.literal(kind), v.title("Strategy"), v.metadata({ option_titles: strategyTitles }));

/** The health check of an update, as given and as stored. */
export const HealthCheck = v.variant("strategy", [
  v.strictObject({ strategy: strategy("auto"), ...judged }),
  v.strictObject({ strategy: strategy("native"), ...judged }),
  v.strictObject({ strategy: strategy("http"), probe: v.pipe(probes.http.Config, v.title("Probe")), ...judged }),
  v.strictObject({ strategy: strategy("tcp"), probe: v.pipe(probes.tcp.Config, v.title("Probe")), ...judged }),
  v.strictObject({ strategy: strategy("release"), ...judged }),
  v.strictObject({ strategy: strategy("disabled") }),
]);
export type HealthCheck = v.InferOutput<typeof HealthCheck>;

import { say } from "../../messages/message.ts";
import type { Artifact, ChartArtifact } from "../../runtimes/target.ts";
import { isDowngrade } from "../../versions/order.ts";
import { type ArtifactRules, serviceMissing } from "./artifact.ts";

function chartOf(artifact: Artifact): ChartArtifact {
  if (artifact.kind !== "chart") throw new Error(`"${artifact.reference}" is not a chart`);
  return artifact;
}

/** A chart keeps its name; its release is its version. */
export const chart: ArtifactRules = {
  names: async (_deps, _settings, _binding, found) => ({ label: chartOf(found.artifact).version, others: [] }),
  desired: async ({ releases }, { settings, binding, found, release: { tag: version, digest } }) => {
    const { service, tracker, source } = binding;
    if (found === null) return serviceMissing(settings, service);
    const { name } = chartOf(found.service.artifact);
    const watched = await releases.chartFor(binding.source_id);
    if (watched === null) return { code: "no_chart", message: say("executors.no_chart", { tracker, source }) };
    // Helm would put any chart in the place of another one.
    if (watched !== name) {
      const message = say("executors.other_chart", { target: settings.target.id, chart: name, tracker, watched });
      return { code: "no_chart", message };
    }
    const reference = `${name}-${version}`;
    return {
      label: version,
      reference,
      digest,
      change: async () => ({
        ...{ kind: "chart", service, reference, digest, name, version },
        archive: () => releases.readChart(binding.source_id, { version, digest }),
      }),
    };
  },
  compare: (found, { label, digest }) => {
    if (chartOf(found).version !== label) return "other_version";
    return found.digest !== null && digest !== null && found.digest !== digest ? "new_digest" : "current";
  },
  move: async (_deps, _binding, { service }, to) => {
    const { version } = chartOf(service.artifact);
    if (version === to) return "same";
    const isBack = isDowngrade(version, to);
    return isBack === null ? "unknown" : isBack ? "back" : "forward";
  },
};

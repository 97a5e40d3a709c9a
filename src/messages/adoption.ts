import type { Area } from "./types.ts";

/** Why a target, or one of its services, cannot be adopted. */
export const adoption = {
  local_image: ({ image }: { image: string }) => `"${image}" was built on this machine and comes from no registry`,
  digest_only: ({ image }: { image: string }) =>
    `"${image}" is referenced by digest alone, so its line is unknown; run it by tag once`,
  chart_unknown: ({ chart }: { chart: string }) =>
    `Helm does not record where the chart "${chart}" came from; add a tracker for its repository first`,
  chart_ambiguous: ({ chart, trackers }: { chart: string; trackers: readonly string[] }) =>
    `Several trackers follow a chart named "${chart}": ${trackers.join(", ")}; add the executor yourself`,
  nothing_to_follow: "None of its services can be followed",
  registry_over_http: ({ registry, image }: { registry: string; image: string }) =>
    `"${registry}" uses http, not https. Add a tracker for "${image}"; all images of this registry are then followed over http`,
  no_line: ({ service, line }: { service: string; line: string }) => `"${service}" cannot stay on "${line}"`,
  changed: "It changed after it was shown; review it again",
  gone: "It no longer runs here",
  none_chosen: "Select at least one target",
} satisfies Area;

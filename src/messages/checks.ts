import type { Area } from "./types.ts";

/** Checks of sources for new versions. */
export const checks = {
  internal: "The check failed because of an internal error; the log has the details",
  emptied: ({ known }: { known: number }) =>
    `Upstream no longer lists anything; the ${known} known ${known === 1 ? "release is" : "releases are"} kept`,
  took_too_long: ({ minutes }: { minutes: number }) => `The check took longer than ${minutes} minutes`,
} satisfies Area;

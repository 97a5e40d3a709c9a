import type { Area, Message } from "./types.ts";

type Judged = { name: string; cause: Message };

/** What is found of containers after their start: whether they serve, and what became of one that does not. */
export const readiness = {
  dependency_unhealthy: ({ name, needed, cause }: Judged & { needed: string }, tell) =>
    `"${name}" needs "${needed}" healthy, and it is not: ${tell(cause)}`,
  not_ready_beside: ({ name, cause }: Judged, tell) =>
    `The new "${name}" did not get ready beside the old one: ${tell(cause)}`,
  not_staying_ready: ({ name, cause }: Judged, tell) =>
    `The new "${name}" did not stay ready beside the old one: ${tell(cause)}`,
} satisfies Area;

import type { Area } from "./types.ts";

/** What others wrote: upstreams, engines, programs; and what was stored before sentences were data. */
export const text = {
  plain: ({ text }: { text: string }) => text,
} satisfies Area;

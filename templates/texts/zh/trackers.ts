import type { Texts } from "../en.ts";

export const trackers = {
  title: "追踪器",
  new_tracker: "新建追踪器",
} satisfies Texts["trackers"];

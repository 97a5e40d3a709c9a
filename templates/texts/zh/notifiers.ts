import type { Texts } from "../en.ts";

export const notifiers = {
  title: "通知",
  new_notifier: "新建通知",
} satisfies Texts["notifiers"];

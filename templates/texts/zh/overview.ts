import type { Texts } from "../en.ts";

export const overview = {
  needs_you: "需要处理",
  going_on: "正在进行",
  last_days: "最近 30 天",
  request_budgets: "请求配额",
} satisfies Texts["overview"];

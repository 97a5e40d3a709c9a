import type { Texts } from "../texts.ts";

export const timeline = {
  title: "版本历史",
  lead: "何时运行哪个版本，以及为何更改",
  from: "开始",
  until: "结束",
  now: "至今",
  cause: "原因",
  absent: "不存在",
  causes: {
    first_seen: "首次发现",
    run: "由运行更新",
    rolled_back: "由运行回滚",
    outside: "在 Tidemark 之外更改",
  },
  summary: (services: number, since: string) => `自 ${since} 以来 ${services} 个服务的版本；下方列表有各版本的起止时间`,
} satisfies Texts["timeline"];

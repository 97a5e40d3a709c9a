import type { Texts } from "../texts.ts";

export const timeline = {
  title: "版本历史",
  title_of_executors: "部署的版本",
  from: "时间",
  cause: "变更",
  bounded: (count) => `仅绘出最近变更的 ${count} 项`,
  now: "至今",
  absent: "不存在",
  causes: {
    first_seen: "首次发现",
    run: "由运行更新",
    rolled_back: "由运行回滚",
    outside: "在 Tidemark 之外更改",
  },
} satisfies Texts["timeline"];

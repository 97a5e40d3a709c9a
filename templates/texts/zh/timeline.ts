import type { Texts } from "../texts.ts";

export const timeline = {
  title: "版本历史",
  now: "至今",
  absent: "不存在",
  causes: {
    first_seen: "首次发现",
    run: "由运行更新",
    rolled_back: "由运行回滚",
    outside: "在 Tidemark 之外更改",
  },
} satisfies Texts["timeline"];

import type { Texts } from "../en.ts";

export const runs = {
  title: "运行记录",
} satisfies Texts["runs"];

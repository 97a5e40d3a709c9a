import type { Texts } from "../en.ts";

export const executors = {
  title: "执行器",
  new_executor: "新建执行器",
} satisfies Texts["executors"];

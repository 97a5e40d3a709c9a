import type { Texts } from "../en.ts";

export const settings = {
  title: "设置",
} satisfies Texts["settings"];
